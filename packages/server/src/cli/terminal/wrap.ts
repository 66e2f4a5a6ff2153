import { showInvisible } from '@countersign/core/text'

/** Characters that a terminal shows two columns wide. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u

/**
 * Breaks a text into lines of at most so many columns, after a space where there is one late in the line; nothing is left out. Control and
 * invisible characters are spelled out, so no text can move the cursor.
 */
export const wrap = (text: string, columns: number): string[] => text.split('\n').flatMap((line) => wrapLine(showInvisible(line), columns))

function wrapLine(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  let used = 0
  for (const char of text) {
    const width = WIDE.test(char) ? 2 : 1
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

const columnsOf = (text: string): number => [...text].reduce((sum, char) => sum + (WIDE.test(char) ? 2 : 1), 0)
