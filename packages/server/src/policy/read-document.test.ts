import { expect, test } from 'vitest'
import { LineCounter, parseDocument, visit } from 'yaml'
import { cpuTimeMs } from '../../../../verification/testing/cpu-time.ts'
import { checkPolicy } from './read-document.ts'
import { linesOf } from './yaml-lines.ts'

const world = { tools: { mayFit: () => true, all: () => [] }, agents: [] }
const problemsOf = (text: string) => checkPolicy(text, world).problems.map(({ message }) => message)

test.each([
  ['default: ask\nrules: []\ndefault: deny', 'line 3: Map keys must be unique'],
  ['{"rules": [{"name": "a", "match": {}, "verdict": "deny", "verdict": "allow"}]}', 'line 1: Map keys must be unique'],
  ['rules:\n  - name: a\n    match: { tool: x, "tool": y }\n    name: b', 'line 3: Map keys must be unique'],
  ['rules:\n  - { name: a, name: b }\nrules: @x', 'line 2: Map keys must be unique'],
  ['? [a]\n: 1\n? [a]\n: 2\n1: x\n1: y', 'line 6: Map keys must be unique'],
  ['a: @x\na: 1', 'line 1: Plain value cannot start with reserved character @; a text that begins with @, ` or % needs quotes'],
])('a key that is there twice is refused with its line: %s', (text, problem) => {
  expect(problemsOf(text)).toEqual([problem])
  // The parser agrees.
  const [first] = parseDocument(text).errors
  expect(`line ${first?.linePos?.[0].line}: ${first?.message.split(' at line')[0]}`).toBe(problem.split('; ')[0])
})

test('a key that is written as an alias is there twice where its value is', () => {
  const first = 'rules:\n  - { name: a, match: {}, &v verdict: ask }\n'
  expect(problemsOf(`${first}  - { name: b, match: {}, verdict: deny, *v : allow }`)).toEqual(['line 3: Map keys must be unique'])
  expect(problemsOf(`${first}  - { *v : allow, name: b, match: {}, verdict: deny }`)).toEqual(['line 3: Map keys must be unique'])
  expect(problemsOf('rules:\n  - { name: &n match, match: {}, *n : { tool: a }, verdict: ask }')).toEqual([
    'line 2: Map keys must be unique',
  ])
  // An anchor that is set again stands for its last value.
  const again = 'default: &v ask\nrules:\n  - { name: a, match: {}, &v verdict: ask }\n  - { name: b, match: {}, *v : deny }'
  expect(checkPolicy(again, world)).toMatchObject({ problems: [], document: { rules: [{}, { verdict: 'deny' }] } })
})

/** A line for each number. */
const numbered = (count: number, line: (n: number) => string) => Array.from({ length: count }, (_, n) => line(n)).join('\n')

test('a text with very many keys, aliases or faults does not hold up the server', () => {
  const startedAt = cpuTimeMs()
  expect(problemsOf(`${numbered(33_000, (n) => `k${n}: 1`)}\nk7: 1`)).toEqual(['line 33001: Map keys must be unique'])
  expect(problemsOf(numbered(19_000, (n) => `- &a${n} 1\n- *a${n}`))).toEqual(['has more than 1,000 aliases, such as *name'])
  expect(problemsOf(numbered(12_000, (n) => `&a${n} k${n}: { *a${n} : 1 }`))).toEqual(['has more than 1,000 aliases, such as *name'])
  expect(problemsOf('&a '.repeat(99_000))).toEqual(['line 1: A node can have at most one anchor'])
  // With each key compared to all others it is more than 10 s.
  expect(cpuTimeMs() - startedAt).toBeLessThan(9_000)
})

test('a text with more parts than any policy has is refused before it is parsed', () => {
  const problem = 'has more than 100,000 parts: names, values, and marks such as : and {'
  expect(problemsOf('{a}'.repeat(133_333))).toEqual([problem])
  expect(problemsOf(`[${','.repeat(399_999)}`)).toEqual([problem])
  expect(problemsOf(']'.repeat(100_001))).toEqual([problem])
  expect(problemsOf(']'.repeat(100_000))).toEqual([expect.stringContaining('line 1: Unexpected flow-seq-end token')])
  // Comments, blank lines and white space are none.
  expect(problemsOf(`${'# why\n\n'.repeat(55_000)}rules: []`)).toEqual([])
})

test('a policy as large as one may be, with everything in its rules, is read', () => {
  const rule = (n: number) => `- name: rule ${n}
  match: { tool: 'shop.*', effect: write, agent: desk, when: 'args.amount > ${n} && agent.name == "desk"' }
  verdict: ask
  requires: { quorum: 2, declineQuorum: 1, roles: [finance, legal], notRequester: true, grace: PT10S }
  expires: PT4H
  extend: PT1H
  remind: PT30M
  escalate: { after: PT2H, roles: [lead] }
  risk: high`
  const text = `default: deny\nrules:\n${numbered(700, rule)}`
  const anyAgent = { ...world, agents: ['desk'] }
  for (const given of [text, JSON.stringify(checkPolicy(text, anyAgent).document)]) {
    expect(checkPolicy(given, anyAgent)).toMatchObject({ problems: [], document: { rules: { length: 700 } } })
  }
})

test('errors made after a policy was read tell again where they were made', () => {
  problemsOf('{a}{b}')
  problemsOf(']')
  expect(new Error('x').stack).toContain('read-document.test.ts')
})

test('the lines of very many faults cost one look at each key', () => {
  const counter = new LineCounter()
  const document = parseDocument(`- &a { ${numbered(500, (n) => `  k${n}: 1,`)} }\n${'- *a\n'.repeat(100)}`, { lineCounter: counter })
  let looks = 0
  visit(document, {
    Pair(_, pair) {
      const { key } = pair
      Object.defineProperty(pair, 'key', {
        get() {
          looks++
          return key
        },
      })
    },
  })
  const lineOf = linesOf(document, counter)
  for (let entry = 0; entry <= 100; entry++) {
    for (let key = 0; key < 500; key++) expect(lineOf([entry, `k${key}`])).toBe(key + 1)
  }
  // Every pair that is found is asked for its place; with a search from the first key on it is 38 million.
  expect(looks).toBeLessThan(250_000)
})

test('an alias stands for the value of its anchor', () => {
  const text = 'rules:\n  - { name: a, match: &all { effect: read }, verdict: allow }\n  - { name: b, match: *all, verdict: deny }'
  expect(checkPolicy(text, world)).toMatchObject({ problems: [], document: { rules: [{}, { match: { effect: 'read' } }] } })
})
