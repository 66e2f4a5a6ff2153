/** A line of a diff: where it is in the file as it was, and in the file as it would be. */
export interface DiffLine {
  /** Undefined for a line that is added. */
  left: number | undefined
  /** Undefined for a line that is removed. */
  right: number | undefined
  /** With its sign: ` `, `+` or `-`. */
  text: string
}

export type Side = 'LEFT' | 'RIGHT'

const HEADER = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/**
 * The lines of a patch as GitHub answers it, by hunks.
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
    // `\ No newline at end of file` is about the line above it.
    else if (!text.startsWith('\\')) hunks.at(-1)?.push({ left: left++, right: right++, text })
  }
  return hunks
}

/** Lines of one side of a diff, both ends included. */
export interface LineRange {
  side: Side
  startLine: number
  line: number
}

/** People read what stands above a line to know where they are. */
const LINES_ABOVE = 3
/** Of more lines the first and the last half are shown. */
const MAX_LINES = 20
/** A longer list is no table on the card any more: then it goes without what stands above. */
const MAX_CHARACTERS = 600

/** A line as a card shows it: its number on the side that is meant, with `>` before those that the comment is about, or on the other side. */
export type ShownLine = {
  line: string
  diff: string
}

/**
 * The lines of a diff that a comment would stand at, with a few above them. Undefined where the diff does not have them, or not in one hunk:
 * GitHub takes no comment there.
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

/** The last lines of a piece of a diff that ends at what a comment is about, as GitHub keeps it with the comment. */
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
