import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ACTION_EVENTS,
  ACTION_STATES,
  type ActionEvent,
  type ActionState,
  AFTER,
  type Answer,
  isSettled,
  isTerminal,
  statesBefore,
} from './lifecycle.ts'

// Written by hand from the design, not from the code: a changed cell must be changed twice, on purpose. `-` is refused, `=` moves nothing.
const TABLE = `
from             approve   decline   expire   cancel     revise    start      succeed    fail    lose             retry      resend
proposed         approved  declined  expired  cancelled  proposed  -          -          -       -                -          -
approved         =         -         expired  cancelled  proposed  executing  -          -       -                -          -
declined         -         =         -        -          -         -          -          -       -                -          -
expired          -         -         =        -          -         -          -          -       -                -          -
cancelled        -         -         -        =          -         -          -          -       -                -          -
executing        =         -         -        -          -         =          succeeded  failed  outcome_unknown  -          -
succeeded        =         -         -        -          -         -          =          -       -                -          -
failed           =         -         -        -          proposed  -          -          =       -                executing  -
outcome_unknown  =         -         -        -          -         -          succeeded  failed  =                -          executing
`

const [header = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.split(/\s+/))

const cells = rows.flatMap(([state = '', ...answers]) =>
  answers.map((answer, column) => [state, header[column + 1] ?? '', answer] as const),
)

test('the hand-written table has all 9 states and all 11 events', () => {
  expect(rows.map(([state]) => state)).toEqual([...ACTION_STATES])
  expect(header.slice(1)).toEqual([...ACTION_EVENTS])
  expect(cells).toHaveLength(99)
})

test.each(cells)('%s, on %s: %s', (state, event, answer) => {
  const written = { '-': 'no', '=': 'same' }[answer] ?? answer
  expect(AFTER[state as ActionState][event as ActionEvent]).toBe(written)
})

test('statesBefore names exactly the states that the event moves', () => {
  expect(Object.fromEntries(ACTION_EVENTS.map((event) => [event, statesBefore(event)]))).toEqual({
    approve: ['proposed'],
    decline: ['proposed'],
    expire: ['proposed', 'approved'],
    cancel: ['proposed', 'approved'],
    revise: ['proposed', 'approved', 'failed'],
    start: ['approved'],
    succeed: ['executing', 'outcome_unknown'],
    fail: ['executing', 'outcome_unknown'],
    lose: ['executing'],
    retry: ['failed'],
    resend: ['outcome_unknown'],
  })
})

interface Step {
  from: ActionState
  event: ActionEvent
  to: ActionState
}

/** The moves of one life, starting at `proposed`. An even pick is an event that moves, an odd one any event at all. */
function play(picks: readonly number[]): Step[] {
  const steps: Step[] = []
  let from: ActionState = 'proposed'
  for (const pick of picks) {
    const moving: ActionEvent[] = ACTION_EVENTS.filter((one) => statesBefore(one).includes(from))
    const choice = pick % 2 === 0 && moving.length > 0 ? moving : ACTION_EVENTS
    const event = choice[(pick >> 1) % choice.length] ?? 'approve'
    const answer: Answer = AFTER[from][event]
    if (answer === 'no' || answer === 'same') continue
    steps.push({ from, event, to: answer })
    from = answer
  }
  return steps
}

const forEverySequence = (holds: (steps: Step[]) => void): void => {
  const picks = fc.array(fc.nat(1_000), { size: '+1' })
  fc.assert(
    fc.property(picks, (sequence) => holds(play(sequence))),
    // With 500 one seed in twenty met no attempt that was sent again.
    { numRuns: 2_000 },
  )
}

describe('whatever happens, in any order', () => {
  test('a terminal action never moves again', () => {
    expect(ACTION_STATES.filter(isTerminal)).toEqual(['declined', 'expired', 'cancelled', 'succeeded'])
    forEverySequence((steps) => {
      expect(steps.map((step) => step.from).filter(isTerminal)).toEqual([])
    })
  })

  test('nothing executes that was not approved after its last revision', () => {
    forEverySequence((steps) => {
      let approved = false
      for (const { event, to } of steps) {
        if (event === 'approve') approved = true
        if (event === 'revise') approved = false
        if (to === 'executing') expect(approved).toBe(true)
      }
    })
  })

  test('executing is entered only by start from approved, retry from failed and resend from outcome_unknown', () => {
    const ways = new Set<string>()
    forEverySequence((steps) => {
      for (const { from, event, to } of steps) if (to === 'executing') ways.add(`${event} from ${from}`)
    })
    expect([...ways].sort()).toEqual(['resend from outcome_unknown', 'retry from failed', 'start from approved'])
  })

  test('once it has begun to execute, no decision, deadline or cancel moves an action, until it failed and is asked again', () => {
    forEverySequence((steps) => {
      let begun = false
      for (const { from, event, to } of steps) {
        if (begun && event === 'revise') expect(from).toBe('failed')
        if (begun) expect(['approve', 'decline', 'expire', 'cancel', 'start']).not.toContain(event)
        begun = to === 'executing' || (begun && event !== 'revise')
      }
    })
  })

  test('between two sends the first one has ended: there is never a second attempt in flight', () => {
    forEverySequence((steps) => {
      const sends = steps.flatMap((step, at) => (step.to === 'executing' ? [at] : []))
      for (const [nth, at] of sends.slice(1).entries()) {
        const between = steps.slice((sends[nth] ?? 0) + 1, at).map((step) => step.to)
        expect(between.some((to) => to === 'failed' || to === 'outcome_unknown')).toBe(true)
      }
    })
  })
})

test('an event that arrives twice in a row moves an action once; only a revision may be asked for again', () => {
  for (const state of ACTION_STATES) {
    for (const event of ACTION_EVENTS.filter((one) => one !== 'revise')) {
      const answer = AFTER[state][event]
      if (answer !== 'no' && answer !== 'same') expect(['no', 'same'], `${event} twice from ${state}`).toContain(AFTER[answer][event])
    }
  }
})

test('an unknown outcome is never retried under a new key: only the same send again, or a finding', () => {
  expect(ACTION_EVENTS.filter((event) => !['no', 'same'].includes(AFTER.outcome_unknown[event]))).toEqual(['succeed', 'fail', 'resend'])
  expect(AFTER.outcome_unknown.retry).toBe('no')
})

test('an answer that comes late, for an action that was never started, is refused', () => {
  for (const state of ['proposed', 'approved', 'declined', 'expired', 'cancelled'] as const) {
    for (const event of ['succeed', 'fail', 'lose'] as const) expect(AFTER[state][event]).toBe('no')
  }
})

test('the model gets its answer exactly when an action is terminal, failed or of unknown outcome', () => {
  expect(ACTION_STATES.filter(isSettled)).toEqual(['declined', 'expired', 'cancelled', 'succeeded', 'failed', 'outcome_unknown'])
})
