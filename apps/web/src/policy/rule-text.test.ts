import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { addRule, fieldPath, moveRule, readRules, removeRule, setField, setVerdict } from './rule-text.ts'

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

// Written again, the first map has a line more and the list a line less each: the number of lines stays, and the lines do not.
const SHIFTED = `default: ask
rules:
  - name: big transfers need two
    match: { tool: bank.transfer, # incl. SEPA
      when: args.amount > 500 }
    verdict: ask
    requires: { quorum: 2 }
  - name: mails run
    match: { tool: mail.send }
    verdict: ask
    declineReasons: ["wrong address", "late",
      "wrong name",
      "wrong tone"]
  - name: refunds
    match: { tool: bank.refund,
      effect: write }
    verdict: ask
`

test('a change goes into the rule that it was made in, also where writing the document again moves its lines', () => {
  const [transfers, mails, refunds] = parse(SHIFTED).rules
  expect(parse(setField(SHIFTED, 0, 'risk', 'critical')).rules).toEqual([{ ...transfers, risk: 'critical' }, mails, refunds])
  expect(parse(setField(SHIFTED, 0, 'quorum', '3')).rules).toEqual([{ ...transfers, requires: { quorum: 3 } }, mails, refunds])
  expect(parse(setField(SHIFTED, 1, 'expires', 'PT1H')).rules).toEqual([transfers, { ...mails, expires: 'PT1H' }, refunds])
  expect(setField(SHIFTED, 0, 'risk', 'critical')).toContain('# incl. SEPA')
})

test('a comment is not lost where writing the document again moves its lines', () => {
  const text = `rules:
  - name: reads
    match:
      tool: a
      when: args.x > 1
        && args.y > 2
    verdict: ask
  - name: mails
    match: { tool: b,
      effect: write }
    verdict: ask
    requires:
      roles: [a, # x
        b]
  # Agreed with finance.
  - name: refunds
    match: { tool: c }
    verdict: ask
limits: { waitingPerAgent: 5,
  waitingPerSession: 3 }
`
  expect(moveRule(text, 0, 1)).toContain('  # Agreed with finance.\n  - name: refunds\n')
  expect(setField(text, 1, 'quorum', '3')).toContain('      quorum: 3\n  # Agreed with finance.\n')
})

test('whatever is changed, in whatever way the document is written, its text says the changed document', () => {
  const match = fc.constantFrom(
    ...['match: { tool: b, effect: write }', 'match: { tool: b,\n      effect: write }', 'match: {tool: b}'],
    ...['match:\n      { tool: b, # c\n        effect: write }', 'match: { tool: b, # c\n      effect: write }'],
    ...['match:\n      tool: b\n      # why\n      effect: write', 'match:\n      tool: b\n      when: args.x > 1\n        && args.y > 2'],
    ...['match:\n\n      tool: b\n      when: >-\n        args.x > 1\n        && args.y > 2'],
  )
  const more = fc.constantFrom(
    ...['', 'risk: high', 'requires: { quorum: 2,\n      roles: [a, b] }', 'requires: {quorum: 2, roles: [a,\n       b]}'],
    ...['requires:\n      roles: [a, # x\n        b]', 'requires:\n      roles:\n        - a # one\n        - b\n      quorum: 2'],
    ...['declineReasons: ["a b",\n      c]', 'declineReasons: ["a b",\n      c,\n      d]'],
    ...['requires: &people { roles: &roles [a, b], quorum: 2 }', 'requires: *people', 'requires:\n      roles: *roles # the same'],
    ...['risk: &risk high', 'risk: *risk', 'declineReasons: *roles'],
  )
  const rule = fc
    .record({ above: fc.constantFrom('', '  # about it\n', '\n'), match, more, name: fc.constantFrom('r', '"r"', 'r # n') })
    .map((of) => `${of.above}  - name: ${of.name}\n    ${of.match}\n    verdict: ask\n    ${of.more}`.trimEnd())
  const text = fc
    .tuple(fc.constantFrom('', 'expires: P1D\n', '# top\n'), fc.array(rule, { minLength: 3, maxLength: 3 }))
    .map(([head, rules]) => `default: ask\n${head}rules:\n${rules.join('\n')}\n`)
    // An alias needs its anchor above it.
    .filter((written) => readRules(written) !== undefined)
  const edits: [edit: (text: string) => string, wanted: (rules: Record<string, object | string>[]) => unknown][] = [
    [(text) => setField(text, 0, 'risk', 'low'), ([a, b, c]) => [{ ...a, risk: 'low' }, b, c]],
    [(text) => setField(text, 1, 'quorum', '3'), ([a, b, c]) => [a, { ...b, requires: { ...Object(b?.requires), quorum: 3 } }, c]],
    [(text) => setField(text, 0, 'declineReasons', 'x\ny\nz'), ([a, b, c]) => [{ ...a, declineReasons: ['x', 'y', 'z'] }, b, c]],
    [
      (text) => setField(text, 2, 'when', 'args.z == "q: #1"'),
      ([a, b, c]) => [a, b, { ...c, match: { ...Object(c?.match), when: 'args.z == "q: #1"' } }],
    ],
    [(text) => moveRule(text, 0, 1), ([a, b, c]) => [b, a, c]],
    [(text) => moveRule(text, 2, -1), ([a, b, c]) => [a, c, b]],
    [(text) => removeRule(text, 1), ([a, , c]) => [a, c]],
    [(text) => addRule(text), (rules) => [...rules, { name: 'new rule', match: {}, verdict: 'ask' }]],
  ]
  fc.assert(
    fc.property(text, fc.constantFrom(...edits), (written, [edit, wanted]) => {
      const before = parse(written)
      expect(parse(edit(written))).toEqual({ ...before, rules: wanted(before.rules) })
    }),
  )
})

