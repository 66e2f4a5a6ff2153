import type { JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { z as z3 } from 'zod/v3'
import { cpuTimeMs } from '../../../verification/testing/cpu-time.ts'
import { type CodedTool, defineTool } from './define.ts'
import { refund } from './testing/refund-tool.ts'

const issuesOf = (tool: CodedTool, args: JsonObject) => {
  const checked = tool.check(args)
  return checked.ok ? [] : checked.issues
}

test('a tool with a Zod input shows the model its input side, closed', () => {
  expect(refund.inputSchema).toMatchObject({
    type: 'object',
    required: ['orderId', 'cents'],
    additionalProperties: false,
    properties: { currency: { type: 'string', enum: ['EUR', 'USD'], default: 'EUR' } },
  })
  expect(refund.inputSchema.$schema).toBeUndefined()
})

test('a Zod default is part of the checked arguments, and checking those again changes nothing', () => {
  const first = refund.check({ orderId: 'O-1', cents: 500 })
  expect(first).toEqual({ ok: true, value: { orderId: 'O-1', cents: 500, currency: 'EUR' } })
  expect(first.ok && refund.check(first.value)).toEqual(first)
})

test('a coercion is done before anything is stored', () => {
  const tool = defineTool({
    name: 'wait',
    description: 'Waits.',
    input: z.object({ minutes: z.coerce.number(), note: z.string().trim().optional() }),
    effect: 'read',
    execute: ({ minutes }) => minutes * 60,
  })
  expect(tool.check({ minutes: '5', note: ' x ' })).toEqual({ ok: true, value: { minutes: 5, note: 'x' } })
})

test('issues carry a JSON Pointer and a whole sentence, the same for Zod and JSON Schema', () => {
  const asSchema = defineTool({
    name: 'refund',
    description: '',
    input: refund.inputSchema,
    effect: 'write',
    execute: () => null,
  })
  const wrong = { cents: 0.5, currency: 'GBP', lines: [{ sku: 's', quantity: 0 }], extra: 1 }
  for (const tool of [refund, asSchema]) {
    expect(issuesOf(tool, wrong).sort((a, b) => a.path.localeCompare(b.path))).toEqual([
      { path: '/cents', message: 'cents must be a whole number.' },
      { path: '/currency', message: 'currency must be one of "EUR", "USD".' },
      { path: '/extra', message: 'extra is not known here.' },
      { path: '/lines/0/quantity', message: 'lines[0].quantity must be at least 1.' },
      { path: '/orderId', message: 'orderId is required.' },
    ])
    expect(issuesOf(tool, { orderId: '', cents: 1 })).toEqual([{ path: '/orderId', message: 'orderId must have at least 1 character.' }])
  }
})

test('an argument that the schema does not name is refused, unless the object is declared loose', () => {
  expect(issuesOf(refund, { orderId: 'O', cents: 1, approve: true })).toEqual([{ path: '/approve', message: 'approve is not known here.' }])
  const loose = defineTool({ name: 'log', description: '', input: z.looseObject({}), effect: 'write', execute: (args) => args })
  expect(loose.check({ any: [1] })).toEqual({ ok: true, value: { any: [1] } })
})

test('a member that a nested object of the schema does not name is refused at its place, and not dropped in silence', () => {
  const Id = z.object({ id: z.string() })
  interface Tree {
    name: string
    children?: Tree[] | undefined
  }
  const Tree: z.ZodType<Tree> = z.object({ name: z.string(), children: z.lazy(() => z.array(Tree)).optional() })
  const tool = defineTool({
    name: 'pay',
    description: '',
    input: z.object({
      to: Id,
      lines: z.array(z.object({ sku: z.string() })).default([]),
      pair: z.tuple([Id, Id]).nullish(),
      byName: z.record(z.string(), Id).optional(),
      either: z.union([z.string(), Id, z.object({ id: z.string(), amount: z.number() })]).optional(),
      kind: z.discriminatedUnion('is', [z.object({ is: z.literal('a'), n: z.number() }), z.object({ is: z.literal('b') })]).optional(),
      both: z.intersection(Id, z.object({ note: z.string() })).optional(),
      tree: Tree.optional(),
      loose: z.object({ any: z.looseObject({}), counts: z.object({}).catchall(z.number()) }).optional(),
      read: z.preprocess((given) => (typeof given === 'object' ? { id: 'r' } : given), Id).optional(),
    }),
    effect: 'write',
    execute: () => null,
  })
  const to = { id: '1' }
  const unnamed: [JsonObject, path: string][] = [
    [{ to: { id: '1', amount: 5 } }, '/to/amount'],
    [{ to, lines: [{ sku: 'a' }, { sku: 'b', price: 1 }] }, '/lines/1/price'],
    [{ to, pair: [to, { id: '2', x: 1 }] }, '/pair/1/x'],
    [{ to, byName: { ada: { id: '1', x: 1 } } }, '/byName/ada/x'],
    [{ to, either: { id: '1', amount: 5 } }, '/either/amount'],
    [{ to, kind: { is: 'b', n: 1 } }, '/kind/n'],
    [{ to, both: { id: '1', note: 'n', x: 1 } }, '/both/x'],
    [{ to, tree: { name: 'a', children: [{ name: 'b', x: 1 }] } }, '/tree/children/0/x'],
  ]
  for (const [args, path] of unnamed)
    expect(issuesOf(tool, args)).toEqual([{ path, message: expect.stringMatching(/ is not known here\.$/) }])
  const named: JsonObject = {
    ...{ to, lines: [], pair: null, byName: { ada: to }, either: to, kind: { is: 'a', n: 1 }, both: { id: '1', note: 'n' } },
    ...{ tree: { name: 'a', children: [{ name: 'b' }] }, loose: { any: { x: [1] }, counts: { x: 1 } }, read: { ID: 'r' } },
  }
  expect(tool.check(named)).toEqual({ ok: true, value: { ...named, read: { id: 'r' } } })
})

test('a schema whose output is not what was approved is refused when it is defined', () => {
  const define = (input: z.ZodObject) => () => defineTool({ name: 'bad', description: '', input, effect: 'write', execute: () => null })
  expect(define(z.object({ at: z.coerce.date() }))).toThrow(/tool bad: its input .*Date/)
  expect(define(z.object({ n: z.string().transform((text) => text.length) }))).toThrow(/tool bad: its input .*[Tt]ransform/)
})

test('a schema that changes its own output is refused when it is called', () => {
  const tool = defineTool({
    name: 'drift',
    description: '',
    input: z.object({ text: z.string().overwrite((text) => `${text}!`) }),
    effect: 'write',
    execute: () => null,
  })
  expect(issuesOf(tool, { text: 'a' })).toMatchObject([{ path: '' }])
})

test('JSON Schema arguments pass unchanged, defaults included', () => {
  const tool = defineTool({
    name: 't',
    description: '',
    input: { type: 'object', properties: { n: { type: 'integer', default: 3 } } },
    effect: 'read',
    execute: (args) => args,
  })
  expect(tool.check({ other: 'x' })).toEqual({ ok: true, value: { other: 'x' } })
})

test('a property named like a method of Object is not taken for present', () => {
  const tool = defineTool({
    name: 't',
    description: '',
    input: { type: 'object', required: ['toString'], properties: { constructor: { type: 'string' } }, additionalProperties: false },
    effect: 'read',
    execute: () => null,
  })
  expect(issuesOf(tool, {})).toEqual([{ path: '/toString', message: 'toString is required.' }])
})

test('an unusable JSON Schema is refused when it is defined, in words', () => {
  const define = (input: JsonObject) => () => defineTool({ name: 'bad', description: '', input, effect: 'write', execute: () => null })
  expect(define({ type: 'string' })).toThrow('tool bad: its input must describe an object (type: object)')
  expect(define({ type: 'object', properties: { a: { $ref: '#/$defs/gone' } } })).toThrow(/\$ref at \/properties\/a that does not resolve/)
  expect(define({ type: 'object', properties: { a: { $ref: 'https://example.com/s' } } })).toThrow(/does not resolve/)
  expect(define({ type: 'object', properties: { a: { pattern: '(' } } })).toThrow(/not a regular expression/)
})

test('an input in the schema of another library is refused when it is defined: it would check nothing', () => {
  const define = (input: unknown) => () =>
    defineTool({ name: 'bad', description: '', input: input as JsonObject, effect: 'write', execute: () => null })
  // As valibot has it: an object with the type "object", which is a JSON Schema for any arguments.
  const valibot = { kind: 'schema', type: 'object', entries: {}, '~standard': { version: 1, vendor: 'valibot' } }
  const arktype = Object.assign(() => null, { '~standard': { version: 1, vendor: 'arktype' } })
  const inputs: [input: unknown, words: string][] = [
    [valibot, 'is a schema of valibot'],
    [arktype, 'is a schema of arktype'],
    [z3.object({ a: z3.string() }), 'is a schema of Zod 3'],
    // Before 3.24.
    [{ _def: { typeName: 'ZodObject' } }, 'is a schema of Zod 3'],
    [mini.object({ a: mini.string() }), 'is no z.object of zod'],
    [z.record(z.string(), z.string()), 'is no z.object of zod'],
    [z.string(), 'is no z.object of zod'],
    [undefined, 'is missing'],
    [null, 'is missing'],
  ]
  for (const [input, words] of inputs) {
    expect(define(input), words).toThrow(`tool bad: its input ${words}: give it z.object({ … }) of Zod 4, or a JSON Schema`)
  }
  expect(define({ type: 'object', properties: { _def: { type: 'string' } } })).not.toThrow()
})

test('a time limit that no timer or database takes is refused when it is defined', () => {
  const define = (timeoutMs: unknown) => () =>
    defineTool({ name: 'bad', description: '', input: z.object({}), effect: 'write', executor: 'client', timeoutMs: timeoutMs as number })
  for (const timeoutMs of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 30 * 86_400_000, '5000', null]) {
    expect(define(timeoutMs), String(timeoutMs)).toThrow('tool bad: timeoutMs must be a whole number from 1 to 2147483647')
  }
  for (const timeoutMs of [1, 24 * 86_400_000, undefined]) expect(define(timeoutMs), String(timeoutMs)).not.toThrow()
})

