import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CodedTool, defineTool } from './define.ts'
import { mayBeModelName, modelNames } from './model-names.ts'
import { openTools, type ToolGroup, toolDefinitionHash } from './open-tools.ts'
import { RouteTable, type RouteTableInput } from './routes/route-schema.ts'
import { SetupError } from './setup-error.ts'

const coded = (name: string, description = ''): CodedTool =>
  defineTool({ name, description, input: { type: 'object' }, effect: 'read', execute: () => null })
const group = (...names: string[]): ToolGroup => ({ prefix: true, tools: names.map((name) => coded(name)) })
const bare = (...names: string[]): ToolGroup => ({ ...group(...names), prefix: false })
const routes = (tools: RouteTableInput['tools'], baseUrl = 'http://127.0.0.1:4400'): ToolGroup => ({
  prefix: true,
  routes: RouteTable.parse({ baseUrl, tools }),
})

test('a tool is named after its group, unless the group is unprefixed', () => {
  const tools = openTools({ shop: group('refund'), local: bare('clock') })
  expect(tools.all().map(({ name, group, modelName, destination }) => [name, group, modelName, destination])).toEqual([
    ['shop.refund', 'shop', 'shop_refund', 'local'],
    ['clock', 'local', 'clock', 'local'],
  ])
  expect(tools.byName('shop.refund')?.description).toBe('')
  expect(tools.byName('refund')).toBeUndefined()
  expect(tools.byName('constructor')).toBeUndefined()
})

test("an agent's globs fit a tool's name or its group and name, in the order of the configuration", () => {
  const tools = openTools({ shop: group('get', 'set'), local: bare('clock', 'log') })
  const names = (...globs: string[]) =>
    tools
      .forAgent(globs)()
      .map(({ name }) => name)
  expect(names('local.*', 'shop.set')).toEqual(['shop.set', 'clock', 'log'])
  expect(names('clock')).toEqual(['clock'])
  expect(names('*')).toEqual(['shop.get', 'shop.set', 'clock', 'log'])
  expect(names('shop.*', 'shop.get')).toEqual(['shop.get', 'shop.set'])
  expect(names()).toEqual([])
})

test('a glob that fits no tool is refused by name', () => {
  const tools = openTools({ shop: group('get') })
  expect(() => tools.forAgent(['shop.*', 'shpo.*'])).toThrow(
    new SetupError([{ path: [1], message: '"shpo.*" fits no tool; there is shop.get' }]),
  )
})

test('two tools of one name, and names that cannot be used, are refused', () => {
  expect(() => openTools({ a: bare('x'), b: bare('x') })).toThrow('b: has a tool named x, and so has the group a')
  expect(() => openTools({ 'a.b': group('x') })).toThrow('is not a group name')
  expect(() => openTools({ a: group('x*') })).toThrow('a.tools.0: has a name that cannot be used: x*')
})

test('every problem is told at once', () => {
  const bad = routes({ x: { method: 'GET', path: 'x' }, y: { method: 'GET', path: '/y/{' } }, 'nowhere')
  expect(() => openTools({ a: bad, b: group('no good') })).toThrow(
    expect.objectContaining({
      problems: [
        { path: ['a', 'routes', 'baseUrl'], message: expect.any(String) },
        { path: ['a', 'routes', 'tools', 'x', 'path'], message: expect.any(String) },
        { path: ['a', 'routes', 'tools', 'y', 'path'], message: expect.any(String) },
        { path: ['b', 'tools', 0], message: expect.any(String) },
      ],
    }),
  )
})

test('model names are legal, unique and independent of the order', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'B', '_', '-', '.', '7'), minLength: 1, maxLength: 90 })
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 12 }), (names) => {
      const given = modelNames(names)
      expect(new Set(given.values()).size).toBe(names.length)
      for (const value of given.values()) expect(value).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      expect(modelNames(names.toReversed())).toEqual(new Map([...given].reverse()))
    }),
  )
})

