import type { Redactor, SourceLog } from '@countersign/toolkit'
import { plainLine } from './words.ts'

const MAX_LINE_CHARACTERS = 500
const MAX_LINES_A_MINUTE = 60
const MAX_LAST_WORDS = 5
const MINUTE_MS = 60_000

/**
 * Writes down what a program says on its error output: a few lines a minute, without our secrets. The rest is counted.
 * @param lastWords Is kept at the last lines, also of what is not written down.
 */
export function createStderrLog(
  server: string,
  redactor: Redactor,
  log: () => SourceLog | undefined,
  lastWords: string[] = [],
): (chunk: Buffer) => void {
  let line = ''
  let lines = 0
  let unsaid = 0
  let minuteEndsMs = 0
  const say = (text: string) => {
    const nowMs = performance.now()
    if (nowMs > minuteEndsMs) {
      if (unsaid > 0) log()?.warn({ server, lines: unsaid }, 'mcp.stderr_left_out')
      lines = 0
      unsaid = 0
      minuteEndsMs = nowMs + MINUTE_MS
    }
    const line = redactor.text(plainLine(text, MAX_LINE_CHARACTERS))
    lastWords.push(line)
    if (lastWords.length > MAX_LAST_WORDS) lastWords.shift()
    if (lines++ >= MAX_LINES_A_MINUTE) unsaid++
    else log()?.info({ server, text: line }, 'mcp.stderr')
  }
  return (chunk) => {
    const [first = '', ...more] = chunk.toString('utf8').split('\n')
    // A line without an end is not kept: what comes after its first characters is not said.
    line = (line + first).slice(0, MAX_LINE_CHARACTERS * 4)
    for (const next of more) {
      if (line.trim() !== '') say(line)
      line = next.slice(0, MAX_LINE_CHARACTERS * 4)
    }
  }
}
