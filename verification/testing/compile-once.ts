import { existsSync } from 'node:fs'
import { COMPILE_CACHE } from './compile-cache.ts'
import { runCommandLine } from './run-command.ts'

/** While the first tests of a checkout run, the server's modules are compiled for every process that later ones start and kill. */
export default function compileOnce(): () => Promise<void> {
  const compiled = existsSync(COMPILE_CACHE.NODE_COMPILE_CACHE) ? undefined : runCommandLine(['--help'])
  return async () => void (await compiled)
}
