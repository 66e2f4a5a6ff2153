import { PolicyDocument, type PolicyRule } from '@countersign/core'
import { expect, test } from 'vitest'
import { cpuTimeMs } from '../../../../verification/testing/cpu-time.ts'
import { withTurns } from '../../../../verification/testing/with-turns.ts'
import { findRuleReach } from './rule-reach.ts'

const TOOLS = [
  { name: 'bank.refund', group: 'bank', effect: 'write' as const },
  { name: 'bank.transfer', group: 'bank', effect: 'write' as const },
  { name: 'mail.send', group: 'mail', effect: 'write' as const },
]
type Given = Omit<PolicyRule, 'name' | 'match'> & { match?: PolicyRule['match'] }

/** The marks of rules that are named a, b, c …; those without any are left out. */
async function marks(...given: Given[]) {
  const rules = given.map((rule, at) => ({ name: 'abc'[at], match: {}, ...rule }))
  const reach = await findRuleReach(PolicyDocument.parse({ rules }), TOOLS)
  return reach
    .filter(({ never, conflicts }) => never || conflicts.length > 0)
    .map(({ rule, never, conflicts }) => ({ rule, never, conflicts: conflicts.map(({ text }) => text) }))
}
const ask = (when: string | undefined, quorum: number, more: object = {}): Given => ({
  match: { tool: 'bank.refund', ...(when !== undefined && { when }) },
  verdict: 'ask',
  requires: { quorum },
  ...more,
})

test('an earlier rule without a condition hides a stricter one, and says what applies in its place', async () => {
  expect(await marks(ask(undefined, 1), ask('args.amount > 500', 2))).toEqual([
    {
      rule: 'b',
      never: { why: 'overruled', by: ['a'] },
      conflicts: ['the rule "a" above matches first: its quorum of 1 applies, not 2'],
    },
  ])
})

test('a condition that holds wherever another one holds hides it as well', async () => {
  expect(await marks(ask('args.amount > 100', 1), ask('args.amount > 500', 2))).toEqual([
    {
      rule: 'b',
      never: { why: 'overruled', by: ['a'] },
      conflicts: ['the rule "a" above matches first: its quorum of 1 applies, not 2'],
    },
  ])
  const deny: Given = { match: { tool: 'bank.*', when: 'args.amount > 100' }, verdict: 'deny' }
  expect(await marks(ask('args.amount > 500', 2), deny)).toEqual([{ rule: 'a', never: { why: 'overruled', by: ['b'] }, conflicts: [] }])
})

test('where two conditions may hold for the same call, the conflict says so', async () => {
  expect(await marks(ask('args.amount > 100', 1), ask('args.country == "XX"', 2, { risk: 'critical' }))).toEqual([
    {
      rule: 'b',
      never: null,
      conflicts: [
        'the rule "a" above may match the same calls: then its quorum of 1 applies, not 2, and the risk is that of the tool, not critical',
      ],
    },
  ])
})

test('the conflict names how many tools it is about, where these are not all', async () => {
  const all: Given = {
    match: { tool: 'bank.*', when: 'args.amount > 5' },
    verdict: 'ask',
    requires: { notRequester: true, grace: 'PT10S' },
  }
  expect(await marks(ask('args.country == "XX"', 1), all)).toEqual([
    {
      rule: 'b',
      never: null,
      conflicts: [
        'the rule "a" above may match the same calls for 1 of its 2 tools: then the person who asked may vote, and the action starts at once, not after PT10S',
      ],
    },
  ])
})

test.each([
  ['the stricter one stands first', ask('args.country == "XX"', 2), ask('args.amount > 5', 1)],
  ['no call meets both', ask('args.amount <= 500', 1), ask('args.amount > 500', 2)],
  ['they are about other tools', ask('args.amount > 5', 1), { ...ask('args.amount > 5', 2), match: { tool: 'mail.send' } }],
  [
    'they are about other agents',
    { ...ask(undefined, 1), match: { agent: 'desk' } },
    { ...ask(undefined, 2), match: { agent: 'billing' } },
  ],
  ['one of them allows', { match: { when: 'args.amount < 5' }, verdict: 'allow' }, ask('args.amount > 2', 2)],
] as [string, Given, Given][])('two rules do not conflict where %s', async (_, one, other) => {
  expect(await marks(one, other)).toEqual([])
})

