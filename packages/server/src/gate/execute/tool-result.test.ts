import { expect, test } from 'vitest'
import type { ActionRow } from '../../store/index.ts'
import { anAction } from '../../store/testing/an-action.ts'
import { outcomeOf } from './tool-result.ts'

const ended = (state: ActionRow['state'], own: Partial<ActionRow> = {}) => anAction('act_1', { state, ...own })

test('the model receives the output of a success, and the message of a failure', () => {
  expect(outcomeOf(ended('succeeded', { result: '{"paid":1}' }), undefined)).toEqual({ type: 'output', value: { paid: 1 } })
  const error = '{"kind":"refused","message":"No funds.","retryable":true}'
  expect(outcomeOf(ended('failed', { error }), undefined)).toEqual({ type: 'error', message: 'No funds.' })
  expect(outcomeOf(ended('failed', { error: null }), undefined)).toEqual({ type: 'error', message: 'it failed' })
})

test('the model receives why an action was declined: the words of the decider, else of the rule, else that it was', () => {
  const policy = '{"effect":"deny","reason":"Never on Fridays."}'
  expect(outcomeOf(ended('declined', { policy }), 'Too much.')).toEqual({ type: 'declined', reason: 'Too much.' })
  expect(outcomeOf(ended('declined', { policy }), undefined)).toEqual({ type: 'declined', reason: 'Never on Fridays.' })
  expect(outcomeOf(ended('declined'), undefined)).toEqual({ type: 'declined', reason: 'User declined' })
})

test('an action that expired or was cancelled is declined for the model', () => {
  expect(outcomeOf(ended('expired'), undefined)).toEqual({ type: 'declined', reason: 'Timeout' })
  expect(outcomeOf(ended('cancelled'), 'Not needed.')).toEqual({ type: 'declined', reason: 'Not needed.' })
  expect(outcomeOf(ended('cancelled'), undefined)).toEqual({ type: 'declined', reason: 'Cancelled' })
})

test('the model is asked not to repeat what may have happened', () => {
  expect(outcomeOf(ended('outcome_unknown'), undefined)).toEqual({
    type: 'outcome_unknown',
    message: expect.stringContaining('Do not repeat it'),
  })
})

test('of an edited call the model receives what ran and who changed it, unless it did not run', () => {
  const own = { arguments: '{"cents":5}', result: '1' }
  expect(outcomeOf(ended('succeeded', own), undefined, 'Ana')).toEqual({
    type: 'edited',
    argumentsRun: { cents: 5 },
    by: 'Ana',
    outcome: { type: 'output', value: 1 },
  })
  expect(outcomeOf(ended('declined', own), 'No.', 'Ana')).toEqual({ type: 'declined', reason: 'No.' })
})

test('an action that has not ended has no result', () => {
  for (const state of ['proposed', 'approved', 'executing'] as const) expect(() => outcomeOf(ended(state), undefined)).toThrow(state)
})
