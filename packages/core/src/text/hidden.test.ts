import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Hideable, hiddenCharacters, hiddenParts, needsOpening, valueText } from './hidden.ts'

const action = (changed: Partial<Hideable> = {}): Hideable => ({
  arguments: { orderId: 'ORD-001' },
  preview: [{ oldValue: 'pending', newValue: 'processing' }],
  risk: { level: 'medium' },
  ...changed,
})
const paths = (given: Hideable) => hiddenParts(given).map(({ path }) => path)

test('a short action needs no opening at any risk', () => {
  for (const level of ['low', 'medium', 'high', 'critical']) expect(needsOpening(action({ risk: { level } }))).toBe(false)
})

test('more than 2,000 hidden characters need opening at any risk, wherever they are', () => {
  const long = 'x'.repeat(66_900)
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`field${at}`, 'y'.repeat(500)]))
  const places: Partial<Hideable>[] = [
    { arguments: { body: long } },
    { arguments: { deep: [{ body: long }] }, preview: null },
    { arguments: { [long]: 1 } },
    { arguments: many },
    { arguments: many, preview: null },
    { preview: [{ newValue: long }] },
    { preview: [{ oldValue: long }] },
    { preview: [{ newValue: { deep: long } }] },
    { preview: [{ diff: `@@ -1 +1 @@\n+${long}` }] },
    // No single text hides 2,000 characters.
    { arguments: { a: 'x'.repeat(1_200), b: 'x'.repeat(1_200), c: 'x'.repeat(1_200) } },
  ]
  for (const place of places) {
    for (const level of ['low', 'medium', 'high', 'critical']) {
      expect(needsOpening(action({ ...place, risk: { level } })), JSON.stringify(place).slice(0, 60)).toBe(true)
    }
    expect(needsOpening(action(place), () => true)).toBe(false)
  }
})

test('two texts never share a path, so reading one is not reading the other', () => {
  const long = 'x'.repeat(3_000)
  const found = paths(action({ arguments: { 'a/b': long, a: { b: long }, 'a~1b': long, '': long }, preview: null }))
  expect(new Set(found).size).toBe(4)
})

test('the rows of a preview after the first hundred need opening, and with high risk also one', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, at) => ({ field: `row ${at}`, oldValue: at, newValue: at + 1 }))
  expect(paths(action({ preview: rows(100) }))).not.toContain('preview')
  expect(paths(action({ preview: rows(101) }))).toContain('preview')
  expect(needsOpening(action({ preview: rows(101) }))).toBe(false)
  expect(needsOpening(action({ preview: rows(101), risk: { level: 'high' } }))).toBe(true)
  expect(needsOpening(action({ preview: rows(10_000) }))).toBe(true)
  expect(needsOpening(action({ preview: rows(10_000) }), (path) => path === 'preview')).toBe(false)
})

test('with high risk any folded text needs opening, as short as it is', () => {
  const body = { arguments: { body: 'x'.repeat(700) } }
  expect(needsOpening(action(body))).toBe(false)
  expect(needsOpening(action({ ...body, risk: { level: 'high' } }))).toBe(true)
  expect(needsOpening(action({ ...body, risk: { level: 'high' } }), (path) => path === 'arguments/body')).toBe(false)
})

test('an argument that the preview shows word for word is read once; with high risk it is a part of its own', () => {
  const text = `first line\n${'more text '.repeat(400)}\nlast line\n`
  const diff = `--- a\n+++ b\n@@ -0,0 +1,3 @@\n${text.trimEnd().replace(/^/gm, '+')}\n`
  expect(paths(action({ arguments: { text }, preview: [{ diff }] }))).toEqual(['preview/0/diff', 'arguments'])
  expect(paths(action({ arguments: { text }, preview: [{ newValue: text }] }))).toEqual(['preview/0/new', 'arguments'])
  expect(paths(action({ arguments: { text: `${text}!` }, preview: [{ diff }] }))).toContain('arguments/text')
  expect(paths(action({ arguments: { text }, preview: [{ diff }], risk: { level: 'high' } }))).toContain('arguments/text')
})

test('whatever the arguments are, what is not shown is counted: nothing beyond 2,000 characters is let through', () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.string({ unit: 'grapheme', maxLength: 3_000 }),
      fc.integer(),
      fc.boolean(),
      fc.array(tie('any'), { maxLength: 6 }),
      fc.dictionary(fc.string({ maxLength: 40 }), tie('any'), { maxKeys: 6 }),
    ),
  })).any
  fc.assert(
    fc.property(fc.dictionary(fc.string({ maxLength: 10 }), value, { maxKeys: 5 }), (args) => {
      const given = action({ arguments: args })
      // The arguments that the collapsed card shows: head and tail of each long one, when the details are open.
      const shownAtMost = hiddenParts(given).filter(({ isFolded }) => isFolded).length * 360
      const all = JSON.stringify(args).length
      expect(hiddenCharacters(given)).toBeGreaterThanOrEqual(all - shownAtMost)
      if (all - shownAtMost > 2_000) expect(needsOpening(given)).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test('no text is shown like a number, a word of JSON, a list or an object', () => {
  const isUnlike = (value: unknown) => typeof value === 'string' || valueText(JSON.stringify(value)) !== valueText(value)
  for (const value of [5, -0.1, 1e21, 1.5e-7, -1e300, null, true, [], {}]) expect(isUnlike(value), JSON.stringify(value)).toBe(true)
  fc.assert(fc.property(fc.oneof(fc.double({ noDefaultInfinity: true, noNaN: true }), fc.jsonValue()), isUnlike))
  for (const text of ['5 ', ' true', '\tnull\n', ' [1]', ' ']) expect(valueText(text)).toBe(JSON.stringify(text))
  for (const text of ['1e', 'e5', '1e5 units', 'Level 3']) expect(valueText(text)).toBe(text)
})

test('rows about a changed tool hide no more of the arguments than there is to hide with the tool as it was', () => {
  const args = { to: 'ada@example.com', body: 'z'.repeat(590), more: 'q'.repeat(590), third: 'r'.repeat(590) }
  const says = { field: 'Bot says', newValue: 'mails', unverified: true }
  const changed = { field: 'the tool’s description', oldValue: 'a', newValue: 'b', ofTool: true }
  for (const level of ['medium', 'critical']) {
    for (const preview of [[changed], [changed, says]])
      expect(hiddenParts({ arguments: args, preview, risk: { level } }), `${level}, ${preview.length}`).toEqual([])
  }
  // The changes of the call itself are what a person looks at first.
  expect(paths({ arguments: args, preview: [changed, { field: 'to', newValue: 'ada' }], risk: { level: 'medium' } })).toEqual(['arguments'])
})
