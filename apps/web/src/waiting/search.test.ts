import type { Action } from '@countersign/client'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matches, prepareSearch, readSearch } from './search.ts'

test('words, terms and quoted text are told apart', () => {
  expect(readSearch('refund tool:bank agent:"night shift" risk:HIGH by:Ada assigned:finance older:2h "ORD: 7"')).toEqual({
    words: ['refund', 'ORD: 7'],
    tool: 'bank',
    agent: 'night shift',
    risk: 'high',
    by: 'Ada',
    assigned: 'finance',
    olderMs: 7_200_000,
    problems: [],
  })
  expect(readSearch('10:30 a\\"b "a \\"b\\" \\\\"').words).toEqual(['10:30', 'a\\"b', 'a "b" \\'])
  expect(readSearch('older:30m').olderMs).toBe(1_800_000)
  expect(readSearch('older:3d').olderMs).toBe(3 * 86_400_000)
})

test('a term that is not known is named, with those that are, and the rest still counts', () => {
  const { words, problems } = readSearch('refund sate:open https://shop.example')
  expect(words).toEqual(['refund'])
  expect(problems).toEqual([
    'sate: is no search term. Use tool:, agent:, risk:, by:, assigned: or older:, or put the text in quotes.',
    'https: is no search term. Use tool:, agent:, risk:, by:, assigned: or older:, or put the text in quotes.',
  ])
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    expect(readSearch(`${name}:x`).problems.length + readSearch(`${name}:x`).words.length).toBe(1)
})

test('a value that a term does not take is said, with those that it does', () => {
  expect(readSearch('risk:hihg older:soon').problems).toEqual([
    'risk: is one of low, medium, high, critical.',
    'older: is a number with m, h, d or w, such as older:2h.',
  ])
})

test('a term that is only begun leaves nothing out', () => {
  for (const text of ['', '  ', 'tool:', 'risk:', 'by:""', '"']) expect(readSearch(text), text).toEqual({ words: [], problems: [] })
  for (const text of ['x', 'tool:x', 'older:1m']) expect(readSearch(text), text).not.toEqual({ words: [], problems: [] })
})

const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`

test('whatever is quoted is found again as it was written, in any order of terms', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  const written = fc.record(
    { tool: text, agent: text, by: text, risk: fc.constantFrom('low', 'medium', 'high', 'critical'), words: fc.array(text) },
    { requiredKeys: ['words'] },
  )
  fc.assert(
    fc.property(written, fc.infiniteStream(fc.nat()), ({ words, ...terms }, numbers) => {
      const parts = [...words.map((word) => quote(word)), ...Object.entries(terms).map(([key, value]) => `${key}:${quote(value)}`)]
      const keyed = parts.map((part, at) => ({ part, at, key: words.length > at ? -1 : (numbers.next().value ?? 0) }))
      const line = keyed
        .sort((a, b) => a.key - b.key || a.at - b.at)
        .map(({ part }) => part)
        .join(' ')
      expect(readSearch(line)).toEqual({ words, ...terms, problems: [] })
    }),
  )
})

test('whatever is typed is read, and every sentence about it ends', () => {
  const typed = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom('tool:', 'risk:', 'older:', 'x:', '"', '\\', ' ', 'a', '1h', ':', '\n')).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(typed, (text) => {
      const { words, problems } = readSearch(text)
      expect(words.every((word) => word !== '')).toBe(true)
      expect(problems.every((problem) => problem.endsWith('.'))).toBe(true)
    }),
  )
})

const action = (more: object): Action =>
  ({
    description: 'Refund €12.00 to Ada',
    arguments: { order: 'ORD-7' },
    tool: 'bank.refund',
    agent: 'desk',
    risk: { level: 'high' },
    requesters: [{ id: 'prn_key', personId: 'prn_1', name: 'Grace Hopper' }],
    createdAt: '2026-11-21T10:00:00.000Z',
    ...more,
  }) as unknown as Action
const reader = { id: 'prn_1', nowMs: Date.parse('2026-11-21T12:00:00.000Z') }

test('an action matches when each part of the search does', () => {
  const finds = (text: string, more = {}) => matches(action(more), readSearch(text), reader)
  for (const text of ['', 'ada REFUND', 'ord-7', 'tool:Refund', 'agent:des', 'by:hopper', 'by:me', 'risk:high', 'older:2h', '"to ada"']) {
    expect(finds(text), text).toBe(true)
  }
  for (const text of ['bob', 'ada bob', 'tool:shop', 'agent:x', 'by:lin', 'risk:low', 'older:121m', '"ada to"', 'ada risk:low']) {
    expect(finds(text), text).toBe(false)
  }
  expect(finds('agent:desk', { agent: null })).toBe(false)
  expect(finds('by:me', { requesters: [{ id: 'prn_2', name: 'Lin' }] })).toBe(false)
  const path = { arguments: { command: String.raw`copy C:\Users\Max "Größe"` } }
  for (const text of [String.raw`users\MAX`, String.raw`"C:\\Users"`, String.raw`"\"GRÖßE\""`]) expect(finds(text, path), text).toBe(true)
  const assigned = (assignment: object | null | undefined) => ({ assignment })
  const person = (id: string, name: string) => assigned({ person: { id, name } })
  for (const [text, more] of [
    ['assigned:me', person('prn_1', 'Grace Hopper')],
    ['assigned:lin', person('prn_2', 'Lin')],
    ['assigned:fin', assigned({ role: 'finance' })],
  ] as const)
    expect(finds(text, more), text).toBe(true)
  for (const more of [person('prn_2', 'Lin'), assigned({ role: 'finance' }), assigned(null), {}])
    expect(finds('assigned:me', more)).toBe(false)
})

test('me is who searches, and nobody whose name has it in it', () => {
  const finds = (text: string, more = {}) => matches(action(more), readSearch(text), reader)
  for (const text of ['by:me', 'by:Me', 'by:"me"']) expect(finds(text, { requesters: [{ id: 'prn_2', name: 'James' }] }), text).toBe(false)
  for (const assignment of [{ role: 'payments' }, { person: { id: 'prn_2', name: 'James' } }])
    expect(finds('assigned:me', { assignment }), JSON.stringify(assignment)).toBe(false)
  expect(finds('by:jame', { requesters: [{ id: 'prn_2', name: 'James' }] })).toBe(true)
  expect(finds('assigned:pay', { assignment: { role: 'payments' } })).toBe(true)
})

test('actions that were prepared for a search are put into words once, and no more of them after it is left', async () => {
  let reads = 0
  const action = (at: number): Action =>
    Object.defineProperty({ description: `Refund ${at}` } as Action, 'arguments', {
      get: () => {
        reads++
        return { order: at }
      },
    })
  const actions = Array.from({ length: 1_000 }, (_, at) => action(at))
  const leaving = new AbortController()
  const prepared = prepareSearch(actions, leaving.signal)
  const first = reads
  expect(first).toBeLessThan(500)
  leaving.abort()
  await prepared
  expect(reads).toBe(first)
  await prepareSearch(actions, new AbortController().signal)
  expect(reads).toBe(1_000)
  expect(actions.filter((action) => matches(action, readSearch('refund 77'), { id: 'prn_me', nowMs: 0 })).length).toBe(19)
  expect(reads).toBe(1_000)
})
