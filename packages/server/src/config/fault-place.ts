import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

// Node gives a path or an address, by the kind of the module.
const FILE = String.raw`(file:\/\/[^<]+|\/[^<]+|[A-Za-z]:[\\/][^<]+)`
/** The first line of the stack, where a module could not be parsed. */
const UNPARSED = new RegExp(`^${FILE}:(\\d+)$`)
const CALL = new RegExp(`^ +at (?:.*[( ])?${FILE}:(\\d+):\\d+\\)?$`)
/** The call that fails without a place for what only the compiler refuses, such as a name that is declared twice. */
const COMPILE = /^ +at compileSourceTextModule \(node:/m

/**
 * Returns where the fault is that ended an import, as the end of a sentence: `, at tools/bank.ts:5`. Node has it in the stack alone, and the
 * configuration may be right where a file that it imports is wrong.
 * @param lastLoaded The address of the module that was loaded last: they are compiled as they are loaded.
 */
export function placeOfFault(error: unknown, configFile: string, lastLoaded: string | undefined): string {
  if (!(error instanceof Error) || error.stack === undefined) return ''
  const nameOf = (found: string) => relative(dirname(configFile), found.startsWith('file:') ? fileURLToPath(found) : found)
  for (const [index, line] of error.stack.split('\n').entries()) {
    const [, found, number] = (index === 0 && UNPARSED.exec(line)) || CALL.exec(line) || []
    if (found !== undefined && !found.includes('/node_modules/')) return `, at ${nameOf(found)}:${number}`
  }
  return lastLoaded !== undefined && COMPILE.test(error.stack) ? `, in ${nameOf(lastLoaded)}` : ''
}
