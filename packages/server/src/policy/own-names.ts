import { CONDITION_FUNCTIONS, type ConditionFunction } from './functions.ts'

/** Begins the names of functions of our own, which a condition cannot name. The library does not let its functions be replaced. */
export const OWN = 'cs_'
const REPLACED: ReadonlySet<string> = new Set([
  ...['lowerAscii', 'upperAscii'],
  ...Object.entries<ConditionFunction>(CONDITION_FUNCTIONS).flatMap(([name, { on }]) => (on === 'time' ? [name] : [])),
])

/** Returns the name under which a function is called: its own, or that of the function in its place. */
export const calledName = (name: string): string => (REPLACED.has(name) ? OWN + name : name)

/** Returns the words of an error with the names of functions as a condition has them. */
export const withWrittenNames = (words: string): string => words.replaceAll(`.${OWN}`, '.')