test('names that would look the same to a model are told apart by a hash', () => {
  const given = modelNames(['a.b_c', 'a_b.c', 'plain', 'x'.repeat(80)])
  expect(given.get('plain')).toBe('plain')
  expect(given.get('a.b_c')).toMatch(/^a_b_c_[0-9a-f]{8}$/)
  expect(given.get('a_b.c')).toMatch(/^a_b_c_[0-9a-f]{8}$/)
  expect(given.get('x'.repeat(80))).toMatch(/^x{55}_[0-9a-f]{8}$/)
})

test('a name that a model was given fits its tool, and no other one of those there were', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'B', '_', '-', '.', '7'), minLength: 1, maxLength: 90 })
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 12 }), (names) => {
      for (const [name, given] of modelNames(names)) expect(names.filter((each) => mayBeModelName(given, each))).toEqual([name])
    }),
  )
})

test('a tool that is named as another is seen by a model does not get its calls', () => {
  const names = ['shop.refund', 'shop_refund']
  const seen = modelNames(names)
  for (const name of names) {
    const forged = seen.get(name) ?? ''
    const given = modelNames([forged, ...names])
    expect(names.map((each) => given.get(each))).toEqual(names.map((each) => seen.get(each)))
    expect(new Set(given.values()).size).toBe(3)
  }
})

test('a definition hash changes with what a tool is, and not with its words for people', () => {
  const route: RouteTableInput['tools'][string] = { method: 'PATCH', path: '/orders/{id}', body: { status: 'paid' } }
  const hash = (change: Partial<typeof route>, baseUrl?: string) => {
    const tool = openTools({ shop: routes({ pay: { ...route, ...change } }, baseUrl) }).byName('shop.pay')
    return tool && toolDefinitionHash(tool)
  }
  const original = hash({})
  expect(original).toMatch(/^[0-9a-f]{64}$/)
  expect(hash({ describe: 'Pay {id}', resultUrl: '/{id}', timeoutMs: 5 })).toBe(original)
  const changes = [
    hash({ method: 'PUT' }),
    hash({ path: '/orders/{id}/delete' }),
    hash({ body: { status: 'refunded' } }),
    hash({ description: 'new' }),
    hash({ effect: 'read' }),
    hash({ executor: 'client' }),
    hash({ idempotent: true }),
    hash({}, 'http://127.0.0.1:4401'),
    hash({}, 'http://127.0.0.1:4400/v2'),
    hash({ before: { get: '/orders/{id}', compare: ['status'] } }),
  ]
  expect(new Set([original, ...changes]).size).toBe(changes.length + 1)
})

test('whatever its source, a write is high risk by its method or its name; the name of its group says nothing', () => {
  const write = (name: string) => defineTool({ name, description: '', input: { type: 'object' }, effect: 'write', execute: () => null })
  const tools = openTools({
    shop: routes({
      takeOut: { method: 'DELETE', path: '/orders/{id}' },
      refundOrder: { method: 'POST', path: '/orders/{id}/refund' },
      reorderLines: { method: 'PUT', path: '/orders/{id}' },
      listRefunds: { method: 'GET', path: '/refunds' },
    }),
    payments: { prefix: true, tools: [write('banUser'), write('note')] },
  })
  expect(tools.all().map(({ name, risk }) => [name, risk?.level, risk?.isGuess])).toEqual([
    ['shop.takeOut', 'high', true],
    ['shop.refundOrder', 'high', true],
    ['shop.reorderLines', undefined, undefined],
    ['shop.listRefunds', undefined, undefined],
    ['payments.banUser', 'high', true],
    ['payments.note', undefined, undefined],
  ])
})

test('the headline that a coded tool reads holds none of its secrets', async () => {
  const close = defineTool({
    name: 'close',
    description: '',
    input: { type: 'object' },
    effect: 'write',
    credentials: { token: 'tok-12345' },
    preview: () => ({ fields: [{ field: 'owner', oldValue: 'tok-12345' }], headline: 'Close the account of “tok-12345”' }),
    execute: () => null,
  })
  const tool = openTools({ crm: { prefix: true, tools: [close] } }).byName('crm.close')
  expect(await tool?.preview?.({}, new AbortController().signal)).toMatchObject({
    headline: 'Close the account of “[redacted]”',
    fields: [{ field: 'owner', oldValue: '[redacted]' }],
  })
})
