import { PolicyDocument } from '@countersign/core'
import { expect, test } from 'vitest'
import { warningsAbout } from './warnings.ts'

type Given = Partial<PolicyDocument['rules'][number]>

const warn = (...rules: Given[]): string[] =>
  warningsAbout(
    PolicyDocument.parse({ rules: rules.map((rule, at) => ({ name: `r${at}`, match: {}, verdict: 'ask', ...rule })) }),
    undefined,
  )

const REFUND = { match: { tool: 'bank.refund' } }
const LARGE = { match: { tool: 'bank.refund', when: 'args.amount > 500' } }
const MORE = [{ quorum: 2 }, { notRequester: true }, { roles: ['finance'] }]

test('a rule that requires more than an earlier one about the same calls is warned about, and no longer once it stands first', () => {
  for (const requires of MORE) {
    expect(warn(REFUND, { ...LARGE, requires })).toEqual([
      '"r1" has requirements that do not count for calls that "r0" matches too: move it above that rule',
    ])
    expect(warn({ ...LARGE, requires }, REFUND)).toEqual([])
  }
})

test('a wider rule hides the stricter one for a tool, an agent or an effect below it', () => {
  const requires = { quorum: 2 }
  for (const match of [{}, { tool: 'bank.*' }, { effect: 'write' as const }]) {
    expect(warn({ match }, { match: { tool: 'bank.refund', effect: 'write', agent: 'desk' }, requires })).toHaveLength(1)
  }
})

test('the order of two rules whose conditions may both be true is warned about when the second is stricter', () => {
  const over = (amount: number) => ({ match: { tool: 'bank.refund', when: `args.amount > ${amount}` } })
  expect(warn(over(100), { ...over(500), requires: { quorum: 2 } })).toHaveLength(1)
  expect(warn({ ...over(500), requires: { quorum: 2 } }, over(100))).toEqual([])
})

test('rules for different tools, effects, agents or people, and rules that do not ask, hide nothing', () => {
  const requires = { quorum: 2 }
  expect(warn(REFUND, { match: { tool: 'bank.transfer' }, requires })).toEqual([])
  expect(warn({ match: { effect: 'read' } }, { match: { effect: 'write' }, requires })).toEqual([])
  expect(warn({ match: { agent: 'desk' } }, { match: { agent: 'bot' }, requires })).toEqual([])
  expect(warn({ ...REFUND, verdict: 'deny' }, { ...REFUND, requires })).toEqual([])
  const [east, west] = ['east', 'west'].map((region) => ({
    match: { tool: 'bank.refund', when: `args.region == "${region}"` },
    requires: { roles: [region] },
  }))
  expect(warn(east ?? {}, west ?? {})).toEqual([])
})
