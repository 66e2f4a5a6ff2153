import type { PreviewField } from '@countersign/core'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { unifiedDiff, wholeDiff } from '../../../../toolkit/src/text-work/diff.ts'
import { JOBS } from '../../../../toolkit/src/text-work/jobs.ts'
import { isSameField, isSamePreview } from './same-preview.ts'

const TEXT = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\n', '\r', '-', '+', '\\', ' '), maxLength: 40 })
const TEXTS = fc.tuple(TEXT, TEXT, fc.nat(40)).map(([text, other, at]) => {
  const inside = text.slice(0, at) + other.slice(0, 6) + text.slice(at + 3)
  return { before: text, after: at % 3 === 0 ? other : inside }
})

const linesOf = (text: string) => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
const marked = (sign: string, lines: readonly string[]) =>
  lines.map((line) => (line.endsWith('\n') ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`)).join('')

/** The lines from the first that differs to the last, without any around them. */
function narrowDiff(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)]
  let from = 0
  while (from < Math.min(old.length, now.length) && old[from] === now[from]) from++
  let left = 0
  while (left < Math.min(old.length, now.length) - from && old.at(-1 - left) === now.at(-1 - left)) left++
  const [gone, come] = [old, now].map((lines) => lines.slice(from, lines.length - left)) as [string[], string[]]
  const range = ({ length }: readonly string[]) => `${length === 0 ? from : from + 1},${length}`
  return `--- a/x\n+++ b/x\n@@ -${range(gone)} +${range(come)} @@\n${marked('-', gone)}${marked('+', come)}`
}

/** Ways in which the tools draw the change of one text, and others. */
const drawn = (before: string, after: string): PreviewField[] => [
  { field: 'x', diff: JOBS.patch({ from: 'a/x', to: 'b/x', before, after, maxEdits: 1_000 }) ?? '' },
  ...[unifiedDiff, wholeDiff].map((draw) => ({ field: 'x', diff: draw('x', { text: before }, { text: after }) })),
  { field: 'x', diff: narrowDiff(before, after) },
  { field: 'x', oldValue: before, newValue: after },
]

test('one change of a text is the same however it is drawn, and another one is not', () => {
  fc.assert(
    fc.property(TEXTS, TEXT, ({ before, after }, other) => {
      fc.pre(before !== after && other !== after && other !== before)
      const [first, second] = [drawn(before, after), drawn(before, other)]
      for (const a of first) {
        for (const b of first) expect(isSameField(a, b), JSON.stringify([a, b])).toBe(true)
        for (const b of second) expect([isSameField(a, b), isSameField(b, a)], JSON.stringify([a, b])).toEqual([false, false])
      }
    }),
    { seed: inject('propertySeed'), numRuns: 100 },
  )
})

test('a change of another text, in another place, of another name or mode is another one', () => {
  const field = (diff: string): PreviewField => ({ field: 'x', diff })
  const change = field('--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+c\n')
  expect(isSameField(change, field('--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n a\n'))).toBe(true)
  for (const other of [
    field('--- a/x\n+++ b/x\n@@ -3 +3 @@\n-b\n+c\n'),
    field('--- a/y\n+++ b/x\n@@ -2 +2 @@\n-b\n+c\n'),
    field('old mode 100644\nnew mode 100755\n--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+c\n'),
    field('--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+c\n@@ -9 +9 @@\n-b\n+c\n'),
    field('--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+c\n\\ No newline at end of file\n'),
    field('--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+c\nand more\n'),
    field('--- a/x\n+++ b/x\n@@ -2,9 +2,9 @@\n-b\n+c\n'),
    { ...change, field: 'y' },
    { ...change, newValue: 'c' },
    { field: 'x', oldValue: 'a\n', newValue: 'c\n' },
    { field: 'x', oldValue: 'b\nb\n', newValue: 'b\nc\nc\n' },
  ]) {
    expect([isSameField(change, other), isSameField(other, change)], JSON.stringify(other)).toEqual([false, false])
  }
  expect(isSameField(change, { field: 'x', oldValue: 'b\nb\n', newValue: 'b\nc\n' })).toBe(true)
  const moded = (diff: string) => field(`old mode 100644\nnew mode 100755\n${diff}`)
  expect(isSameField(moded(change.diff ?? ''), { field: 'x', oldValue: 'b\nb\n', newValue: 'b\nc\n' })).toBe(false)
  expect(isSamePreview([change], [change, change])).toBe(false)
  expect(isSamePreview([{ field: 'a', oldValue: { b: 1, c: 2 } }], [{ field: 'a', oldValue: { c: 2, b: 1 } }])).toBe(true)
})

test('a change of any number of lines is compared: the diff of a tool of one’s own has no limit', () => {
  const after = 'a\n'.repeat(500_000)
  const shown: PreviewField = { field: 'x', oldValue: '', newValue: after }
  expect(isSameField(shown, { field: 'x', diff: wholeDiff('x', { text: '' }, { text: after }) })).toBe(true)
  expect(isSameField(shown, { field: 'x', diff: wholeDiff('x', { text: '' }, { text: `${after}b\n` }) })).toBe(false)
})
