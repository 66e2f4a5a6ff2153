import type { Action } from '@countersign/client'
import { readCommand } from '@countersign/core'
import { expect, test } from 'vitest'
import { typedForms } from './typed-forms.ts'

const action = (id: string, changed: object = {}) =>
  ({ id, revision: 1, risk: { level: 'medium' }, arguments: { a: 1 }, preview: null, ...changed }) as unknown as Action

const ANY = () => true
const [ONE, TWO] = ['act_0000000000000000000aaaaaa', 'act_0000000000000000000bbbbbb']
const HIGH = { risk: { level: 'high' } }

test('with one action the plain words are offered, with several those that name one', () => {
  expect(typedForms([action(ONE)], ANY)).toEqual(['approve', 'decline'])
  expect(typedForms([action(ONE), action(TWO)], ANY)).toEqual(['approve #aaaaaa', 'decline #aaaaaa'])
  expect(typedForms([], ANY)).toEqual([])
})

test('no word is offered that would not decide: for high risk, what was changed, what is not shown whole, what others decide', () => {
  const hidden = { arguments: { body: 'x'.repeat(5_000) } }
  for (const changed of [HIGH, { risk: { level: 'critical' } }, { revision: 2 }, hidden]) {
    expect(typedForms([action(ONE, changed)], ANY)).toEqual([])
    expect(typedForms([action(ONE, changed), action(TWO)], ANY)).toEqual(['approve #bbbbbb', 'decline #bbbbbb'])
  }
  expect(typedForms([action(ONE), action(TWO)], ({ id }) => id === TWO)).toEqual(['approve #bbbbbb', 'decline #bbbbbb'])
  expect(typedForms([action(ONE)], () => false)).toEqual([])
})

test('whatever is offered is a command word', () => {
  for (const waiting of [[action(ONE)], [action(ONE), action(TWO)]]) {
    const [approve, decline] = typedForms(waiting, ANY).map(readCommand)
    expect([approve?.verdict, decline?.verdict]).toEqual(['approve', 'decline'])
  }
})
