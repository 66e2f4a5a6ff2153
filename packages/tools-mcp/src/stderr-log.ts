import type { Redactor, SourceLog } from '@countersign/toolkit'
import { plainLine } from './words.ts'

const MAX_LINE_CHARACTERS = 500
const MAX_LINES_A_MINUTE = 60
const MAX_LAST_WORDS = 5
const MINUTE_MS = 60_000

/**
 * Logs a program's standard error: a few lines a minute, with secrets redacted. Further lines are counted.
 * @param lastWords Updated with the last lines, including lines that are not logged.
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
    // A secret that was cut would not be recognised.
    const line = plainLine(redactor.text(text), MAX_LINE_CHARACTERS)
    lastWords.push(line)
    if (lastWords.length > MAX_LAST_WORDS) lastWords.shift()
    if (lines++ >= MAX_LINES_A_MINUTE) unsaid++
    else log()?.info({ server, text: line }, 'mcp.stderr')
  }
  return (chunk) => {
    const [first = '', ...more] = chunk.toString('utf8').split('\n')
    // Only the first characters of a line without an end are kept.
    line = (line + first).slice(0, MAX_LINE_CHARACTERS * 4)
    for (const next of more) {
      if (line.trim() !== '') say(line)
      line = next.slice(0, MAX_LINE_CHARACTERS * 4)
    }
  }
}
