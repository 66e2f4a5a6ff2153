import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { addRule, fieldPath, moveRule, readRules, removeRule, setField } from './rule-text.ts'

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
  expect(reads).toMatchObject({ name: 'reads run', verdict: 'allow', tool: '', effect: 'read', agent: '', when: '', reason: '', roles: '' })
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

const FULL = `rules:
  - name: large refunds
    match: { tool: shop.refund }
    verdict: ask
    requires:
      quorum: 2 # since the audit
      roles:
        - finance # the desk
        - treasury
      notRequester: true
    expires: PT1H
    escalate: { after: PT30M, roles: [cfo] }
    declineReasons: [too much, not ours]
    risk: high
`

test('people, times and risk are read and changed like the rest: numbers, lists and flags keep their kind, and entries their comments', () => {
  expect(readRules(FULL)?.[0]).toMatchObject({
    ...{ quorum: '2', declineQuorum: '', roles: 'finance\ntreasury', notRequester: 'true', grace: '', expires: 'PT1H', risk: 'high' },
    ...{ escalateAfter: 'PT30M', escalateRoles: 'cfo', declineReasons: 'too much\nnot ours' },
  })
  expect(setField(FULL, 0, 'quorum', '3')).toBe(FULL.replace('quorum: 2', 'quorum: 3'))
  expect(setField(FULL, 0, 'roles', 'finance\ncfo')).toBe(FULL.replace('- treasury', '- cfo'))
  expect(setField(FULL, 0, 'escalateRoles', 'cfo\nceo')).toBe(FULL.replace('[cfo]', '[ cfo, ceo ]'))
  expect(setField(FULL, 0, 'expires', '')).toBe(FULL.replace('    expires: PT1H\n', ''))
  const simple = 'rules:\n  - { name: a, match: {}, verdict: ask }\n'
  const filled = [
    ['quorum', '2'],
    ['roles', 'finance\nlegal'],
    ['notRequester', 'true'],
    ['remind', 'PT5M'],
    ['escalateAfter', 'PT1H'],
  ] as const
  const made = filled.reduce((text, [field, value]) => setField(text, 0, field, value), simple)
  expect(parse(made).rules[0]).toEqual({
    ...{ name: 'a', match: {}, verdict: 'ask', remind: 'PT5M', escalate: { after: 'PT1H' } },
    requires: { quorum: 2, roles: ['finance', 'legal'], notRequester: true },
  })
  // What the form has added it also takes away.
  expect(filled.reduce((text, [field]) => setField(text, 0, field, ''), made)).toBe(setField(simple, 0, 'remind', ''))
  expect(readRules(setField(simple, 0, 'quorum', 'two'))?.[0]?.quorum).toBe('two')
})

test('a rule moves with the comments above it, and the first and the last stay where they are', () => {
  const moved = moveRule(TEXT, 1, -1)
  expect(readRules(moved)?.map(({ name }) => name)).toEqual(['large refunds', 'reads run'])
  expect(moved).toMatch(/# Agreed with finance, 3 May\.\n {2}- name: large refunds/)
  expect(moveRule(moved, 0, 1)).toBe(TEXT)
  expect(moveRule(TEXT, 0, -1)).toBe(TEXT)
  expect(moveRule(TEXT, 1, 1)).toBe(TEXT)
})

test('JSON stays readable, and a text that cannot be read is left alone', () => {
  const json = '{ "rules": [ { "name": "a", "match": {}, "verdict": "ask" } ] }'
  expect(parse(setField(json, 0, 'tool', 'shop.*')).rules[0].match).toEqual({ tool: 'shop.*' })
  for (const broken of ['rules: [', 'just text', 'rules: {}', 'rules: [a]', 'rules: [{ match: a }]', 'rules: [{ requires: 2 }]', '- a']) {
    expect(readRules(broken)).toBeUndefined()
  }
  expect(setField('rules: [', 0, 'tool', 'x')).toBe('rules: [')
})

test('a field is found by the place that an error of the server names', () => {
  expect([fieldPath(2, 'when'), fieldPath(0, 'name')]).toEqual(['rules.2.match.when', 'rules.0.name'])
})
