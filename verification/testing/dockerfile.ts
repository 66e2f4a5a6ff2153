import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Copy, DockerfileParser, type From, type Instruction } from 'dockerfile-ast'

/** One instruction of a stage, as far as our Dockerfile uses it. */
export type Step =
  | { do: 'copy'; fromStage: string | undefined; sources: string[]; target: string }
  | { do: 'run'; command: string }
  | { do: 'workdir'; path: string }
  | { do: 'env'; name: string; value: string }
  | { do: 'user'; uid: number; gid: number }

export interface Stage {
  /** Its name, or its number as text. */
  name: string
  image: string
  steps: Step[]
}

/** A parsed Dockerfile: its stages, and the command that starts the last one. */
export interface ImagePlan {
  stages: Stage[]
  entrypoint: string[]
  command: string[]
  health: string[]
  volumes: string[]
  stopSignal: string | undefined
}

/** Reads a Dockerfile. @throws Error for an instruction that nothing here carries out, so that none is left out in silence. */
export function readDockerfile(text: string): ImagePlan {
  const plan: ImagePlan = { stages: [], entrypoint: [], command: [], health: [], volumes: [], stopSignal: undefined }
  const variables = new Map<string, string>()
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const keyword = instruction.getKeyword()
    const rest = instruction.getRawArgumentsContent() ?? ''
    if (keyword === 'ARG') {
      const [name = '', value = ''] = rest.split('=')
      variables.set(name, value)
    } else if (keyword === 'FROM') {
      const from = instruction as From
      const image = (from.getImage() ?? '').replace(/\$\{(\w+)\}/g, (_, name: string) => variables.get(name) ?? '')
      plan.stages.push({ name: from.getBuildStage() ?? String(plan.stages.length), image, steps: [] })
    } else if (keyword === 'ENTRYPOINT') plan.entrypoint = JSON.parse(rest)
    else if (keyword === 'CMD') plan.command = JSON.parse(rest)
    else if (keyword === 'HEALTHCHECK') plan.health = JSON.parse(rest.slice(rest.indexOf('[')))
    else if (keyword === 'VOLUME') plan.volumes.push(rest)
    else if (keyword === 'STOPSIGNAL') plan.stopSignal = rest
    else if (keyword !== 'EXPOSE') plan.stages.at(-1)?.steps.push(stepOf(instruction, keyword, rest))
  }
  return plan
}

function stepOf(instruction: Instruction, keyword: string, rest: string): Step {
  if (keyword === 'RUN') return { do: 'run', command: rest }
  if (keyword === 'WORKDIR') return { do: 'workdir', path: rest }
  if (keyword === 'ENV') {
    const [name = '', value = ''] = rest.split('=')
    return { do: 'env', name, value }
  }
  if (keyword === 'USER') {
    const [, uid, gid] = /^(\d+):(\d+)$/.exec(rest) ?? []
    if (uid === undefined) throw new Error(`USER ${rest}: a number for user and group is needed, so that Kubernetes can check it`)
    return { do: 'user', uid: Number(uid), gid: Number(gid) }
  }
  if (keyword !== 'COPY') throw new Error(`nothing here carries out ${keyword}`)
  const copy = instruction as Copy
  const paths = copy.getArguments().map((argument) => argument.getValue())
  const fromStage =
    copy
      .getFlags()
      .find((flag) => flag.getName() === 'from')
      ?.getValue() ?? undefined
  return { do: 'copy', fromStage, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' }
}

/** The files of a folder that `.dockerignore` there lets into a build, by path. As Docker has it, the last pattern that matches counts. */
export function contextFiles(folder: string): string[] {
  const patterns = readFileSync(join(folder, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => ({ lets: line.startsWith('!'), fits: matcherOf(line.replace(/^!/, '')) }))
  const isLet = (path: string): boolean => {
    const parents = path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))
    return patterns.findLast(({ fits }) => parents.some((parent) => fits.test(parent)))?.lets ?? true
  }
  const visit = (at: string): string[] =>
    readdirSync(at, { withFileTypes: true }).flatMap((entry) => {
      const path = join(at, entry.name)
      if (entry.isDirectory()) return ['.git', 'node_modules'].includes(entry.name) ? [] : visit(path)
      const name = relative(folder, path)
      return isLet(name) ? [name] : []
    })
  return visit(folder)
}

/** As Docker matches: `*` also matches names that begin with a dot. */
function matcherOf(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*\/|\*\*|\*)/).map((part) => WILDCARDS[part] ?? part.replace(/[.+^${}()|[\]\\?]/g, '\\$&'))
  return new RegExp(`^${parts.join('')}$`)
}

const WILDCARDS: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*' }
