import type { Environment } from '@marcbachmann/cel-js'

/** Begins the names of functions of our own, which a condition cannot name. */
const OWN = 'cs_'
const REPLACED: ReadonlySet<string> = new Set(['lowerAscii', 'upperAscii'])

/**
 * Adds `lowerAscii` and `upperAscii` as CEL defines them, under names of our own: the library does not let its functions be replaced. Its
 * own change every letter, so that the Kelvin sign becomes a k, and ß becomes SS: a rule that allows `US` would allow a text that every
 * other program takes for another one.
 */
export const addAsciiCase = (environment: Environment): Environment =>
  environment
    .registerFunction(`string.${OWN}lowerAscii(): string`, (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()))
    .registerFunction(`string.${OWN}upperAscii(): string`, (text: string) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase()))

/** Returns the name under which a function is called: its own, or that of the function in its place. */
export const calledName = (name: string): string => (REPLACED.has(name) ? OWN + name : name)

/** Returns the words of an error with the names of functions as a condition has them. */
export const withWrittenNames = (words: string): string => words.replaceAll(`.${OWN}`, '.')
