import { showInvisible, showLines } from '@countersign/core/text'

/** Where a command's words go. */
export interface Out {
  write(text: string): boolean
}

/** Prints one line for the person at the terminal. Escape sequences and whatever else cannot be seen are spelled out: names come from outside. */
export const say = (line: string, out: Out = process.stdout): boolean => out.write(`${showInvisible(line)}\n`)

/** Tells on standard error what failed; of several lines each is kept. */
export const complain = (message: string): boolean => process.stderr.write(`countersign: ${showLines(message)}\n`)
