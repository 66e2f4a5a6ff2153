import { spawn } from 'node:child_process'
import { once } from 'node:events'
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

/** Runs a module of ours in a process of its own. @param args Of Node: the module with its arguments, and what stands before it. */
export async function runModule(args: readonly string[], environment: Record<string, string> = {}): Promise<CommandResult> {
  const child = spawn(process.execPath, ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', ...args], {
    env: { ...COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await ended
  return { code, stdout, stderr }
}

/** The flags that say where the data of a command is. */
export const databaseFlags = (database: Database, dataDir: string): string[] =>
  database.kind === 'postgres' ? ['--data', dataDir, '--database-url', database.url] : ['--data', dataDir]
