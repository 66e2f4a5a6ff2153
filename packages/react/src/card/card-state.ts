/** Where a card stands when nothing is in progress: it follows from the action, the person and what they edited. */
export type RestState =
  /** No action is known yet. */
  | 'loading'
  /** The action waits, but this person may not decide it. */
  | 'readonly'
  /** This person has voted and others must decide too. */
  | 'voted'
  /** This person can decide. */
  | 'waiting'
  /** As `waiting`; the action changed while the person looked at it. */
  | 'changed'
  /** As `waiting`, with other arguments than the agent's. */
  | 'editing'
  /** As `waiting`; the last decision was not taken, and `notice` says why. */
  | 'refused'
  /** The event stream is not live, so decisions are paused. */
  | 'offline'
  /** Approved or executing. */
  | 'running'
  /** Succeeded, failed, declined or cancelled. */
  | 'decided'
  | 'expired'
  /** The action may or may not have run. */
  | 'unknown'

/** Every state of an approval card. */
export type CardState =
  | RestState
  /** The next Enter approves. */
  | 'armed'
  /** A second step asks before an action of high risk is approved. */
  | 'confirming'
  /** A second step asks before later calls are approved automatically. */
  | 'granting'
  /** The form for the reason is open. */
  | 'declining'
  /** A request is on its way. */
  | 'sending'
  /** The server accepted the request; the action does not show it yet. */
  | 'sent'

/** The events of a card. */
export type CardEvent =
  // Another action; news of this one; another version of it; it is no longer this person's to decide; another person or connection.
  | 'replace'
  | 'update'
  | 'revise'
  | 'change'
  | 'surroundings'
  // The person did something; `block`: it cannot be done now, and a notice says why.
  | 'edit'
  | 'block'
  | 'arm'
  | 'confirm'
  | 'grant'
  | 'decline'
  | 'back'
  | 'revote'
  | 'send'
  // The server answered; `done`: there is nothing more to wait for.
  | 'accept'
  | 'done'
  | 'refuse'

/** A state to move to, `rest` (the rest state that the facts imply), `same` (stay), or `no` (not possible in this state). */
export type NextState = CardState | 'rest' | 'same' | 'no'

type Row = Readonly<Record<CardEvent, NextState>>

const CLOSED: Row = {
  replace: 'rest',
  update: 'rest',
  revise: 'rest',
  change: 'rest',
  surroundings: 'rest',
  edit: 'no',
  block: 'no',
  arm: 'no',
  confirm: 'no',
  grant: 'no',
  decline: 'no',
  back: 'no',
  revote: 'no',
  send: 'no',
  accept: 'no',
  done: 'no',
  refuse: 'no',
}

const OPEN: Row = {
  ...CLOSED,
  edit: 'rest',
  block: 'rest',
  arm: 'armed',
  confirm: 'confirming',
  grant: 'granting',
  decline: 'declining',
  back: 'same',
  send: 'sending',
}

/** A dialog stays open while the connection is away: it says that decisions are paused. */
const DIALOG: Row = { ...CLOSED, update: 'same', surroundings: 'same', edit: 'rest', back: 'rest', send: 'sending' }

const ACTIONABLE: Row = { ...CLOSED, send: 'sending' }

/** The effect of each event in each state. A state or an event that is left out does not compile. */
export const NEXT: Readonly<Record<CardState, Row>> = {
  loading: CLOSED,
  readonly: CLOSED,
  voted: { ...CLOSED, revote: 'rest' },
  waiting: OPEN,
  changed: OPEN,
  editing: OPEN,
  refused: OPEN,
  offline: { ...OPEN, arm: 'no', confirm: 'no', grant: 'no', send: 'no' },
  armed: { ...OPEN, update: 'same', surroundings: 'same', arm: 'same', back: 'rest' },
  confirming: DIALOG,
  granting: DIALOG,
  // A reason that is being typed stays in its form while the person can decide: without the field, its letters would be keys of the card.
  declining: {
    ...OPEN,
    update: 'same',
    revise: 'same',
    surroundings: 'same',
    edit: 'same',
    block: 'same',
    decline: 'same',
    back: 'rest',
  },
  sending: {
    ...CLOSED,
    update: 'same',
    revise: 'same',
    change: 'same',
    surroundings: 'same',
    edit: 'same',
    accept: 'sent',
    done: 'rest',
    refuse: 'rest',
  },
  sent: { ...CLOSED, surroundings: 'same', edit: 'same' },
  running: ACTIONABLE,
  decided: ACTIONABLE,
  expired: CLOSED,
  unknown: ACTIONABLE,
}
