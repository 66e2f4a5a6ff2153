import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { addRule, fieldPath, readRules, removeRule, setField } from './rule-text.ts'

const TEXT = `# Who may do what. Ask Ana before you loosen anything.
default: ask # never allow
rules:
  - name: reads run
    match: { effect: read }
    verdict: allow
  # Agreed with finance, 3 May.
  - name: large refunds
    match:
      tool: shop.refund
      when: args.amount > 500 # euros
    verdict: ask
    requires: { quorum: 2 }
`

test('a field changes what it names and nothing else: comments, order and the other parts stay', () => {
  expect(setField(TEXT, 1, 'when', 'args.amount > 800')).toBe(TEXT.replace('> 500', '> 800'))
  expect(setField(TEXT, 0, 'effect', 'write')).toBe(TEXT.replace('effect: read', 'effect: write'))
  expect(setField(TEXT, 1, 'verdict', 'deny')).toBe(TEXT.replace('verdict: ask', 'verdict: deny'))
})

test('the form reads what the text says, and the text reads what the form says', () => {
  const [reads, refunds] = readRules(TEXT) ?? []
  expect(reads).toEqual({ name: 'reads run', verdict: 'allow', tool: '', effect: 'read', agent: '', when: '', reason: '' })
  expect(refunds).toMatchObject({ tool: 'shop.refund', when: 'args.amount > 500' })
  const hard = 'args.note == "a: b # c" && args.x in [1, "two"]'
  const changed = setField(TEXT, 1, 'when', hard)
  expect(readRules(changed)?.[1]?.when).toBe(hard)
  expect(parse(changed).rules[1].match.when).toBe(hard)
})

test('an emptied field is left out, a rule keeps its match, and one that is written as a number stays readable', () => {
  const without = setField(TEXT, 0, 'effect', '')
  expect(parse(without).rules[0]).toEqual({ name: 'reads run', match: {}, verdict: 'allow' })
  expect(parse(setField('rules:\n  - verdict: deny\n', 0, 'tool', '')).rules[0]).toEqual({ verdict: 'deny', match: {} })
  expect(readRules('rules: [{ name: 7 }]')?.[0]?.name).toBe('7')
})

test('a new rule asks, has a name of its own, and goes to the end; one is removed with nothing else', () => {
  const twice = addRule(addRule(TEXT))
  expect(parse(twice).rules.slice(2)).toEqual([
    { name: 'new rule', match: {}, verdict: 'ask' },
    { name: 'new rule 2', match: {}, verdict: 'ask' },
  ])
  expect(twice.startsWith(TEXT.trimEnd())).toBe(true)
  expect(removeRule(removeRule(twice, 3), 2)).toBe(TEXT)
  expect(parse(addRule('default: deny\n')).rules).toHaveLength(1)
  expect(addRule('rules: []\n')).toContain('rules:\n  - name')
})

test('JSON stays readable, and a text that cannot be read is left alone', () => {
  const json = '{ "rules": [ { "name": "a", "match": {}, "verdict": "ask" } ] }'
  expect(parse(setField(json, 0, 'tool', 'shop.*')).rules[0].match).toEqual({ tool: 'shop.*' })
  for (const broken of ['rules: [', 'just text', 'rules: {}', 'rules: [a]', 'rules: [{ match: a }]', '- a']) {
    expect(readRules(broken)).toBeUndefined()
  }
  expect(setField('rules: [', 0, 'tool', 'x')).toBe('rules: [')
})

test('a field is found by the place that an error of the server names', () => {
  expect([fieldPath(2, 'when'), fieldPath(0, 'name')]).toEqual(['rules.2.match.when', 'rules.0.name'])
})
