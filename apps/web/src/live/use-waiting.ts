import type { Action } from '@countersign/client'
import { ownVote, useInbox, whyNot } from '@countersign/react'
import { useMemo } from 'react'
import { useServices } from '../services.tsx'
import { useSnoozes } from '../snooze/use-snoozes.ts'
import { useStandsFor } from './use-stands-for.ts'
import type { ForMe } from './waiting-words.ts'

/** The waiting approvals of all sessions; `actionable` are those that wait for this person's vote and are not snoozed, `forMe` counts what they can settle. */
export function useWaiting() {
  const { inbox, me } = useServices()
  const standsFor = useStandsFor()
  const snoozes = useSnoozes()
  const snapshot = useInbox(inbox)
  const { items } = snapshot
  // With thousands of actions this takes milliseconds, too long for each key that is pressed.
  return useMemo(() => {
    const isForMe = (action: Action) => !snoozes.has(action.id) && whyNot(action, me, standsFor) === null
    const waitsForMe = (action: Action) => action.state === 'proposed' && isForMe(action) && !ownVote(action, me)
    const actionable = items.filter(waitsForMe)
    const isUnknownToMe = (action: Action) => action.state === 'outcome_unknown' && isForMe(action)
    const unknown = items.filter(isUnknownToMe).length
    const overdue = actionable.filter((action) => action.overdue).length
    const forMe: ForMe = { count: actionable.length + unknown, overdue, unknown }
    return { ...snapshot, actionable, forMe }
  }, [snapshot, items, me, standsFor, snoozes])
}
