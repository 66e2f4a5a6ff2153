/** Every state an action can be in. `succeeded`, `declined`, `expired` and `cancelled` are terminal. */
export const ACTION_STATES = [
  'proposed',
  'approved',
  'declined',
  'expired',
  'cancelled',
  'executing',
  'succeeded',
  'failed',
  'outcome_unknown',
] as const
export type ActionState = (typeof ACTION_STATES)[number]

/**
 * Everything that can happen to an action.
 *
 * - `revise`: the call, its preview or its target changed: people decide about a new revision. Also for a failed action, whose retry goes
 * to people as it is now.
 * - `start`: the intent to execute was written. `retry`: a person starts a failed action again.
 * - `lose`: the attempt ended without a trustworthy answer. `resend`: the same attempt again under the same idempotency key.
 */
export const ACTION_EVENTS = [
  'approve',
  'decline',
  'expire',
  'cancel',
  'revise',
  'start',
  'succeed',
  'fail',
  'lose',
  'retry',
  'resend',
] as const
export type ActionEvent = (typeof ACTION_EVENTS)[number]

/** A state to move to, `same` (a harmless repeat: nothing moves) or `no` (refused). */
export type Answer = ActionState | 'same' | 'no'

const refuses = {
  approve: 'no',
  decline: 'no',
  expire: 'no',
  cancel: 'no',
  revise: 'no',
  start: 'no',
  succeed: 'no',
  fail: 'no',
  lose: 'no',
  retry: 'no',
  resend: 'no',
} as const satisfies Record<ActionEvent, Answer>

/** Total: every state answers every event. The picture and the invariants are in `lifecycle.md`. */
export const AFTER: Readonly<Record<ActionState, Readonly<Record<ActionEvent, Answer>>>> = {
  proposed: { ...refuses, approve: 'approved', decline: 'declined', expire: 'expired', cancel: 'cancelled', revise: 'proposed' },
  // Only what a client was to carry out expires once it was approved, and only while none has claimed it: see `expireAction`.
  approved: { ...refuses, approve: 'same', expire: 'expired', cancel: 'cancelled', revise: 'proposed', start: 'executing' },
  declined: { ...refuses, decline: 'same' },
  expired: { ...refuses, expire: 'same' },
  cancelled: { ...refuses, cancel: 'same' },
  executing: { ...refuses, approve: 'same', start: 'same', succeed: 'succeeded', fail: 'failed', lose: 'outcome_unknown' },
  succeeded: { ...refuses, approve: 'same', succeed: 'same' },
  failed: { ...refuses, approve: 'same', revise: 'proposed', fail: 'same', retry: 'executing' },
  outcome_unknown: { ...refuses, approve: 'same', lose: 'same', succeed: 'succeeded', fail: 'failed', resend: 'executing' },
}

/** The states from which `event` really moves an action, for the guard of an update. */
export const statesBefore = (event: ActionEvent): ActionState[] =>
  ACTION_STATES.filter((state) => AFTER[state][event] !== 'no' && AFTER[state][event] !== 'same')

/** True when no event moves an action out of `state`. */
export const isTerminal = (state: ActionState): boolean =>
  ACTION_EVENTS.every((event) => AFTER[state][event] === 'no' || AFTER[state][event] === 'same')

/**
 * True when the tool call has an answer that the model can be given. `failed` and `outcome_unknown` count: a person may still
 * move them, but the agent does not wait for that.
 */
export const isSettled = (state: ActionState): boolean => isTerminal(state) || state === 'failed' || state === 'outcome_unknown'

/** True when it is known what became of the action. Only a person's retry of a failed one moves it again. */
export const hasEnded = (state: ActionState): boolean => isSettled(state) && state !== 'outcome_unknown'

/** The states in which an action waits for people, for its start, or for the answer of its tool. */
export const OPEN_STATES: readonly ActionState[] = ACTION_STATES.filter((state) => !isSettled(state))
