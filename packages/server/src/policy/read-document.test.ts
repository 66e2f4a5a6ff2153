import { expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { cpuTimeMs } from '../../../../verification/testing/cpu-time.ts'
import { checkPolicy } from './read-document.ts'

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

test('a text with very many keys, aliases or faults does not hold up the server', () => {
  const numbered = (line: (n: number) => string) => Array.from({ length: 50_000 }, (_, n) => line(n)).join('\n')
  const startedAt = cpuTimeMs()
  expect(problemsOf(`${numbered((n) => `k${n}: 1`)}\nk7: 1`)).toEqual(['line 50001: Map keys must be unique'])
  expect(problemsOf(numbered((n) => `- &a${n} 1\n- *a${n}`))).toEqual(['has more than 1,000 aliases, such as *name'])
  expect(problemsOf(numbered((n) => `&a${n} k${n}: { *a${n} : 1 }`))).toEqual(['has more than 1,000 aliases, such as *name'])
  expect(problemsOf('&a '.repeat(260_000))).toEqual(['line 1: A node can have at most one anchor'])
  // With each key compared to all others it is more than 30 s, and so it is with the whole line in each fault.
  expect(cpuTimeMs() - startedAt).toBeLessThan(15_000)
})

test('an alias stands for the value of its anchor', () => {
  const text = 'rules:\n  - { name: a, match: &all { effect: read }, verdict: allow }\n  - { name: b, match: *all, verdict: deny }'
  expect(checkPolicy(text, world)).toMatchObject({ problems: [], document: { rules: [{}, { match: { effect: 'read' } }] } })
})
