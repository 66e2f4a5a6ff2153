import type { Action } from '@countersign/client'
import { ownVote, useInbox, whyNot } from '@countersign/react'
import { useServices } from '../services.tsx'
import { useStandsFor } from './use-stands-for.ts'

/** The waiting approvals of all sessions; `actionable` are those that wait for this person's vote. */
export function useWaiting() {
  const { inbox, me } = useServices()
  const standsFor = useStandsFor()
  const snapshot = useInbox(inbox)
  const waitsForMe = (action: Action) => action.state === 'proposed' && whyNot(action, me, standsFor) === null && !ownVote(action, me)
  const actionable = snapshot.items.filter(waitsForMe)
  return { ...snapshot, actionable }
}