test('a credential that is not set is refused when it is defined, by its name', () => {
  const define = (token: unknown) => () =>
    defineTool({
      name: 'bad',
      description: '',
      input: z.object({}),
      effect: 'write',
      credentials: { account: 'shop', token: token as string },
      execute: () => null,
    })
  for (const token of [undefined, '', null, 7])
    expect(define(token)).toThrow('tool bad: the credential token is empty: is its variable set?')
})

test('arguments made to cost much are refused in a moment', () => {
  const tool = (items: JsonObject, more: JsonObject = {}) =>
    defineTool({
      name: 't',
      description: '',
      input: { type: 'object', properties: { list: { type: 'array', items, ...more } } },
      effect: 'read',
      execute: () => null,
    })
  const ones = (length: number) => ({ list: Array.from({ length }, () => 1) })
  const begin = cpuTimeMs()
  expect(issuesOf(tool({ type: 'string' }), ones(120_000))).toEqual([
    { path: '', message: 'The whole of the arguments could not be checked.' },
  ])
  expect(issuesOf(tool({ anyOf: [{ type: 'string' }, { type: 'boolean' }] }), ones(5_000))).toHaveLength(20)
  expect(issuesOf(tool({}, { uniqueItems: true }), ones(40_000))).toEqual([
    { path: '', message: 'The whole of the arguments holds a list with more than 2000 entries.' },
  ])
  expect(issuesOf(tool({ format: 'url' }), { list: [`http://${'a'.repeat(60_000)} `] })).toEqual([
    { path: '/list/0', message: 'list[0] must be a valid url.' },
  ])
  expect(cpuTimeMs() - begin).toBeLessThan(20_000)
})
