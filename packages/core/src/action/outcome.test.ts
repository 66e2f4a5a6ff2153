import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ACTION_STATES, isSettled } from './lifecycle.ts'
import { actionOutcome, OUTCOME_STATUSES, type OutcomeFacts } from './outcome.ts'

const ana = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] } as const
const person = { ...ana, roles: [...ana.roles] }

const facts = (changed: Partial<OutcomeFacts>): OutcomeFacts => ({
  id: 'act_1',
  state: 'proposed',
  description: 'Refund order 1',
  arguments: { amount: 5 },
  revision: 1,
  revised: null,
  policy: { verdict: 'ask', rule: 'default', version: 1, reason: '' },
  votes: [],
  error: null,
  resolution: null,
  executor: 'server',
  decidedAt: null,
  ...changed,
})
const edited = { why: 'edit', reason: 'Ana changed the arguments', by: person, at: '' } as const

describe('the outcome says what happened', () => {
  const CASES: [string, Partial<OutcomeFacts>, string, RegExp][] = [
    ['a result', { state: 'succeeded', result: { refunded: 5 } }, 'succeeded', /^\{"refunded":5\}$/],
    ['a result that is a text', { state: 'succeeded', result: 'Refunded.' }, 'succeeded', /^Refunded\.$/],
    ['a success without a result', { state: 'succeeded', result: null }, 'succeeded', /^Done: Refund order 1\.$/],
    [
      'what a person found to be carried out',
      { state: 'succeeded', result: null, resolution: { by: person, outcome: 'succeeded', note: 'It is in the ledger.', at: '' } },
      'succeeded',
      /Ana found out, and says: It is in the ledger\./,
    ],
    [
      'a success with edited arguments',
      { state: 'succeeded', result: 'ok', revision: 2, revised: edited },
      'succeeded',
      /^ok Note: Ana changed the arguments before approving\. What ran had these: \{"amount":5\}$/,
    ],
    ['a success as a later revision', { state: 'succeeded', result: 'ok', revision: 3 }, 'succeeded', /revision 3.*\{"amount":5\}/],
    [
      'a redacted success',
      { state: 'succeeded', revision: 2, revised: edited, description: 'Redacted', redactedAt: '' },
      'succeeded',
      /^This was carried out\. Its result was removed from the record\.$/,
    ],
    ['a failure', { state: 'failed', error: { kind: 'refused', message: 'No such order', retryable: false } }, 'failed', /No such order$/],
    ['a failure without a reason', { state: 'failed' }, 'failed', /the reason is not known$/],
    ['a decline', { state: 'declined' }, 'declined', /person declined this \(act_1\)\. Nothing was carried out/],
    [
      "a decline with people's reasons",
      {
        state: 'declined',
        votes: [
          { by: person, verdict: 'approve', at: '', reason: 'Fine with me' },
          { by: person, verdict: 'decline', at: '', reason: 'Wrong order' },
          { by: person, verdict: 'decline', at: '', reason: 'Too much' },
        ],
      },
      'declined',
      /They said: Wrong order \/ Too much$/,
    ],
    [
      'what policy denied',
      { state: 'declined', policy: { verdict: 'deny', rule: 'never', version: 1, reason: 'No refunds on Sunday.' } },
      'denied',
      /^Policy does not allow this: No refunds on Sunday\. Nothing was carried out\.$/,
    ],
    ['an expiry', { state: 'expired' }, 'expired', /^Nobody decided about this in time \(act_1\)\. Nothing was carried out\.$/],
    [
      'the expiry of what was approved',
      { state: 'expired', executor: 'client', decidedAt: '' },
      'expired',
      /^This was approved, but no client claimed it in time \(act_1\)\. Nothing was carried out\.$/,
    ],
    [
      'a withdrawal',
      { state: 'cancelled', error: { kind: 'withdrawn', message: 'Withdrawn by the agent desk: mistake', retryable: false } },
      'withdrawn',
      /^Withdrawn by the agent desk: mistake \(act_1\)\. Nothing/,
    ],
    [
      'a withdrawal of what a client carries out',
      { state: 'cancelled', executor: 'client', error: { kind: 'withdrawn', message: 'Withdrawn by the agent desk', retryable: false } },
      'withdrawn',
      /^Withdrawn by the agent desk \(act_1\)\. It was not approved here\.$/,
    ],
    [
      'a withdrawal of what was approved for a client',
      {
        ...{ state: 'cancelled', executor: 'client', decidedAt: '' },
        error: { kind: 'withdrawn', message: 'Withdrawn by the agent desk', retryable: false },
      },
      'withdrawn',
      /^Withdrawn by the agent desk \(act_1\)\. It was approved here, and no client claimed it\.$/,
    ],
    [
      'a declined call that its program ran',
      {
        state: 'declined',
        error: { kind: 'ran_elsewhere', message: 'This was declined. Codex says that it ran this', retryable: false },
      },
      'declined',
      /^This was declined\. Codex says that it ran this \(act_1\)\.$/,
    ],
    ['a cancellation', { state: 'cancelled' }, 'cancelled', /cancelled before it began \(act_1\)\. Nothing/],
    ['an unknown outcome', { state: 'outcome_unknown' }, 'outcome_unknown', /not known whether this was carried out/],
  ]

  test.each(CASES)('%s', (_, changed, status, text) => {
    expect(actionOutcome(facts(changed))).toEqual({ status, text: expect.stringMatching(text) })
  })

  test('there is a case for every status', () => {
    expect(new Set(CASES.map(([, , status]) => status))).toEqual(new Set(OUTCOME_STATUSES))
  })
})

