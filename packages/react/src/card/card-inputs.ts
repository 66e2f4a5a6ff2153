import type { Action, ConnectionState, GrantSuggestion, Principal, Remember, SeenBody } from '@countersign/client'
import type { Arguments } from '../edits.ts'

export type Verdict = 'approve' | 'decline'
/** A person's finding about an action of unknown outcome. */
export type Outcome = 'succeeded' | 'failed'

/** Additions to the verdict: a reason, edited arguments, or which later calls to approve automatically. */
export type Extra = { reason?: string; stop?: boolean; arguments?: Arguments; remember?: Remember }

/** The content of a decision: the version that the person saw (`revision`, `digest`) and their additions. */
export type DecisionDetails = Extra & { revision: number; digest: string }

/**
 * The requests behind a card. Only `onDecide` is required; a card does not offer what has no callback. After a minute without an answer the
 * card says so, and can be used again.
 */
export type CardCallbacks = {
  /**
   * Sends the decision and resolves once the server accepted it. Reject with the client's `ApiError`: the card explains it.
   * The card never shows a decision before `action` itself does.
   */
  onDecide: (verdict: Verdict, details: DecisionDetails) => Promise<unknown>
  /** Reads what could be approved automatically from now on; without it the card does not offer "Don't ask again". */
  onSuggest?: (() => Promise<GrantSuggestion>) | undefined
  /**
   * Takes in that the title and the changes of a waiting action have been on the screen, once for each revision. Its answer and its failure
   * change nothing on the card.
   */
  onSeen?: ((seen: SeenBody) => unknown) | undefined
  /** Reads again what a waiting action would change, and resolves to the action. */
  onLookAgain?: (() => Promise<Action>) | undefined
  /** Retries a failed action; without it the card does not offer Retry. */
  onRetry?: (() => Promise<unknown>) | undefined
  /** Asks the tool whether an action of unknown outcome took effect; offered where the tool can tell. */
  onVerify?: (() => Promise<unknown>) | undefined
  /**
   * Resolves an unknown outcome with what a person found about `attempt`, which the action may have passed by then: send it as well. Without
   * this callback the card only shows the outcome.
   */
  onResolve?: ((outcome: Outcome, note: string, attempt?: number) => Promise<unknown>) | undefined
  /** Executes an approved action of executor `client` in this page; without it the card only says that a client has to. */
  onCarryOut?: (() => Promise<unknown>) | undefined
  /** Extends the deadline of a waiting action to its `extendableUntil`; without it the card does not offer that. */
  onExtend?: (() => Promise<unknown>) | undefined
  /** Takes an approval back during its grace period, or until a client has claimed the action; without it the card has no button for that. */
  onUndo?: (() => Promise<unknown>) | undefined
}

/** Whether a view shows everything that must be seen before an approval; `failed` where a part of it could not be loaded. */
export type Evidence = 'ready' | 'loading' | 'failed'

/** The inputs of the card's logic. Keep the identity of `action` while it does not change: a new object means news. */
export type CardInputs = CardCallbacks & {
  /** Undefined while it is being loaded. */
  action: Action | undefined
  /** The person in front of the card; null when nobody is signed in. */
  me: Principal | null
  /** The people for whom they vote now, by delegation. Default: nobody. */
  standsFor?: readonly Principal[] | undefined
  /** The state of the stream behind `action`; decisions are paused until it is `live`. Default `live`. */
  connection?: ConnectionState['kind'] | undefined
  /**
   * Whether the view shows all of this action; nothing is approved until it does, and declining stays possible. For views that load their parts
   * later. It is read again at each `update` and at each press. Default: always `ready`.
   */
  evidence?: ((action: Action) => Evidence) | undefined
  /** Epoch milliseconds, for times in messages. Default `Date.now`. */
  now?: (() => number) | undefined
  /** Runs a function later and returns what cancels that. Default `setTimeout`. */
  schedule?: ((run: () => void, delayMs: number) => () => void) | undefined
}
