import { expect, test } from 'vitest'
import { createParameterNames, foldCase, isMethodOverride } from './name-spellings.ts'

test('names that differ in case only have one form, in every script', () => {
  const groups = [
    ['amount', 'Amount', 'AMOUNT'],
    // The long s and the sign of Kelvin, which Go takes for the letters.
    ['seek', '\u017feek', 'see\u212a'],
    ['straße', 'STRAẞE'],
    ['ὀδός', 'ὈΔΌΣ', 'ὀδόσ'],
  ]
  for (const group of groups) expect(new Set(group.map(foldCase)).size, group.join()).toBe(1)
  expect(new Set(groups.map(([name = '']) => foldCase(name))).size).toBe(groups.length)
})

test('two names of parameters that some services read as one are told, in either order', () => {
  const likeOf = (added: string, name: string) => {
    const names = createParameterNames()
    names.add(added)
    return names.like(name)
  }
  for (const [a, b] of [
    ['user_id', 'user.id'],
    ['user_id', 'User id'],
    ['user_id', 'user[id'],
    ['role', ' role'],
    ['role', 'role\0x'],
    ['role', 'ROLE[]'],
    ['filter[a]', 'filter'],
  ] as const) {
    expect(likeOf(a, b)).toBe(a)
    expect(likeOf(b, a)).toBe(b)
  }
  for (const [a, b] of [
    ['filter[a]', 'filter[b]'],
    ['user_id', 'userId'],
    ['role', 'roles'],
    ['[]', 'a'],
  ] as const)
    expect([likeOf(a, b), likeOf(b, a)]).toEqual([undefined, undefined])
})

test('the parameter that makes a POST another method is known in every spelling that PHP takes for it', () => {
  for (const name of ['_method', '_METHOD', '.method', ' _method', '[method', '_method\0x']) expect(isMethodOverride(name), name).toBe(true)
  for (const name of ['note_method', 'method', '_methods', '']) expect(isMethodOverride(name), name).toBe(false)
})
