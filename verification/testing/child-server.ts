import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type ApiClient, openApiClient } from './api-client.ts'
import { BOOTSTRAP_KEY } from './bootstrap-key.ts'
import { COMPILE_CACHE } from './compile-cache.ts'
import { killWithParent } from './kill-with-parent.ts'
import { checkerAt } from './openapi.ts'
import { readAddress } from './read-address.ts'

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))

/** A server in a process of its own, as people start it. */
export interface ChildServer extends AsyncDisposable {
  readonly admin: ApiClient
  /** Where it listens. */
  readonly url: string
  readonly pid: number
  /** Asks it to stop, and waits until it is gone. */
  stop(): Promise<void>
  /** Ends it with SIGKILL and waits until it is gone. */
  kill(): Promise<void>
}

export interface ChildServerOptions {
  configFile: string
  dataDir: string
  /** With DATABASE_URL it uses that database instead of one in `dataDir`. */
  environment?: Record<string, string>
  /** Put before the server's own module, for example `--import` of what shall be there first. */
  nodeArgs?: readonly string[]
  /** The installed program to run in place of this checkout's source. */
  program?: string
}

/** A process on its way to become a server. */
export interface SpawnedServer {
  /** Has a message channel to whatever `nodeArgs` loaded. */
  readonly child: ChildProcess
  /** Where it listens; rejects with what it wrote when it ends before that. */
  readonly url: Promise<string>
  /** Resolves when it is gone, however it ended. */
  readonly ended: Promise<unknown>
}

/** Starts `countersign serve`. */
export function spawnServer({ configFile, dataDir, environment = {}, nodeArgs = [], program }: ChildServerOptions): SpawnedServer {
  const conditions = program === undefined ? ['--conditions=countersign-source'] : []
  const child = spawn(
    process.execPath,
    [
      ...[...conditions, '--disable-warning=ExperimentalWarning', ...nodeArgs, program ?? MAIN],
      ...['serve', '--config', configFile, '--data', dataDir, '--port', '0', '--log-level', 'error', '--no-open'],
    ],
    { env: { ...COMPILE_CACHE, ...environment, COUNTERSIGN_BOOTSTRAP_KEY: BOOTSTRAP_KEY }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
  )
  killWithParent(child)
  return { child, url: readAddress(child), ended: once(child, 'exit') }
}

/**
 * Starts `countersign serve` and waits until it says where it listens.
 * @throws Error with what it wrote when it ends before that.
 */
export async function startChildServer(options: ChildServerOptions): Promise<ChildServer> {
  const { child, url: address, ended } = spawnServer(options)
  try {
    const url = await address
    const admin = openApiClient({ url, headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` }, checker: await checkerAt(url) })
    const end = (signal: 'SIGTERM' | 'SIGKILL') => async () => {
      child.kill(signal)
      await ended
    }
    const kill = end('SIGKILL')
    return { admin, url, pid: child.pid ?? 0, stop: end('SIGTERM'), kill, [Symbol.asyncDispose]: kill }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}
