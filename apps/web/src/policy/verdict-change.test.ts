import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readRules, setField } from './rule-text.ts'
import { type Before, changeVerdict } from './verdict-change.ts'

const TEXT = `default: ask
rules:
  # Agreed with finance, 3 May.
  - name: large refunds
    match: { tool: shop.refund }
    verdict: ask
    requires: { quorum: 2, roles: [finance] } # since the audit
    expires: P7D
    escalate: { after: P1D, roles: [cfo] }
    risk: high
`

const to = (verdict: string, text: string, before?: Before) => {
  const [rule] = readRules(text) ?? []
  if (!rule) throw new Error('no rule')
  return changeVerdict(text, { index: 0, rule, verdict }, before)
}

test('a rule that allows or denies has no parts for people; its risk, conditions and comments stay', () => {
  const allowed = to('allow', TEXT)
  expect(parse(allowed.text).rules).toEqual([{ name: 'large refunds', match: { tool: 'shop.refund' }, verdict: 'allow', risk: 'high' }])
  expect(allowed.text).toContain('# Agreed with finance, 3 May.')
  const denied = setField(to('deny', TEXT).text, 0, 'reason', 'too much')
  expect(parse(to('allow', denied).text).rules[0]).not.toHaveProperty('reason')
})

test('the first verdict brings its parts back: as they were written, and also after other changes and by way of a third verdict', () => {
  const allowed = to('allow', TEXT)
  expect(to('ask', allowed.text, allowed.before)).toEqual({ text: TEXT, before: undefined })
  const denied = to('deny', setField(allowed.text, 0, 'risk', 'critical'), allowed.before)
  const asks = to('ask', setField(denied.text, 0, 'reason', 'too much'), denied.before).text
  expect(parse(asks).rules[0]).toEqual({ ...parse(TEXT).rules[0], risk: 'critical' })
})
