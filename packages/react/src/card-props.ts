import type { Action, ConnectionState, GrantSuggestion, Principal, Remember } from '@countersign/client'
import type { ReactNode } from 'react'
import type { EditorSlot } from './edit-section.tsx'
import type { Arguments } from './edits.ts'

export type Verdict = 'approve' | 'decline'
/** What a person found out about an action of unknown outcome. */
export type Outcome = 'succeeded' | 'failed'

/** What a person says beside the verdict: a reason; other arguments to approve; what not to ask again. */
export type Extra = { reason?: string; stop?: boolean; arguments?: Arguments; remember?: Remember }

/** What a decision carries: what the person saw (`revision`, `digest`), and what they said. */
export type DecisionDetails = Extra & { revision: number; digest: string }

export type ApprovalCardProps = {
  action: Action
  /** Who looks at the card; null when nobody is signed in. */
  me: Principal | null
  /** The people in whose place they vote now; default nobody. */
  standsFor?: readonly Principal[]
  /** Epoch milliseconds, for everything the card says about time. Default `Date.now`. */
  now?: () => number
  /** The stream behind `action`; decisions wait until it is `live`. Default `live`. */
  connection?: ConnectionState['kind']
  /**
   * Sends the decision and resolves when the server took it. Reject with an `ApiError` of the client: the card says what it means.
   * The card never shows a decision before `action` itself says so.
   */
  onDecide: (verdict: Verdict, details: DecisionDetails) => Promise<unknown>
  /** Draws the form in which a person changes the arguments before they approve; without it the card offers no Edit. */
  editor?: (slot: EditorSlot) => ReactNode
  /** Reads what could be granted in place of asking again; without it the card offers no "Don't ask again". */
  onSuggest?: () => Promise<GrantSuggestion>
  /** Reads again what a waiting action would change, and resolves to it. */
  onLookAgain?: () => Promise<Action>
  /** Sends a failed action again; without it the card offers no Retry. */
  onRetry?: () => Promise<unknown>
  /** Asks the tool what became of an unknown outcome; offered where the tool can tell. */
  onVerify?: () => Promise<unknown>
  /** Settles an unknown outcome with what a person found; without it the card only shows it. */
  onResolve?: (outcome: Outcome, note: string) => Promise<unknown>
  /** Carries out an approved action of executor `client` from this page; without it the card only says that a client has to. */
  onCarryOut?: () => Promise<unknown>
  /** What the agent says about this action: boxed, as plain text, marked as not verified. Default `action.agentSays`. */
  agentSays?: string
  /** Link to the run or session that asked. */
  runHref?: string
  /** Default 3. */
  headingLevel?: 2 | 3 | 4 | 5 | 6
  /** Single-key shortcuts inside the focused card (A, D); default true. Ctrl/⌘+Enter always works. */
  shortcuts?: boolean
  /** Offers "Decline and stop": also ends the run. Default false. */
  offerStop?: boolean
}
