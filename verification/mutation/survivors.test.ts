import { expect, test } from 'vitest'
import { keyOf } from './identify.ts'
import { compareWithAnswers, readAnswers } from './survivors.ts'

const one = { file: 'a.ts', in: 'f', mutator: 'ConditionalExpression', text: '_ > 1', becomes: 'true' }
const answer = { ...one, because: 'equivalent' }

test('a survivor without an answer is not passed over', () => {
  expect(compareWithAnswers([one], [], new Set(['a.ts'])).unanswered).toEqual([one])
  expect(compareWithAnswers([one], [answer], new Set(['a.ts']))).toEqual({ answered: [one], unanswered: [], stale: [] })
  expect(compareWithAnswers([{ ...one, becomes: 'false' }], [answer], new Set()).unanswered).toHaveLength(1)
})

test('an answer is stale only when its file was tried whole', () => {
  expect(compareWithAnswers([], [answer], new Set()).stale).toEqual([])
  expect(compareWithAnswers([], [answer], new Set(['a.ts'])).stale).toEqual([answer])
})

test('every answer in the list stands there once and says why', () => {
  const answers = readAnswers()
  expect(new Set(answers.map(keyOf)).size).toBe(answers.length)
  for (const { because } of answers) expect(because.length).toBeGreaterThan(20)
})
