import type { Action } from '@countersign/client'
import { ownVote, useInbox, whyNot } from '@countersign/react'
import { useServices } from '../services.tsx'
import { useStandsFor } from './use-stands-for.ts'
import type { ForMe } from './waiting-words.ts'

/** The waiting approvals of all sessions; `actionable` are those that wait for this person's vote, `forMe` counts what they can settle. */
export function useWaiting() {
  const { inbox, me } = useServices()
  const standsFor = useStandsFor()
  const snapshot = useInbox(inbox)
  const waitsForMe = (action: Action) => action.state === 'proposed' && whyNot(action, me, standsFor) === null && !ownVote(action, me)
  const actionable = snapshot.items.filter(waitsForMe)
  const isUnknownToMe = (action: Action) => action.state === 'outcome_unknown' && whyNot(action, me, standsFor) === null
  const unknown = snapshot.items.filter(isUnknownToMe).length
  const overdue = actionable.filter((action) => action.overdue).length
  const forMe: ForMe = { count: actionable.length + unknown, overdue, unknown }
  return { ...snapshot, actionable, forMe }
}
