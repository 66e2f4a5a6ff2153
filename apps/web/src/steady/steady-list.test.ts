import { expect, test } from 'vitest'
import { holdList } from './steady-list.ts'

type Row = { id: string; text: string }
const row = (id: string, text = id): Row => ({ id, text })
const idOf = (each: Row) => each.id

test('a held list neither inserts, removes nor reorders', () => {
  const held = holdList([row('a'), row('b'), row('c')], [row('new'), row('c'), row('a')], idOf)
  expect(held.shown.map(idOf)).toEqual(['a', 'b', 'c'])
  expect(held).toMatchObject({ fresh: [row('new')], gone: [row('b')] })
})

test('a held row still shows its latest value', () => {
  expect(holdList([row('a', 'proposed')], [row('a', 'approved')], idOf).shown).toEqual([row('a', 'approved')])
})

test('a row that left the real list stays with its last value', () => {
  expect(holdList([row('a', 'proposed')], [], idOf)).toEqual({ shown: [row('a', 'proposed')], fresh: [], gone: [row('a', 'proposed')] })
})

test('a row that comes behind the last one is let in, for it moves nothing', () => {
  const held = holdList([row('a'), row('b')], [row('first'), row('a'), row('between'), row('b'), row('last')], idOf)
  expect(held.shown.map(idOf)).toEqual(['a', 'b', 'last'])
  expect(held.fresh.map(idOf)).toEqual(['first', 'between'])
})

test('a held row keeps what belongs to its place', () => {
  const keep = (before: Row, latest: Row) => ({ ...latest, text: `${before.text} ${latest.text}` })
  const held = holdList([row('a', 'old'), row('b')], [row('b'), row('a', 'new')], idOf, keep)
  expect(held.shown).toEqual([row('a', 'old new'), row('b', 'b b')])
})
