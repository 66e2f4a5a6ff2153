import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, isAbsolute, join, normalize } from 'node:path'
import { contextFiles, type ImagePlan, type Stage, type Step } from './dockerfile.ts'
import { MACHINE_PATH } from './machine-path.ts'

/** Why the steps of a Dockerfile cannot be run here; undefined when they can. */
export const whyNoImage: string | undefined = whyNot()

function whyNot(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can change the root folder'
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'mount namespaces are not allowed here'
  }
}

/** The file system after the last stage of a Dockerfile. Disposing of it removes it. */
export interface Image extends Disposable {
  /** Its root folder. */
  readonly root: string
  /** Starts a command in it as its user, without capabilities, with everything read-only but its volumes and /tmp. */
  start(command: readonly string[], options?: ImageRunOptions): ChildProcess
}

export interface ImageRunOptions {
  environment?: Readonly<Record<string, string>>
  /** Folders of this machine by their place in the image, where they are read-only. */
  mounts?: Readonly<Record<string, string>>
}

const PATH = '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Runs every step of a Dockerfile, each stage in a root folder of its own. The base image is this machine's /usr and /etc, with the Node of
 * this process in /usr/local. Needs root: {@link whyNoImage}.
 */
export function buildImage(plan: ImagePlan, context: string): Image {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-image-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    // Other users pass through it.
    execFileSync('chmod', ['755', folder])
    const stages = new Map<string, BuiltStage>()
    for (const stage of plan.stages) stages.set(stage.name, buildStage(stage, join(folder, stage.name), { context, stages }))
    const final = stages.get(plan.stages.at(-1)?.name ?? '')
    if (!final) throw new Error('the Dockerfile has no stage')
    return { root: final.root, start: (command, options = {}) => start(plan, final, command, options), [Symbol.dispose]: remove }
  } catch (error) {
    remove()
    throw error
  }
}

interface BuiltStage {
  root: string
  /** Its /usr/local. */
  local: string
  environment: Record<string, string>
  workdir: string
  user: { uid: number; gid: number }
}

interface Surroundings {
  context: string
  stages: ReadonlyMap<string, BuiltStage>
}

function buildStage(stage: Stage, place: string, surroundings: Surroundings): BuiltStage {
  const [root, local] = [join(place, 'root'), join(place, 'local')]
  for (const path of ['tmp', 'usr', 'etc', 'proc', 'dev', 'root']) mkdirSync(join(root, path), { recursive: true })
  for (const path of ['bin', 'lib', 'lib64', 'sbin']) execFileSync('ln', ['-s', `usr/${path}`, join(root, path)])
  mkdirSync(join(local, 'bin'), { recursive: true })
  cpSync(process.execPath, join(local, 'bin', 'node'), { dereference: true })
  const built: BuiltStage = { root, local, environment: {}, workdir: '/', user: { uid: 0, gid: 0 } }
  for (const step of stage.steps) carryOut(step, built, surroundings)
  return built
}

// In a mount namespace of its own, so that nothing is left of it afterwards.
const ENTER = `set -e
root=$1; own=$2; shift 2
mount --bind "$root" "$root"
for folder in usr etc proc dev; do mount --rbind "/$folder" "$root/$folder"; done
mount --bind "$own" "$root/usr/local"
mount -t tmpfs tmpfs "$root/tmp"
`

const enter = ({ root, local }: BuiltStage, script: string): string[] => ['--mount', 'sh', '-c', ENTER + script, 'sh', root, local]

