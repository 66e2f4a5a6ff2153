import type { PreviewField } from '@countersign/core'
import { linesWithEnds } from '@countersign/toolkit/internal'

/** Lines that are replaced. A line has its end, if it has one. */
interface Hunk {
  /** Index of the first old line. */
  at: number
  old: string[]
  now: string[]
}

/** A change of a text, as one field of a card shows it: as a unified diff, or as both texts. */
interface TextChange {
  /** The lines of a diff before its hunks: file names and modes. Undefined for a change that is shown as both texts. */
  head: string | undefined
  hunks: Hunk[]
  /** The number of old lines, where all of them are known. */
  length?: number
}

/** Returns the change of a text that a field shows; undefined for any other field. */
export function readChange({ diff, oldValue, newValue }: PreviewField): TextChange | undefined {
  if (diff !== undefined) return oldValue === undefined && newValue === undefined ? readDiff(diff) : undefined
  if (typeof oldValue !== 'string' || typeof newValue !== 'string') return undefined
  const old = linesWithEnds(oldValue)
  return { head: undefined, hunks: [{ at: 0, old, now: linesWithEnds(newValue) }], length: old.length }
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/

/** Returns the hunks of the unified diff of one text; undefined for anything else. */
function readDiff(diff: string): TextChange | undefined {
  const lines = linesWithEnds(diff)
  const isHunk = (line: string) => HUNK.test(line)
  const first = lines.findIndex(isHunk)
  const head = (first < 0 ? lines : lines.slice(0, first)).join('')
  const hunks: Hunk[] = []
  let end = 0
  for (let next = first < 0 ? lines.length : first; next < lines.length; ) {
    const [, start, oldCount = '1', newCount = '1'] = HUNK.exec(lines[next++] ?? '') ?? []
    if (start === undefined) return undefined
    const [olds, news] = [Number(oldCount), Number(newCount)]
    // An empty range is named by the line before it.
    const hunk: Hunk = { at: olds === 0 ? Number(start) : Number(start) - 1, old: [], now: [] }
    while (hunk.old.length < olds || hunk.now.length < news || lines[next]?.startsWith('\\')) {
      const line = lines[next++] ?? ''
      const sides = { ' ': [hunk.old, hunk.now], '-': [hunk.old], '+': [hunk.now], '\\': endedBy(lines[next - 2], hunk) }[line.charAt(0)]
      if (!sides) return undefined
      for (const side of sides) {
        if (line.startsWith('\\')) side.push((side.pop() ?? '').replace(/\n$/, ''))
        else side.push(line.slice(1))
      }
    }
    if (hunk.old.length !== olds || hunk.now.length !== news || hunk.at < end) return undefined
    end = hunk.at + olds
    hunks.push(hunk)
  }
  return { head, hunks }
}

/** The sides whose last line has no end, by the line before `\ No newline at end of file`. */
const endedBy = (line: string | undefined, { old, now }: Hunk): string[][] => {
  if (line?.startsWith('-')) return [old]
  return line?.startsWith('+') ? [now] : [old, now]
}

/**
 * True when both make the same of the same text. What one of them does not show, it leaves as it is, so the old lines that either shows are
 * enough.
 */
export function isSameChange(a: TextChange, b: TextChange): boolean {
  if (a.head !== undefined && b.head !== undefined ? a.head !== b.head : !hasOnlyNames(a.head ?? b.head ?? '')) return false
  const known = oldLinesOf(a, b)
  if (!known) return false
  const hunks = [...a.hunks, ...b.hunks]
  const places = [...new Set([...known.keys(), ...hunks.flatMap(({ at, old }) => [at, at + old.length])])].sort((x, y) => x - y)
  const [left, right] = [a, b].map((change) => JSON.stringify(changed(change, known, places)))
  return left === right
}

/** Returns the old lines that either shows, by their place; undefined where the two do not fit one text. */
export function oldLinesOf(a: TextChange, b: TextChange): ReadonlyMap<number, string> | undefined {
  const length = a.length ?? b.length ?? Number.POSITIVE_INFINITY
  const known = new Map<number, string>()
  for (const { at, old } of [...a.hunks, ...b.hunks]) {
    if (at + old.length > length) return undefined
    for (const [index, line] of old.entries()) {
      if ((known.get(at + index) ?? line) !== line) return undefined
      known.set(at + index, line)
    }
  }
  return known
}

/** The names are those of the field that has the diff. */
const hasOnlyNames = (head: string): boolean => /^(--- .*\n\+\+\+ .*\n)?$/.test(head)

/** The lines afterwards. A number stands for the unknown lines from there on. */
function changed({ hunks }: TextChange, known: ReadonlyMap<number, string>, places: readonly number[]): (string | number)[] {
  const lines: (string | number)[] = []
  const left = [...hunks]
  let until = 0
  for (const place of places) {
    for (let hunk = left[0]; hunk?.at === place; hunk = left[0]) {
      left.shift()
      // Spread into one call, a long hunk overflows the stack.
      for (const line of hunk.now) lines.push(line)
      until = hunk.at + hunk.old.length
    }
    if (place >= until) lines.push(known.get(place) ?? place)
  }
  return lines
}
