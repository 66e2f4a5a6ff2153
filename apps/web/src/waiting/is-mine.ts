import type { Action, Principal } from '@countersign/client'
import { ownVote, whyNot } from '@countersign/react'

export type Viewer = { me: Principal; standsFor: readonly Principal[]; snoozes: ReadonlyMap<string, string> }

/** Actions never change in place, so each is judged once for a reader: of thousands that wait, few change at a time. */
const judged = new WeakMap<Action, Omit<Viewer, 'snoozes'> & { mayDecide: boolean }>()

/** True where this person has a vote that they have not given, or may say what came of an unknown outcome; also while it is snoozed. */
export function mayDecide(action: Action, { me, standsFor }: Omit<Viewer, 'snoozes'>): boolean {
  const before = judged.get(action)
  if (before?.me === me && before.standsFor === standsFor) return before.mayDecide
  const { state } = action
  // Delegates do not resolve unknown outcomes.
  const lenders = state === 'outcome_unknown' ? [] : standsFor
  // A decided action stays in the list for some seconds, also for those in whose place somebody voted.
  const asked = state === 'proposed' ? action : { ...action, votes: [] }
  const mayDecide = whyNot(asked, me, lenders) === null && (state !== 'proposed' || !ownVote(action, me))
  judged.set(action, { me, standsFor, mayDecide })
  return mayDecide
}

/** True when the action needs this person now: their vote, or their word about an unknown outcome. */
export const isMine = (action: Action, viewer: Viewer): boolean => !viewer.snoozes.has(action.id) && mayDecide(action, viewer)
