import { showInvisible } from '@countersign/core/text'

/**
 * Characters that a terminal may show two columns wide: all from the first wide one on, except the letters and punctuation among them that never
 * are. One that counts too much breaks a line early. One that counts too little would push the end of the line off the screen, where nobody
 * sees it.
 */
const WIDE = /[\u1100-\u1dff\u2190-\u{10ffff}]/u

/** Lines that are not the first of ours begin with this, so no text from outside looks like a line of the program. */
const INDENT = '  '

/**
 * Breaks a text into lines of at most so many columns, after a space where there is one late in the line; nothing is left out. Control and
 * invisible characters are spelled out, line feeds too, so no text can move the cursor. All lines but the first are indented.
 */
export function wrap(text: string, columns: number): string[] {
  const [first = '', ...rest] = wrapLine(showInvisible(text), columns - INDENT.length)
  return [first, ...rest.map((line) => INDENT + line)]
}

/** The same for text of several lines: all of it is indented. */
export const wrapBlock = (text: string, columns: number): string[] =>
  text.split('\n').flatMap((line) => wrapLine(showInvisible(line), columns - INDENT.length).map((part) => INDENT + part))

function wrapLine(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  let used = 0
  for (const char of text) {
    const width = columnsOf(char)
    if (used + width > columns) {
      const space = line.lastIndexOf(' ') + 1
      const end = space > columns / 2 ? space : line.length
      lines.push(line.slice(0, end))
      line = line.slice(end)
      used = columnsOf(line)
    }
    line += char
    used += width
  }
  return [...lines, line]
}

/** How many columns a terminal may take for a text. */
export const columnsOf = (text: string): number => [...text].reduce((sum, char) => sum + (WIDE.test(char) ? 2 : 1), 0)
