import type { Environment } from '@marcbachmann/cel-js'
import { OWN } from './own-names.ts'

/**
 * Adds `lowerAscii` and `upperAscii` as CEL defines them, under names of our own. Those of the library change every letter, so that the
 * Kelvin sign becomes a k, and ß becomes SS: a rule that allows `US` would allow a text that every other program takes for another one.
 */
export const addAsciiCase = (environment: Environment): Environment =>
  environment
    .registerFunction(`string.${OWN}lowerAscii(): string`, (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()))
    .registerFunction(`string.${OWN}upperAscii(): string`, (text: string) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase()))
