import type { PolicyDocument } from '@countersign/core'
import { expect, test } from 'vitest'
import { usualVerdict } from './rules-about.ts'

const tool = { name: 'refund', group: 'shop', effect: 'write', registered: undefined } as const

test('a rule that would allow some calls may decide otherwise than one that allows all: where its condition fails, it asks', () => {
  const all = { name: 'refunds run', match: { tool: 'refund' }, verdict: 'allow' } as const
  const small = { name: 'small ones run', match: { tool: 'refund', when: 'args.amount < 5' }, verdict: 'allow' } as const
  const ofDesk = { name: 'those of desk run', match: { tool: 'refund', agent: 'desk' }, verdict: 'allow' } as const
  const usual = (rules: PolicyDocument['rules']) => usualVerdict({ default: 'ask', rules }, tool)
  for (const rules of [
    [all, small],
    [small, all],
  ])
    expect(usual(rules)).toEqual({ verdict: 'allow', rule: 'refunds run', mayDiffer: 1 })
  // A rule without a condition cannot fail, and where every call asks, one that fails asks no more.
  expect(usual([all, ofDesk])).toMatchObject({ mayDiffer: 0 })
  expect(usual([{ ...all, verdict: 'ask' }, small])).toMatchObject({ verdict: 'ask', mayDiffer: 0 })
})
