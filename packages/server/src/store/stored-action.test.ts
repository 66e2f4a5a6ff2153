import { expect, test } from 'vitest'
import { argumentsOf, policyOf, wasAsked } from './stored-action.ts'

const row = () => ({ policy: '{"verdict":"ask"}', arguments: '{"order":{"id":1}}' })

test('a policy is parsed once for all rows that share it, and cannot be changed', () => {
  const one = row()
  expect(policyOf(one)).toBe(policyOf(one))
  expect(Object.isFrozen(policyOf(one))).toBe(true)
  expect(policyOf({ ...one })).toBe(policyOf(one))
})

test('a row that was patched in place is parsed again', () => {
  const one = row()
  expect(wasAsked(one)).toBe(true)
  one.policy = '{"verdict":"allow"}'
  expect(wasAsked(one)).toBe(false)
})

test('arguments that somebody changed are as stored for the next reader', () => {
  const one = row()
  Object.assign(argumentsOf(one), { order: null })
  expect(argumentsOf(one)).toEqual({ order: { id: 1 } })
})
