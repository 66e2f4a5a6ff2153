import type { Action } from '@countersign/client'
import type { ReactNode } from 'react'
import type { CardInputs } from './card/card-inputs.ts'
import type { EditorSlot } from './edit-section.tsx'

export type { DecisionDetails, Extra, Outcome, Verdict } from './card/card-inputs.ts'

export type ApprovalCardProps = Omit<CardInputs, 'action' | 'schedule' | 'evidence'> & {
  action: Action
  /** Draws the form in which a person changes the arguments before they approve; without it the card does not offer Edit. */
  editor?: (slot: EditorSlot) => ReactNode
  /** The agent's description of this action, shown as plain text in a box marked as not verified. Default `action.agentSays`. */
  agentSays?: string
  /** Link to the run or session that asked. */
  runHref?: string | undefined
  /** Default 3. */
  headingLevel?: 2 | 3 | 4 | 5 | 6
  /** Single-key shortcuts inside the focused card (A, D); default true. Ctrl/⌘+Enter always works. */
  shortcuts?: boolean
  /** Offers "Decline and stop", which also ends the run. Default false. */
  offerStop?: boolean
}