test('rules that a third one decides for do not conflict with each other', async () => {
  const deny: Given = { match: { tool: 'bank.refund' }, verdict: 'deny' }
  const found = await marks(ask('args.amount > 100', 1), ask('args.country == "XX"', 2), deny)
  expect(found.map(({ rule, conflicts }) => [rule, conflicts])).toEqual([
    ['a', []],
    ['b', []],
  ])
})

test('a rule for some agents hides one for a narrower name, and not one for every agent', async () => {
  const some: Given = { match: { agent: 'desk-*' }, verdict: 'ask' }
  expect(await marks(some, { match: { agent: 'desk-1' }, verdict: 'ask' })).toMatchObject([{ rule: 'b', never: { by: ['a'] } }])
  expect(await marks(some, { match: { agent: 'desk-b*' }, verdict: 'ask' })).toMatchObject([{ rule: 'b', never: { by: ['a'] } }])
  expect(await marks(some, { match: {}, verdict: 'ask' })).toEqual([])
})

const REFUND: Given = { match: { tool: 'bank.refund' }, verdict: 'ask' }
const LARGE: Given = { match: { tool: 'bank.refund', when: 'args.amount > 500' }, verdict: 'ask' }

test('a rule that requires more than an earlier one about the same calls is marked, and no longer once it stands first', async () => {
  for (const requires of [{ quorum: 2 }, { notRequester: true }, { roles: ['finance'] }, { grace: 'PT10S' }]) {
    const found = await marks(REFUND, { ...LARGE, requires })
    expect(found.map(({ rule, conflicts }) => [rule, conflicts.length])).toEqual([['b', 1]])
    expect(await marks({ ...LARGE, requires }, REFUND)).toEqual([])
  }
})

test('a wider rule hides the stricter one for a tool, an agent or an effect below it', async () => {
  const requires = { quorum: 2 }
  const narrow: Given = { match: { tool: 'bank.refund', effect: 'write', agent: 'desk' }, verdict: 'ask', requires }
  for (const match of [{}, { tool: 'bank.*' }, { effect: 'write' as const }]) {
    expect((await marks({ match, verdict: 'ask' }, narrow))[0]?.conflicts).toHaveLength(1)
  }
})

test('two rules for different people, of which each is stricter in its way, are no conflict where their calls may differ', async () => {
  const [east, west] = ['east', 'west'].map(
    (region): Given => ({
      match: { tool: 'bank.refund', when: `args.region.contains("${region}")` },
      verdict: 'ask',
      requires: { roles: [region] },
    }),
  )
  expect(east && west && (await marks(east, west))).toEqual([])
})

const many = (when: (n: number) => string) =>
  PolicyDocument.parse({
    rules: Array.from({ length: 950 }, (_, n) => ({
      name: `r${n}`,
      match: { when: when(n) },
      verdict: 'ask',
      requires: { quorum: 1 + (n % 90) },
    })),
  })

test('of very many rules each is compared with each other one, and other requests are served meanwhile', async () => {
  const parts = (n: number) => Array.from({ length: 8 }, (_, part) => `args.a${part} == ${n}`).join(' && ')
  const startedAt = cpuTimeMs()
  const { result, turns } = await withTurns(() => findRuleReach(many(parts), TOOLS))
  expect(result.every(({ never, conflicts }) => never === null && conflicts.length === 0)).toBe(true)
  expect(turns).toBeGreaterThan(20)
  // Made for it: of two of these conditions nothing shows before all is compared.
  const same = (n: number) => Array.from({ length: 20 }, (_, part) => `args.a != ${20 * n + part}`).join(' && ')
  const made = await withTurns(() => findRuleReach(many(same), TOOLS))
  expect(made.result.map(({ conflicts }) => conflicts.length).slice(0, 3)).toEqual([0, 1, 2])
  expect(made.turns).toBeGreaterThan(20)
  expect(cpuTimeMs() - startedAt).toBeLessThan(60_000)
})
