import type { JsonSchema } from '@countersign/core'
import { expect, test } from 'vitest'
import { readCondition } from './condition.ts'
import { namesFor } from './names.ts'
import { findUnknownArguments } from './unknown-arguments.ts'

const refund: JsonSchema = {
  type: 'object',
  properties: {
    amount: { type: 'number' },
    status: { enum: ['open', 'closed'] },
    lines: { type: 'array', items: { $ref: '#/$defs/line' } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    anything: {},
  },
  $defs: { line: { type: 'object', properties: { sku: { type: 'string' }, parent: { $ref: '#/$defs/line' } } } },
}
const send: JsonSchema = {
  type: 'object',
  allOf: [{ properties: { to: { type: 'string' } } }, { properties: { text: { type: 'string' } } }],
}

const doubts = (when: string, schemas: JsonSchema[] = [refund], verdict: 'allow' | 'ask' | 'deny' = 'ask') => {
  const read = readCondition(when)
  if (!('ast' in read)) throw new Error(read.problem)
  const tools = schemas.map((inputSchema, place) => ({ name: `tool${place}`, inputSchema }))
  return findUnknownArguments(read.ast, { verdict }, tools).map(({ text, at }) => ({ text, at }))
}

test('an argument that the tool does not have is named with its place and with what the tool has', () => {
  expect(doubts('args.amount > 5 && args.amuont < 9')).toEqual([
    { text: 'names args.amuont, which tool0 does not have; it has amount, status, lines, labels, anything', at: 19 },
  ])
})

test.each([
  ['has(args.amuont)', 'args.amuont'],
  ['"amuont" in args', 'args.amuont'],
  ['args["amuont"] == 1', 'args.amuont'],
  ['args["the amount"] == 1', 'args["the amount"]'],
  ['args.lines[0].skuu == "a"', 'args.lines[0].skuu'],
  ['args.lines.exists(line, line.skuu == "a")', 'args.lines[0].skuu'],
  ['args.lines.all(a, args.lines.all(b, a.parent.parent.skuu == b.sku))', 'args.lines[0].parent.parent.skuu'],
  ['args.amount.currency == "EUR"', 'args.amount.currency'],
  ['size(args.lnies) > 3', 'args.lnies'],
  ['args.constructor == "x"', 'args.constructor'],
])('a mistake is found wherever it stands: %s', (when, name) => {
  const [found, ...more] = doubts(when)
  expect(found?.text.startsWith(`names ${name}, which tool0 does not have`)).toBe(true)
  expect(more).toEqual([])
})

test.each([
  'args.lines[0].parent.sku == "a"',
  'args.lines.exists(line, line.sku == "a")',
  'args.labels.whatever == "a"',
  'args.anything.at.all == "a"',
  'args.lines.map(line, line.sku).exists(sku, sku == "a")',
  'tool.name == "x" && requester.name == "y"',
  '[1, 2].exists(args, args == 1)',
  'args[args.status] == 1',
])('nothing is said about what a tool has, what its schema leaves open, and what is no argument: %s', (when) => {
  expect(doubts(when)).toEqual([])
})

test('the parts of combined schemas count, and a schema that names no properties is open', () => {
  expect(doubts('args.to == "a" && args.text == "b"', [send])).toEqual([])
  expect(doubts('args.cc == "a"', [send])).toHaveLength(1)
  expect(doubts('args.cc == "a"', [{ type: 'object' }])).toEqual([])
  expect(doubts('args.cc == "a"', [{ type: 'object', properties: {}, additionalProperties: true }])).toEqual([])
  expect(doubts('args.cc == "a"', [{ type: 'object', properties: {}, additionalProperties: false }])).toHaveLength(1)
})

test('where only some of the tools have an argument, the rule says what happens with the others, unless it looks first', () => {
  const both = [refund, send]
  expect(doubts('args.amount > 5', both, 'deny')).toEqual([
    {
      text: 'names args.amount, which tool1 does not have: there the condition fails, and the rule matches every call of those tools. Write has(args.amount) && … before it',
      at: 0,
    },
  ])
  expect(doubts('args.amount > 5', both, 'allow')[0]?.text).toContain('the calls of those tools need approval')
  expect(doubts('has(args.amount) && args.amount > 5', both)).toEqual([])
  expect(doubts('"amount" in args && args.amount > 5', both)).toEqual([])
  expect(doubts('tool.name == "tool0" && args.amount > 5', both)).toEqual([])
  expect(doubts('args.amuont > 5', both)).toEqual([{ text: 'names args.amuont, which none of its 2 tools has', at: 0 }])
})

test('the names for a condition are the arguments of the tools of its rule, with types and values, and end where a schema refers to itself', () => {
  const tools = [
    { name: 'refund', group: 'bank', effect: 'write' as const, inputSchema: refund },
    { name: 'send', group: 'mail', effect: 'write' as const, inputSchema: send },
  ]
  const names = namesFor({ match: { tool: 'bank.*' }, verdict: 'ask' }, tools)
  expect(names.tools).toBe(1)
  expect(names.arguments.slice(0, 3)).toEqual([
    { path: 'args.amount', types: ['number'], values: [], tools: 1 },
    { path: 'args.status', types: [], values: ['open', 'closed'], tools: 1 },
    { path: 'args.lines', types: ['array'], values: [], tools: 1 },
  ])
  expect(names.arguments.map(({ path }) => path)).toContain('args.lines[0].parent.sku')
  expect(names.arguments.length).toBeLessThan(12)
  expect(namesFor({ match: {}, verdict: 'ask' }, tools).arguments.map(({ path }) => path)).toContain('args.to')
  expect(names.variables.map(({ name }) => name)).toEqual(['args', 'tool', 'agent', 'session', 'requester', 'now'])
})
