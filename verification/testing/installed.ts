import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { PUBLISHED } from '../../scripts/packages.ts'
import { type ApiClient, openApiClient } from './api-client.ts'
import { BOOTSTRAP_KEY } from './bootstrap-key.ts'
import { PROJECT } from './installed-project.ts'
import { MACHINE_PATH } from './machine-path.ts'
import { checkerAt } from './openapi.ts'
import { readAddress } from './read-address.ts'
import type { CommandResult } from './run-command.ts'
import { temporaryFolder } from './test-server.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A folder of somebody's, with our packages in it as npm installs them. */
export interface Installed extends Disposable {
  readonly folder: string
  /** Of each package: what its tarball holds. */
  readonly files: Readonly<Record<string, string[]>>
  /** Runs a program there, with the machine's own Node first on the path. */
  run(command: string, args: readonly string[]): Promise<CommandResult>
  /** Another folder, with nothing in it but a package.json. */
  emptyProject(name: string): EmptyProject
  /** Runs `npx countersign` there, with a Node that is new enough. Its input is no terminal. */
  countersign(...args: readonly string[]): Promise<CommandResult>
  /** Runs `npx countersign serve` in a folder there until it is disposed of. */
  serve(folder: string): Promise<InstalledServer>
}

/** A server that `npx` runs. */
export interface InstalledServer extends AsyncDisposable {
  readonly admin: ApiClient
}

export interface EmptyProject {
  readonly folder: string
  /** The paths of our tarballs, by the names of the packages' folders. */
  tarballs(names: readonly string[]): string[]
  /** Installs packages with the machine's npm. */
  install(packages: readonly string[]): Promise<void>
  run(command: string, args: readonly string[]): Promise<CommandResult>
}

/** The machine's path with a Node that is new enough in front. */
export const PATH_WITH_NODE = [dirname(process.execPath), MACHINE_PATH].join(delimiter)

/** Builds the packages, packs them and installs the tarballs, with React and the types a user has, into an empty folder. */
export async function installPackages(): Promise<Installed> {
  const temporary = temporaryFolder()
  try {
    const folder = join(temporary.path, 'project')
    const packs = join(temporary.path, 'packs')
    mkdirSync(folder)
    mkdirSync(packs)
    const run = (command: string, args: readonly string[]) => runIn(folder, command, args)
    requireDone(await runIn(ROOT, 'npm', ['run', '--silent', 'build']))
    const files: Record<string, string[]> = {}
    for (const name of PUBLISHED) {
      const packed = await runIn(join(ROOT, 'packages', name), 'npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', packs])
      files[name] = filesOf(requireDone(packed))
    }
    writeFileSync(join(folder, 'package.json'), '{ "name": "project", "private": true, "type": "module" }\n')
    for (const [name, source] of Object.entries(PROJECT)) writeFileSync(join(folder, name), source)
    const tarballs = readdirSync(packs).map((file) => join(packs, file))
    const emptyProject = (name: string) => makeProject(join(temporary.path, name), tarballs)
    const others = ['react@19', '@types/react@19', '@types/node@26', 'zod@4', 'typescript@7.0.2']
    requireDone(await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...tarballs, ...others]))
    const countersign = (...args: readonly string[]) =>
      runIn(folder, 'npx', ['--no-install', 'countersign', ...args], { ...process.env, PATH: PATH_WITH_NODE })
    return { folder, files, run, countersign, serve, emptyProject, [Symbol.dispose]: () => temporary[Symbol.dispose]() }
  } catch (error) {
    temporary[Symbol.dispose]()
    throw error
  }
}

function makeProject(folder: string, tarballs: readonly string[]): EmptyProject {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "name": "project", "private": true, "type": "module" }\n')
  return {
    folder,
    tarballs: (names) => names.map((name) => tarballOf(tarballs, name)),
    install: async (packages) => {
      requireDone(await runIn(folder, 'npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages]))
    },
    run: (command, args) => runIn(folder, command, args),
  }
}

/** @throws Error for the name of a folder that is not a published package. */
function tarballOf(tarballs: readonly string[], name: string): string {
  const start = name === 'server' ? 'countersign' : `countersign-${name}`
  const found = tarballs.find((path) => new RegExp(`^${start}-\\d`).test(basename(path)))
  if (found === undefined) throw new Error(`${name} is not a published package`)
  return found
}

async function serve(cwd: string): Promise<InstalledServer> {
  const env = { PATH: PATH_WITH_NODE, HOME: process.env.HOME, COUNTERSIGN_BOOTSTRAP_KEY: BOOTSTRAP_KEY }
  const args = ['--no-install', 'countersign', 'serve', '--port', '0', '--log-level', 'error', '--no-open']
  // A process group of its own: npx, its shell and the server end together.
  const child = spawn('npx', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const ended = once(child, 'close')
  const end = async () => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await ended
  }
  try {
    const url = await readAddress(child)
    const admin = openApiClient({ url, headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` }, checker: await checkerAt(url) })
    return { admin, [Symbol.asyncDispose]: end }
  } catch (error) {
    await end()
    throw error
  }
}

const MACHINE: NodeJS.ProcessEnv = { ...process.env, PATH: MACHINE_PATH }

async function runIn(cwd: string, command: string, args: readonly string[], env = MACHINE): Promise<CommandResult> {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await ended
  return { code, stdout, stderr }
}

function requireDone({ code, stdout, stderr }: CommandResult): string {
  if (code !== 0) throw new Error(`ended with ${code}\n${stdout}\n${stderr}`)
  return stdout
}

/** npm 11 answers a list, npm 12 an object by name. */
function filesOf(json: string): string[] {
  const answer: unknown = JSON.parse(json)
  const [pack] = Object.values(answer as Record<string, { files: { path: string }[] }>)
  return pack?.files.map(({ path }) => path) ?? []
}
