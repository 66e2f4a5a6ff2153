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
