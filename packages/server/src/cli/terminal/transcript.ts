import { showProse } from '@countersign/core/text'
import type { Environment } from '../../config/index.ts'
import { say } from '../say.ts'
import { type Style, styleFor } from './style.ts'
import { columnsOf, wrap } from './wrap.ts'

/** The words of a run as they come, below each other on standard output. At a terminal, those of an agent are marked. */
export interface Transcript {
  readonly style: Style
  /** Prints a line of its own. */
  line(text: string, style?: 'dim'): void
  /** Prints the next part of an answer. @param isNew The answer begins again. */
  stream(text: string, isNew: boolean): void
  /** Prints what is missing of an answer, which is whole now. */
  finish(answer: string): void
  endLine(): void
}

/** A tab takes at most so many. */
const TAB_COLUMNS = 8
const BAR_COLUMNS = 2

export function openTranscript(environment: Environment): Transcript {
  const { stdout } = process
  const style = styleFor(stdout.isTTY, environment)
  /** A bar before each line of an agent, so that none of them looks like a line of the program. A pipe gets the words alone. */
  const bar = stdout.isTTY ? `${style.dim('│')} ` : ''
  /** The columns that are taken of the line. */
  let used = 0
  let streamed = ''
  const write = (text: string) => {
    const most = bar === '' ? Number.POSITIVE_INFINITY : (stdout.columns || 80) - 1
    let shown = ''
    for (const char of showProse(text)) {
      const width = char === '\t' ? TAB_COLUMNS : columnsOf(char)
      const isFull = char !== '\n' && used > BAR_COLUMNS && used + width > most
      if (isFull) shown += '\n'
      if (isFull || used === 0) {
        shown += bar
        used = BAR_COLUMNS
      }
      shown += char
      used = char === '\n' ? 0 : used + width
    }
    stdout.write(shown)
  }
  const endLine = () => {
    if (used > 0) stdout.write('\n')
    used = 0
  }
  const line: Transcript['line'] = (text, mark) => {
    endLine()
    if (bar === '') return void say(text)
    for (const part of wrap(text, stdout.columns || 80)) stdout.write(`${mark ? style[mark](part) : part}\n`)
  }
  return {
    style,
    line,
    endLine,
    stream(text, isNew) {
      if (isNew) {
        endLine()
        streamed = ''
      }
      streamed += text
      write(text)
    },
    finish(answer) {
      if (answer.startsWith(streamed)) write(answer.slice(streamed.length))
      else {
        endLine()
        write(answer)
      }
      endLine()
      streamed = ''
    },
  }
}
