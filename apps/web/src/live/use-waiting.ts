import type { Action } from '@countersign/client'
import { useInbox, whyNot } from '@countersign/react'
import { useServices } from '../services.tsx'

/** The waiting approvals of all sessions; `actionable` are those that this person may decide. */
export function useWaiting() {
  const { inbox, me } = useServices()
  const snapshot = useInbox(inbox)
  const actionable: Action[] = snapshot.items.filter((action) => action.state === 'proposed' && whyNot(action, me) === null)
  return { ...snapshot, actionable }
}
