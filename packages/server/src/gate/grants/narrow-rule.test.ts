import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isTrueOf } from '../../policy/index.ts'
import { narrowRule } from './narrow-rule.ts'

const call = (args: object) => ({
  tool: { name: 'pay', group: 'own', effect: 'write' as const, destination: 'local' },
  arguments: args as never,
  agent: 'desk',
  session: null,
  requester: { id: 'prn_bot', kind: 'agent' as const, name: 'bot', roles: [] },
  nowMs: 0,
})

test('is true of every call that it was made from, and of none with another argument more or less', () => {
  const kinds = [
    fc.constantFrom('ORD-1', 'ORD-22', 'ORD-333', 'ORD-4x'),
    fc.constantFrom('x', '"\\\n'),
    fc.integer(),
    fc.constantFrom(0.5, -1e300, 3),
    fc.boolean(),
    fc.constant(null),
  ]
  const value = (kind: number) => kinds[kind] ?? fc.constant(null)
  const calls = fc
    .tuple(fc.nat(5), fc.nat(5), fc.nat(5))
    .chain(([a, b, c]) => fc.array(fc.record({ a: value(a), in: value(b), 'b c': value(c) }), { minLength: 1, maxLength: 6 }))
  let made = 0
  fc.assert(
    fc.property(calls, (all) => {
      const rule = narrowRule(all)
      if (rule === undefined) return
      made++
      for (const args of all) expect(isTrueOf(rule, call(args)), `${rule} of ${JSON.stringify(args)}`).toBe(true)
      expect(isTrueOf(rule, call({ ...all[0], more: 1 }))).toBe(false)
      const { a: _, ...less } = all[0] ?? { a: 1 }
      expect(isTrueOf(rule, call(less))).toBe(false)
    }),
    { numRuns: 500 },
  )
  expect(made).toBeGreaterThan(20)
})

test.each([
  ['numbers stay within what was seen', [{ cents: 5 }, { cents: 9 }], 'size(args) == 1 && args.cents >= 5 && args.cents <= 9'],
  ['few texts are listed', [{ s: 'a' }, { s: 'b' }, { s: 'a' }, { s: 'b' }], 'size(args) == 1 && args.s in ["a","b"]'],
  ['ids begin alike', [{ o: 'ORD-1' }, { o: 'ORD-2' }], 'size(args) == 1 && args.o.startsWith("ORD-") && size(args.o) <= 5'],
  ['free text is not narrowed', [{ m: 'Dear Ada' }, { m: 'Dear Ben' }], undefined],
  ['addresses are not narrowed by their beginning: bob@evil.com', [{ to: 'bob1@corp.com' }, { to: 'bob2@corp.com' }], undefined],
  ['hosts are not either: api.evil.com', [{ host: 'api1.corp.com' }, { host: 'api2.corp.com' }], undefined],
  [
    'addresses that come again are listed',
    ['a@corp.com', 'b@corp.com', 'a@corp.com', 'b@corp.com'].map((to) => ({ to })),
    'size(args) == 1 && args.to in ["a@corp.com","b@corp.com"]',
  ],
  ['a command is not narrowed', [{ c: 'sh -c ls' }, { c: 'sh -c df' }], undefined],
  [
    'parts are not looked into',
    [
      { o: 1, list: [1] },
      { o: 2, list: [1] },
    ],
    undefined,
  ],
  ['the same call is exact', [{ o: 1 }, { o: 1 }], undefined],
])('%s', (_, calls, rule) => expect(narrowRule(calls)).toBe(rule))
