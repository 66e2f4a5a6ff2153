import { showProse } from '@countersign/core/text'
import type { Environment } from '../../config/index.ts'
import { say } from '../say.ts'
import { type Style, styleFor } from './style.ts'

/** The words of a run as they come, below each other on standard output. */
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

export function openTranscript(environment: Environment): Transcript {
  const { stdout } = process
  const style = styleFor(stdout.isTTY, environment)
  let isInLine = false
  let streamed = ''
  const write = (text: string) => {
    stdout.write(showProse(text))
    if (text !== '') isInLine = !text.endsWith('\n')
  }
  const endLine = () => {
    if (isInLine) stdout.write('\n')
    isInLine = false
  }
  const line: Transcript['line'] = (text, mark) => {
    endLine()
    say(text, { write: (shown) => stdout.write(mark ? `${style[mark](shown.trimEnd())}\n` : shown) })
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
