import type { Action } from '@countersign/client'
import { useInbox, whyNot } from '@countersign/react'
import { useServices } from '../services.tsx'
import { useStandsFor } from './use-stands-for.ts'

/** The waiting approvals of all sessions; `actionable` are those that this person may decide. */
export function useWaiting() {
  const { inbox, me } = useServices()
  const standsFor = useStandsFor()
  const snapshot = useInbox(inbox)
  const actionable: Action[] = snapshot.items.filter((action) => action.state === 'proposed' && whyNot(action, me, standsFor) === null)
  return { ...snapshot, actionable }
}
