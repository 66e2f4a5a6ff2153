import { showInvisible, showLines } from '@countersign/core/text'

/** The output of a command. */
export interface Out {
  write(text: string): boolean
}

/** Prints one line for the person at the terminal. Escapes control and invisible characters, because names come from outside. */
export const say = (line: string, out: Out = process.stdout): boolean => out.write(`${showInvisible(line)}\n`)

/** Prints an error on standard error, with all its lines. */
export const complain = (message: string): boolean => process.stderr.write(`countersign: ${showLines(message)}\n`)

/** JSON leaves these as they are, and some terminals obey U+009B like escape. */
const UNSEEN = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu

/** JSON that cannot control a terminal: characters that are not seen are escaped, and the value stays the same. */
export const safeJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(UNSEEN, (char) =>
    Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )

/** Prints one JSON object as a line, for a program: the same at a terminal and in a pipe. */
export const sayJson = (value: object, out: Out = process.stdout): boolean => out.write(`${safeJson(value)}\n`)