/** Any action, also one that the engine never makes. */
const anyFacts = fc
  .record({
    state: fc.constantFrom(...ACTION_STATES),
    revision: fc.integer({ min: 1, max: 3 }),
    revised: fc.constantFrom(null, edited),
    verdict: fc.constantFrom('allow', 'ask', 'deny'),
    error: fc.option(fc.record({ kind: fc.constantFrom('withdrawn', 'lost', 'refused'), message: fc.string(), retryable: fc.boolean() })),
    result: fc.option(fc.jsonValue({ noUnicodeString: false }), { nil: undefined }),
    redactedAt: fc.constantFrom('2026-01-01T00:00:00.000Z', undefined),
  })
  .map(({ verdict, ...rest }) => facts({ ...rest, policy: { verdict, rule: 'r', version: 1, reason: '' } } as Partial<OutcomeFacts>))

test('every settled action has an outcome with words, and no other has one', () => {
  fc.assert(
    fc.property(anyFacts, (action) => {
      const outcome = actionOutcome(action)
      expect(outcome !== null).toBe(isSettled(action.state))
      expect(outcome?.text).not.toBe('')
    }),
  )
})

test('an unknown outcome is never called a failure, and never said not to have happened', () => {
  fc.assert(
    fc.property(anyFacts, (action) => {
      const outcome = actionOutcome({ ...action, state: 'outcome_unknown' })
      expect(outcome?.status).toBe('outcome_unknown')
      expect(outcome?.text).not.toMatch(/failed|declined|nothing was carried out/i)
    }),
  )
})

test('only what never began is said not to have been carried out', () => {
  fc.assert(
    fc.property(anyFacts, (action) => {
      const outcome = actionOutcome({ ...action, result: undefined, error: null })
      const saysNothing = outcome?.text.includes('Nothing was carried out') ?? false
      expect(saysNothing).toBe(['declined', 'expired', 'cancelled'].includes(action.state))
    }),
  )
})

test('a picture in a result is named by its size, not sent along', () => {
  const result = { content: 'Taken.', media: [{ type: 'image', mimeType: 'image/png', data: 'AAAA'.repeat(100) }] }
  expect(actionOutcome(facts({ state: 'succeeded', result }))?.text).toContain('"bytes":300')
})

test('a text of any length stays below 20,000 characters, says that it was cut, and keeps the note at its end', () => {
  const outcome = actionOutcome(facts({ state: 'succeeded', result: '😀'.repeat(30_000), revision: 2, revised: edited }))
  expect(outcome?.text.length).toBeLessThanOrEqual(20_000)
  expect(outcome?.text.isWellFormed()).toBe(true)
  expect(outcome?.text).toMatch(/shortened; the whole is in the result.*What ran had these: \{"amount":5\}$/)
})