const SHARED = `default: ask
rules:
  - name: refunds
    match: { tool: bank.refund, when: &big args.amount > 500 }
    verdict: ask
    requires: { roles: &fin [finance, cfo], quorum: 2 }
  - name: transfers
    match: { tool: bank.transfer, when: *big } # the same limit
    verdict: ask
    requires: { roles: *fin, quorum: 2 }
  - name: payouts
    match: { tool: bank.payout }
    verdict: ask
    requires: &two
      quorum: 2 # since the audit
      roles: *fin
  - name: loans
    match: { tool: bank.loan }
    verdict: ask
    requires: *two
`

test('a change of one rule is none of another that shares a limit, a list or people with it', () => {
  const [refunds, transfers, payouts, loans] = parse(SHARED).rules
  const rulesOf = (text: string) => parse(text).rules
  expect(readRules(SHARED)?.[3]).toMatchObject({ name: 'loans', quorum: '2', roles: 'finance\ncfo' })
  expect(rulesOf(setField(SHARED, 0, 'when', 'args.amount > 5000'))).toEqual([
    { ...refunds, match: { ...refunds.match, when: 'args.amount > 5000' } },
    ...[transfers, payouts, loans],
  ])
  expect(rulesOf(setField(SHARED, 0, 'roles', 'finance\nmember'))).toEqual([
    { ...refunds, requires: { ...refunds.requires, roles: ['finance', 'member'] } },
    ...[transfers, payouts, loans],
  ])
  expect(rulesOf(setField(SHARED, 2, 'quorum', '1'))).toEqual([
    ...[refunds, transfers],
    { ...payouts, requires: { ...payouts.requires, quorum: 1 } },
    loans,
  ])
  expect(rulesOf(setField(SHARED, 3, 'quorum', '1'))).toEqual([
    ...[refunds, transfers, payouts],
    { ...loans, requires: { ...loans.requires, quorum: 1 } },
  ])
  const { when: _, ...match } = refunds.match
  expect(rulesOf(setField(SHARED, 0, 'when', ''))).toEqual([{ ...refunds, match }, transfers, payouts, loans])
  const { requires: __, ...allowed } = refunds
  expect(rulesOf(setVerdict(SHARED, 0, 'allow'))).toEqual([{ ...allowed, verdict: 'allow' }, transfers, payouts, loans])
  expect(rulesOf(removeRule(SHARED, 0))).toEqual([transfers, payouts, loans])
  expect(rulesOf(moveRule(SHARED, 0, 1))).toEqual([transfers, refunds, payouts, loans])
})

test('a change that no other rule shares leaves the aliases as they are', () => {
  expect(setField(SHARED, 0, 'tool', 'bank.credit')).toBe(SHARED.replace('bank.refund', 'bank.credit'))
  expect(setField(SHARED, 1, 'when', 'args.amount > 50')).toBe(SHARED.replace('*big', 'args.amount > 50'))
  expect(removeRule(SHARED, 3)).toBe(SHARED.slice(0, SHARED.indexOf('  - name: loans')))
})

test('aliases without an end or without an anchor close the form', () => {
  const laughs = [
    'a: &a [x, x, x, x, x, x, x, x, x]',
    ...['b', 'c', 'd', 'e', 'f'].map((n, i) => `${n}: &${n} [${`*${'abcde'[i]}, `.repeat(9)}]`),
  ]
  for (const text of ['a: &a [*a]\nrules: []', `${laughs.join('\n')}\nrules: []`, 'rules: [{ name: *x }]']) {
    expect(readRules(text)).toBeUndefined()
    expect(addRule(text)).toBe(text)
  }
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
