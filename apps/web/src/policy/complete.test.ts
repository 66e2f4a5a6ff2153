import type { PolicyNames } from '@countersign/client'
import { expect, test } from 'vitest'
import { complete } from './complete.ts'

const names: PolicyNames = {
  tools: 2,
  arguments: [
    { path: 'args.amount', types: ['number'], values: [], tools: 2 },
    { path: 'args.status', types: ['string'], values: ['open', 'closed "for now"'], tools: 1 },
    { path: 'args.lines', types: ['array'], values: [], tools: 1 },
    { path: 'args.lines[0].sku', types: ['string'], values: [], tools: 1 },
    { path: 'args["the name"]', types: ['string'], values: [], tools: 1 },
  ],
  variables: [
    { name: 'args', type: 'map<string, dyn>', fields: [] },
    { name: 'agent', type: 'map<string, string>', fields: ['name'] },
    { name: 'now', type: 'google.protobuf.Timestamp', fields: [] },
  ],
  functions: [
    { name: 'has', on: 'call', example: 'has(args.name)', gives: 'true if the field is there' },
    { name: 'trim', on: 'text', example: '" a ".trim() == "a"', gives: 'the text without spaces' },
    { name: 'startsWith', on: 'text', example: 'args.name.startsWith("A")', gives: 'true if the text begins so' },
    { name: 'exists', on: 'list', example: 'args.tags.exists(tag, tag == "b")', gives: 'true if it holds for an element' },
    { name: 'getHours', on: 'time', example: 'now.getHours() == 22', gives: 'the hour' },
  ],
}

/** The texts for the place of `|`. */
const texts = (marked: string) => complete(marked.replace('|', ''), marked.indexOf('|'), names)?.items.map(({ text }) => text)
/** The condition after the first of them was chosen, with the caret as `|`. */
function chosen(marked: string): string {
  const found = complete(marked.replace('|', ''), marked.indexOf('|'), names)
  const [first] = found?.items ?? []
  if (!found || !first) return marked
  const text = marked.replace('|', '')
  const at = found.from + first.caret
  const after = text.slice(0, found.from) + first.text + text.slice(found.to)
  return `${after.slice(0, at)}|${after.slice(at)}`
}

test.each([
  ['am|', ['args.amount']],
  ['a|', ['args.amount', 'args.status', 'args.lines', 'args.lines[0].sku', 'args["the name"]', 'args', 'agent']],
  ['args.|', ['amount', 'status', 'lines']],
  ['args.amount > 5 && args.s|', ['status']],
  ['args.status.|', ['trim()', 'startsWith()']],
  ['args.lines.|', ['exists()']],
  ['args.lines[3].|', ['sku']],
  ['args.lines.exists(line, line.|', ['trim()', 'startsWith()', 'exists()']],
  ['args.status.trim().s|', ['startsWith()']],
  ['agent.|', ['name']],
  ['now.|', ['getHours()']],
  ['args.amount.|', undefined],
  ['args.status == |', ['"open"', '"closed \\"for now\\""']],
  ['args.status == "o|', ['"open"']],
  ['args.status in ["open", "c|', ['"closed \\"for now\\""']],
  ["args.status == 'c|", ['\'closed "for now"\'']],
  ['args.amount == "o|', undefined],
  ['args.status == "am|', undefined],
  ['1.|', undefined],
  ['args.amount|', undefined],
])('at the caret of %s stand the names that fit there', (marked, expected) => {
  if (marked.endsWith('== |') || expected === undefined) expect(texts(marked)?.slice(0, 2)).toEqual(expected)
  else expect(texts(marked)).toEqual(expected)
})

test.each([
  ['am| > 5', 'args.amount| > 5'],
  ['args.am|ou > 5', 'args.amount| > 5'],
  ['ha|', 'has(|)'],
  ['ha|(args.amount)', 'has|(args.amount)'],
  ['args.status.tr|', 'args.status.trim()|'],
  ['args.status.st| && true', 'args.status.startsWith(|) && true'],
  ['args.status == "o|"', 'args.status == "open"|'],
])('what is chosen replaces the word at the caret: %s', (marked, after) => {
  expect(chosen(marked)).toBe(after)
})

test('the list opens by itself only where somebody has begun a name', () => {
  const isBegun = (marked: string) => complete(marked.replace('|', ''), marked.indexOf('|'), names)?.isBegun
  expect([isBegun('|'), isBegun('args.amount > 5 && |'), isBegun('args.|'), isBegun('h|'), isBegun('args.status == |')]).toEqual([
    ...[false, false, true, true, true],
  ])
})
