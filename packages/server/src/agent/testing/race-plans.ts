import type { Principal } from '@countersign/core'
import fc from 'fast-check'

// Generators of plans for races.more.test.ts: the acts of people and of the model.

export const person = (name: string, ...roles: string[]): Principal => ({ id: `prn_${name}`, kind: 'person', name, roles })
export const PEOPLE = [
  // They see every session, so that whatever they try is refused for what it is.
  person('ana', 'approver', 'viewer'),
  person('bo', 'approver', 'viewer'),
  person('cy', 'admin'),
]
export const NOBODIES: Principal[] = [person('vi', 'viewer'), { id: 'prn_bot', kind: 'agent', name: 'bot', roles: ['agent'] }]

/** How an attempt of the tool ends; the list of a call is used up attempt by attempt, its last one stays. */
const ENDINGS = ['ok', 'refused', 'ambiguous', 'broken'] as const
export type Call = { tool: 'act' | 'look'; endings: (typeof ENDINGS)[number][]; turns: number }
/** The model's steps after a message: the calls of each. */
export interface Plan {
  steps: Call[][]
  text: string
  delayMs: number
}

export type Op = { by: number } & (
  | { do: 'decide'; which: number; verdict: 'approve' | 'decline'; stop: boolean | undefined }
  | { do: 'retry'; which: number }
  | { do: 'cancel' }
  | { do: 'word'; word: string; which: number | undefined }
  | { do: 'session'; verdict: 'approve' | 'reject' | 'approve_all'; which: number | undefined }
  | { do: 'message'; plan: Plan }
)
/** Operations that begin in the same turn, and how long to wait before them: turns of the event loop, or until nothing moves. */
export interface Wave {
  ops: Op[]
  wait: number | 'idle'
}

const call: fc.Arbitrary<Call> = fc.record({
  tool: fc.constantFrom('act', 'act', 'act', 'look'),
  endings: fc.array(fc.constantFrom('ok', 'ok', 'ok', ...ENDINGS), { minLength: 1, maxLength: 3 }),
  turns: fc.nat(4),
})
export const plan: fc.Arbitrary<Plan> = fc.record({
  steps: fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { maxLength: 3 }),
  text: fc.constantFrom('', 'Let me see.'),
  delayMs: fc.constantFrom(0, 0, 1),
})
const which = fc.nat(7)
/** Mostly people who may decide; now and then a viewer, or the agent itself. */
const by = fc.constantFrom(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 4)
const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('decide' as const),
      by,
      which,
      verdict: fc.constantFrom('approve' as const, 'approve' as const, 'decline' as const),
      stop: fc.constantFrom(undefined, undefined, undefined, true),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('retry' as const), by, which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), by }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('word' as const),
      by,
      word: fc.constantFrom('approve', 'YES', 'reject', ' no ', 'approve all'),
      which: fc.option(which, { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('session' as const),
      by,
      verdict: fc.constantFrom('approve' as const, 'reject' as const, 'approve_all' as const),
      which: fc.option(which, { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('message' as const), by, plan }) },
)
export const wave: fc.Arbitrary<Wave> = fc.record({
  ops: fc.array(op, { minLength: 1, maxLength: 4 }),
  wait: fc.oneof(fc.nat(12), fc.constant('idle' as const)),
})
