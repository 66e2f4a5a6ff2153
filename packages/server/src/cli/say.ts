import { showInvisible, showLines } from '@countersign/core/text'

/** The output of a command. */
export interface Out {
  write(text: string): boolean
}

/** Prints one line for the person at the terminal. Escapes control and invisible characters, because names come from outside. */
export const say = (line: string, out: Out = process.stdout): boolean => out.write(`${showInvisible(line)}\n`)

/** Prints an error on standard error, with all its lines. */
export const complain = (message: string): boolean => process.stderr.write(`countersign: ${showLines(message)}\n`)
