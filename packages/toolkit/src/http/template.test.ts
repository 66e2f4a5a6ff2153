import type { JsonObject, JsonValue } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fillJson, fillWords, namesBefore, namesIn, readJsonTemplate, readTemplate, readWords, textsIn } from './template.ts'

const words = (text: string, args: JsonObject) => fillWords(readTemplate(text), args)
const json = (template: JsonValue, args: JsonObject) => fillJson(readJsonTemplate(template), args)

test('a template puts values where its placeholders are, and nowhere else', () => {
  expect(words('Set order {orderId} to {newStatus}', { orderId: 'O-1', newStatus: '{orderId}' })).toBe('Set order O-1 to {orderId}')
  expect(words('{{literal}} costs $' + '{amount}', { amount: 5 })).toBe('{literal} costs $5')
  expect(words('{items}', { items: [{ sku: 'A' }] })).toBe('[{"sku":"A"}]')
})

test('words in [ ] vanish with a value that is missing or empty; what stands outside stays', () => {
  const place = (args: JsonObject) => fillWords(readWords('Place an order[ for {name}][, {email}]: [[{count}]]'), args)
  expect(place({ name: 'Ada', email: 'ada@example.com', count: 2 })).toBe('Place an order for Ada, ada@example.com: [2]')
  expect(place({ email: 'a@b.example', count: 0 })).toBe('Place an order, a@b.example: [0]')
  for (const empty of [undefined, null, '', []])
    expect(place({ ...(empty === undefined ? {} : { name: empty }), count: 1 })).toBe('Place an order: [1]')
  expect(place({})).toBe('Place an order: [(none)]')
  expect(fillWords(readWords('[{a} of {b}]'), { a: 1 })).toBe('')
})

test('a bracket without its other half, in another one or around no value is refused', () => {
  for (const text of ['[', ']', '[{a}', '{a}]', '[[{a}]', '[{a}[{b}]]', '][']) expect(() => readWords(text), text).toThrow(/lone/)
  expect(() => readWords('Pay [now]')).toThrow(/without a \{name\}/)
})

test('a placeholder reads own members only', () => {
  expect(words('{constructor} {toString}', {})).toBe('(none) (none)')
  expect(json({ a: '{constructor}' }, {})).toEqual({})
})

test('a brace that is no placeholder is refused', () => {
  for (const text of ['{', '}', '{ }', '{}', '{a b}', '{a', 'a}', '{result.}', '{1a}', '{a.b}'])
    expect(() => readTemplate(text), text).toThrow(/lone/)
})

test('a string that is one placeholder keeps the type of its value; in a text it is text', () => {
  for (const value of [1, true, null, 'x', [1], { a: 1 }]) {
    expect(json({ field: '{v}' }, { v: value })).toEqual({ field: value })
    expect(json({ field: 'v={v}' }, { v: value })).toEqual({ field: `v=${typeof value === 'string' ? value : JSON.stringify(value)}` })
  }
})

test('what depends on an absent value is left out, and only that', () => {
  const template = { a: '{x}', b: 'has {x} in it', c: ['{x}', '{y}', 1], d: { e: '{x}', f: null } }
  expect(json(template, { y: 'Y' })).toEqual({ c: ['Y', 1], d: { f: null } })
  expect(json('{x}', {})).toBeUndefined()
})

test('any text without braces is its own template', () => {
  fc.assert(
    fc.property(fc.string(), fc.dictionary(fc.string(), fc.string()), (text, args) => {
      const escaped = text.replaceAll('{', '{{').replaceAll('}', '}}')
      expect(json(escaped, args)).toBe(text)
    }),
  )
})

test('a value never becomes a template: filling is one pass', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      expect(json({ out: '{a}|{b}' }, { a, b })).toEqual({ out: `${a}|${b}` })
    }),
  )
})

test('a body of JSON without braces in its texts is sent as it stands', () => {
  const text = fc.string().map((any) => any.replaceAll(/[{}]/g, ''))
  const { tree } = fc.letrec<{ tree: JsonValue; leaf: JsonValue }>((tie) => ({
    tree: fc.oneof({ maxDepth: 4 }, tie('leaf'), fc.array(tie('tree')), fc.dictionary(fc.string(), tie('tree'))),
    leaf: fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
  }))
  fc.assert(
    fc.property(tree, (body) => {
      expect(textsIn(readJsonTemplate(body)).flatMap(namesIn)).toEqual([])
      expect(JSON.stringify(json(body, { a: 1 }))).toBe(JSON.stringify(body))
    }),
  )
})

test('words may name what is read before, inside of brackets: quoted, in one line, and gone where nothing was read', () => {
  const words = readWords('Cancel order {id}[ of {before.customer.name}][, {before.items} items]', true)
  expect(namesIn(words)).toEqual(['id'])
  expect(namesBefore(words)).toBe(true)
  const fill = (before?: JsonValue) => fillWords(words, { id: 7 }, before)
  expect(fill({ customer: { name: 'Ana' }, items: 3 })).toBe('Cancel order 7 of “Ana”, 3 items')
  expect(fill({ customer: { name: 'A” of “B\n{id} [x]' } })).toBe('Cancel order 7 of “A" of "B {id} [x]”')
  expect(fill({ customer: { name: 'x'.repeat(500) } })).toHaveLength('Cancel order 7 of “”'.length + 80)
  const nothing: (JsonValue | undefined)[] = [undefined, null, [], {}, { customer: null }, { customer: { name: '' } }]
  for (const before of [...nothing, { customer: { name: { a: 1, b: 2 } } }, { items: [1] }]) expect(fill(before)).toBe('Cancel order 7')
  expect(fillWords(words, { id: 7 }, { items: true })).toBe('Cancel order 7, true items')
  expect(() => readWords('Cancel the order of {before.name}', true)).toThrow(/outside of \[ \]/)
  expect(() => readWords('Cancel[ of {before.name}]')).toThrow(/only describe can/)
  expect(() => readTemplate('/orders/{before.id}')).toThrow(/only describe can/)
})

test('a long value is cut between characters: half of one would keep the words from being hashed, and the target from being read', () => {
  for (const length of [198, 199, 200]) {
    const filled = words('Refund with the note {note}', { note: `${'x'.repeat(length)}😀 and more` })
    expect(filled.isWellFormed(), String(length)).toBe(true)
    expect(filled).toContain(' more characters)')
  }
})
