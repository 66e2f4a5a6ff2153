import type { Action } from '@countersign/client'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cellText, commonTitle, fitsTitle, shapesOf } from './shape.ts'

const action = (id: string, args: { order: number; status: string; note?: string }, more: object = {}): Action =>
  ({
    id,
    tool: 'setStatus',
    description: `Set order ${args.order} to ${args.status}`,
    arguments: args,
    policy: { rule: 'writes' },
    requires: { quorum: 1 },
    risk: { level: 'medium' },
    executor: 'server',
    ...more,
  }) as unknown as Action

test('sentences have in common what they begin and end with; the rest is an ellipsis', () => {
  expect(commonTitle(['Set order 1 to cancelled', 'Set order 2 to cancelled'])).toBe('Set order … to cancelled')
  expect(commonTitle(['Pay Ada', 'Pay Ada'])).toBe('Pay Ada')
  expect(commonTitle(['Pay Ada', 'Pay Ada twice'])).toBe('Pay Ada …')
  expect(commonTitle(['Pay a a', 'Pay a'])).toBe('Pay a …')
  expect(commonTitle(['One', 'Two'])).toBe('…')
  expect(commonTitle(['Only this'])).toBe('Only this')
  expect(commonTitle(['Pay a b', 'Pay  a  b', 'Pay a b'])).toBe('Pay a b')
  expect(commonTitle(['a b', 'a  b', 'a b a b'])).toBe('a b …')
  expect(commonTitle(['Set 1 to x', 'Set 2 to x', 'Set 3 to x', 'Set 4 to y'])).toBe('Set …')
  expect(commonTitle(['Set 1 to x', 'Set 2 to x', 'Set to x', 'Set 4 5 to x'])).toBe('Set … to x')
})

test('where a sentence fits a title, the title stays the same with it', () => {
  expect(fitsTitle('Set order … to cancelled', 'Set order 3 to cancelled')).toBe(true)
  expect(fitsTitle('Set order … to cancelled', 'Set order 3 to shipped')).toBe(false)
  const sentence = fc.array(fc.constantFrom('a', 'b', '…', ' ', 'a…'), { minLength: 1, maxLength: 6 }).map((words) => words.join(' '))
  fc.assert(
    fc.property(fc.array(sentence, { minLength: 1, maxLength: 4 }), sentence, (known, next) => {
      const title = commonTitle(known)
      if (fitsTitle(title, next)) expect(commonTitle([...known, next])).toBe(title)
    }),
  )
})

test('actions are of one shape with the same tool, rule, requirements, risk and names of arguments; what differs is a column', () => {
  const alike = [action('a', { order: 1, status: 'done' }), action('b', { order: 2, status: 'done' })]
  const others = [
    action('c', { order: 3, status: 'done' }, { tool: 'other' }),
    action('d', { order: 3, status: 'done' }, { policy: { rule: 'another' } }),
    action('e', { order: 3, status: 'done' }, { requires: { quorum: 2 } }),
    action('f', { order: 3, status: 'done' }, { risk: { level: 'high' } }),
    action('g', { order: 3, status: 'done', note: 'x' }),
  ]
  const [first, ...rest] = shapesOf([...alike, ...others])
  expect(first).toEqual({ title: 'Set order … to done', actions: alike, columns: ['order'], same: ['status'] })
  expect(rest.map(({ actions }) => actions.map(({ id }) => id))).toEqual([['c'], ['d'], ['e'], ['f'], ['g']])
})

test('of an action that is alone in its shape every argument is shown, and a text is shown unlike a number', () => {
  const [alone] = shapesOf([action('a', { order: 1, status: 'done', note: '1' })])
  expect(alone).toMatchObject({ columns: [], same: ['order', 'status', 'note'] })
  const [one] = alone?.actions ?? []
  expect(one && alone?.same.map((name) => cellText(one, name))).toEqual(['1', 'done', '"1"'])
})

test('a title keeps what only looks like a space, so that it is spelled out as on the card', () => {
  const odd = 'Delete a\ufeffb\u00a0c\u2028d\ne'
  expect(commonTitle([odd])).toBe(odd)
  expect(commonTitle([`${odd} 1`, `${odd} 2`])).toBe(`${odd} …`)
})
