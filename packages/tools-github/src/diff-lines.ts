/** A line of a diff, with its number in the old file and in the new file. */
export interface DiffLine {
  /** Undefined for an added line. */
  left: number | undefined
  /** Undefined for a removed line. */
  right: number | undefined
  /** With its sign: ` `, `+` or `-`. */
  text: string
}

export type Side = 'LEFT' | 'RIGHT'

const HEADER = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/**
 * Returns the lines of a patch from GitHub, by hunk.
 * @example
 * hunksOf('@@ -1 +1,2 @@\n one\n+two') // [[{ left: 1, right: 1, text: ' one' }, { left: undefined, right: 2, text: '+two' }]]
 */
function hunksOf(patch: string): DiffLine[][] {
  const hunks: DiffLine[][] = []
  let [left, right] = [0, 0]
  for (const text of patch.split('\n')) {
    const header = HEADER.exec(text)
    if (header) {
      ;[left, right] = [Number(header[1]), Number(header[2])]
      hunks.push([])
    } else if (text.startsWith('+')) hunks.at(-1)?.push({ left: undefined, right: right++, text })
    else if (text.startsWith('-')) hunks.at(-1)?.push({ left: left++, right: undefined, text })
    // `\ No newline at end of file` belongs to the line above it.
    else if (!text.startsWith('\\')) hunks.at(-1)?.push({ left: left++, right: right++, text })
  }
  return hunks
}

/** A range of lines on one side of a diff, both ends included. */
export interface LineRange {
  side: Side
  startLine: number
  line: number
}

/** The number of lines shown above the range as context. */
const LINES_ABOVE = 3
/** The maximum number of lines. Of a longer range the first and last half are shown. */
const MAX_LINES = 20
/** The maximum length of a list that the card shows as a table. Context lines are dropped from a longer list. */
const MAX_CHARACTERS = 600

/**
 * A line as shown on the card. Its number is on the comment's side, with `>` before commented lines; a line of the other side is marked
 * `old` or `new`.
 */
export type ShownLine = {
  line: string
  diff: string
}

/**
 * Returns the lines of a diff that a comment is for, with a few above them as context. Undefined when the diff does not have them in one
 * hunk, because GitHub accepts no comment there.
 * @example
 * excerptOf('@@ -1 +1 @@\n-one\n+two', { side: 'RIGHT', startLine: 1, line: 1 }) // [{ line: 'old 1', diff: '-one' }, { line: '> 1', diff: '+two' }]
 */
export function excerptOf(patch: string, { side, startLine, line }: LineRange): ShownLine[] | undefined {
  const numberOf = (one: DiffLine) => (side === 'LEFT' ? one.left : one.right)
  for (const hunk of hunksOf(patch)) {
    const first = hunk.findIndex((one) => numberOf(one) === startLine)
    const last = hunk.findIndex((one) => numberOf(one) === line)
    if (first < 0 || last < 0) continue
    return shortened(hunk.slice(Math.max(0, first - LINES_ABOVE), last + 1).map((one) => shownAs(one, side, startLine)))
  }
  return undefined
}

function shownAs(one: DiffLine, side: Side, startLine: number): ShownLine {
  const number = side === 'LEFT' ? one.left : one.right
  if (number === undefined) return { line: side === 'LEFT' ? `new ${one.right}` : `old ${one.left}`, diff: one.text }
  return { line: `${number >= startLine ? '> ' : ''}${number}`, diff: one.text }
}

/** Returns the last lines of the diff hunk that GitHub stores with a comment. The hunk ends at the line of the comment. */
export const endOf = (hunk: string): ShownLine[] =>
  shortened(
    (hunksOf(hunk).at(-1) ?? []).slice(-LINES_ABOVE - 1).map((one) => shownAs(one, one.right === undefined ? 'LEFT' : 'RIGHT', Infinity)),
  )

function shortened(all: ShownLine[]): ShownLine[] {
  const lines = all.slice(0)
  while (JSON.stringify(lines).length > MAX_CHARACTERS && lines[0]?.line.startsWith('> ') === false) lines.shift()
  if (lines.length <= MAX_LINES) return lines
  const leftOut = { line: '…', diff: `${lines.length - MAX_LINES} more lines` }
  return [...lines.slice(0, MAX_LINES / 2), leftOut, ...lines.slice(-MAX_LINES / 2)]
}
