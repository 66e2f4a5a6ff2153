import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Database } from '../../packages/server/src/store/index.ts'
import { COMPILE_CACHE } from './compile-cache.ts'

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))

export interface CommandResult {
  /** Null when it was killed. */
  code: number | null
  stdout: string
  stderr: string
}

/** Runs `countersign` with these arguments in a process of its own. */
export const runCommandLine = (args: readonly string[], environment: Record<string, string> = {}): Promise<CommandResult> =>
  runModule([MAIN, ...args], environment)

/** Starts `countersign` with these arguments, for a test that ends it. @param stdout Where its output goes instead of into the result. */
export const spawnCommandLine = (args: readonly string[], environment: Record<string, string> = {}, stdout?: number) =>
  spawnModule([MAIN, ...args], environment, stdout)

/** Runs a module of ours in a process of its own. @param args Of Node: the module with its arguments, and what stands before it. */
export const runModule = (args: readonly string[], environment: Record<string, string> = {}): Promise<CommandResult> =>
  spawnModule(args, environment).ended

function spawnModule(
  args: readonly string[],
  environment: Record<string, string>,
  output: number | 'pipe' = 'pipe',
): { child: ChildProcess; ended: Promise<CommandResult> } {
  const child = spawn(process.execPath, ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', ...args], {
    env: { ...COMPILE_CACHE, ...environment },
    stdio: ['ignore', output, 'pipe'],
  })
  const textOf = (stream: Readable | null) => (stream ? text(stream) : '')
  const closed = once(child, 'close')
  const read = async (): Promise<CommandResult> => {
    const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)])
    const [code] = await closed
    return { code, stdout, stderr }
  }
  return { child, ended: read() }
}

/** The flags that say where the data of a command is. */
export const databaseFlags = (database: Database, dataDir: string): string[] =>
  database.kind === 'postgres' ? ['--data', dataDir, '--database-url', database.url] : ['--data', dataDir]
