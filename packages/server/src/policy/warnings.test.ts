import { PolicyDocument } from '@countersign/core'
import { expect, test } from 'vitest'
import { withTurns } from '../../../../verification/testing/with-turns.ts'
import { warningsAbout } from './warnings.ts'

test('what very many rules name is looked for in every tool, and other requests are served meanwhile', async () => {
  const properties = { amount: { type: 'number' } }
  const tools = Array.from({ length: 50 }, (_, n) => ({
    ...{ name: `bank.tool${n}`, group: 'bank', effect: 'write' as const },
    inputSchema: { type: 'object', properties },
  }))
  const rules = Array.from({ length: 300 }, (_, n) => ({ name: `r${n}`, match: { when: `args.amuont${n} > 5` }, verdict: 'ask' }))
  const { result, turns } = await withTurns(() => warningsAbout(PolicyDocument.parse({ rules }), { roles: undefined, tools }))
  expect(result[7]).toMatchObject({ rule: 'r7', path: ['rules', 7, 'match', 'when'], at: 0 })
  expect(result).toHaveLength(300)
  expect(turns).toBeGreaterThan(5)
})

test('a rule that asks or escalates to the role member is warned of: that role decides nothing', async () => {
  const rule = {
    ...{ name: 'pay', match: { tool: 'bank.pay' }, verdict: 'ask' },
    ...{ requires: { roles: ['member', 'approver'] }, escalate: { after: 'PT1H', roles: ['member'] } },
  }
  const text = 'names the role member, which decides nothing'
  expect(await warningsAbout(PolicyDocument.parse({ rules: [rule] }), { roles: undefined, tools: undefined })).toEqual([
    { rule: 'pay', path: ['rules', 0, 'requires', 'roles'], text },
    { rule: 'pay', path: ['rules', 0, 'escalate', 'roles'], text },
  ])
})