function carryOut(step: Step, built: BuiltStage, surroundings: Surroundings): void {
  if (step.do === 'env') built.environment[step.name] = step.value
  else if (step.do === 'user') built.user = { uid: step.uid, gid: step.gid }
  else if (step.do === 'copy') copy(step, built, surroundings)
  else if (step.do === 'workdir') {
    built.workdir = step.path
    mkdirSync(join(built.root, step.path), { recursive: true })
  } else {
    const env = { ...registryAccess(), PATH, HOME: '/root', ...built.environment, WORKDIR: built.workdir, COMMAND: step.command }
    const script = `exec chroot "$root" /bin/sh -c 'cd "$WORKDIR" && eval "$COMMAND"'`
    execFileSync('unshare', enter(built, script), { env, stdio: ['ignore', 'ignore', 'pipe'], maxBuffer: 50_000_000 })
  }
}

function copy(step: Extract<Step, { do: 'copy' }>, built: BuiltStage, { context, stages }: Surroundings): void {
  const { fromStage, sources, target } = step
  const to = join(built.root, isAbsolute(target) ? target : join(built.workdir, target))
  for (const source of sources.map((path) => normalize(path).replace(/^\/|\/$/g, ''))) {
    if (fromStage === undefined) copyFromContext(context, source, target.endsWith('/') ? `${to}/` : to)
    else {
      const from = stages.get(fromStage)?.root
      if (from === undefined) throw new Error(`COPY: there is no stage ${fromStage}`)
      cpSync(join(from, source), placeOf(join(from, source), to, target), { recursive: true, verbatimSymlinks: true })
    }
  }
}

/** A file that is copied into a folder keeps its name; of a folder the content is copied. */
const placeOf = (from: string, to: string, target: string): string =>
  target.endsWith('/') && !statSync(from).isDirectory() ? join(to, basename(from)) : to

function copyFromContext(context: string, source: string, to: string): void {
  const wanted = contextFiles(context).filter((file) => source === '.' || file === source || file.startsWith(`${source}/`))
  if (wanted.length === 0) throw new Error(`COPY: .dockerignore leaves out ${source}, or it is not there`)
  for (const file of wanted) {
    const within = source === '.' ? file : file.slice(source.length + 1)
    const place = file === source ? placeOf(join(context, file), to, to) : join(to, within)
    mkdirSync(dirname(place), { recursive: true })
    cpSync(join(context, file), place)
  }
}

function start(plan: ImagePlan, built: BuiltStage, command: readonly string[], { environment = {}, mounts = {} }: ImageRunOptions) {
  const { root, user, workdir } = built
  for (const place of Object.keys(mounts)) mkdirSync(join(root, place), { recursive: true })
  const script = [
    ...plan.volumes.map((path) => `mount --bind "$root${path}" "$root${path}"`),
    ...Object.entries(mounts).map(([place, from]) => `mount --bind '${from}' "$root${place}"; mount -o remount,bind,ro "$root${place}"`),
    'mount -o remount,bind,ro "$root/usr/local"; mount -o remount,bind,ro "$root"',
    `user="--reuid=${user.uid} --regid=${user.gid} --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs"`,
    `exec chroot "$root" setpriv $user /bin/sh -c 'cd "$WORKDIR" && exec "$@"' sh "$@"`,
  ].join('\n')
  return spawn('unshare', [...enter(built, script), ...command], {
    env: { PATH, HOME: '/tmp', ...built.environment, WORKDIR: workdir, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

const NPM_SETTINGS = ['registry', 'cafile', 'https-proxy', 'noproxy', 'strict-ssl']

/** The settings of this machine with which npm reaches its registry: variables, and the settings of its npmrc files, which the image does not have. */
function registryAccess(): Record<string, string> {
  const names = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy']
  const variables = names.map((name) => [name, process.env[name] ?? ''])
  const env = { ...process.env, PATH: MACHINE_PATH }
  const settings = JSON.parse(
    execFileSync('npm', ['config', 'list', '--json'], { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] }),
  )
  const ofNpm = NPM_SETTINGS.map((name) => [`npm_config_${name.replaceAll('-', '_')}`, String(settings[name] ?? '')])
  return Object.fromEntries([...variables, ...ofNpm].filter(([, value]) => value !== ''))
}
