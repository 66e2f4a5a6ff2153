import type { Action, InboxSnapshot, Principal } from '@countersign/client'
import { ownVote, useInbox, whyNot } from '@countersign/react'
import { useServices } from '../services.tsx'
import { type Snoozes, useSnoozes } from '../snooze/use-snoozes.ts'
import { useStandsFor } from './use-stands-for.ts'
import type { ForMe } from './waiting-words.ts'

type Reader = { me: Principal; standsFor: readonly Principal[]; snoozes: Snoozes }
type Waiting = InboxSnapshot & { actionable: readonly Action[]; forMe: ForMe }

/** The waiting approvals of all sessions; `actionable` are those that wait for this person's vote and are not snoozed, `forMe` counts what they can settle. */
export function useWaiting(): Waiting {
  const { inbox, me } = useServices()
  const standsFor = useStandsFor()
  const snoozes = useSnoozes()
  const snapshot = useInbox(inbox)
  return waitingFor(snapshot, { me, standsFor, snoozes })
}

/** With thousands of actions it takes milliseconds: each snapshot is read once for all parts of the page, not at each key that is pressed. */
const known = new WeakMap<InboxSnapshot, { reader: Reader; waiting: Waiting }>()

function waitingFor(snapshot: InboxSnapshot, reader: Reader): Waiting {
  const { me, standsFor, snoozes } = reader
  const before = known.get(snapshot)
  if (before?.reader.me === me && before.reader.standsFor === standsFor && before.reader.snoozes === snoozes) return before.waiting
  const isForMe = (action: Action) => !snoozes.has(action.id) && whyNot(action, me, standsFor) === null
  const waitsForMe = (action: Action) => action.state === 'proposed' && isForMe(action) && !ownVote(action, me)
  const actionable = snapshot.items.filter(waitsForMe)
  const isUnknownToMe = (action: Action) => action.state === 'outcome_unknown' && isForMe(action)
  const unknown = snapshot.items.filter(isUnknownToMe).length
  const overdue = actionable.filter((action) => action.overdue).length
  const waiting = { ...snapshot, actionable, forMe: { count: actionable.length + unknown, overdue, unknown } }
  known.set(snapshot, { reader, waiting })
  return waiting
}
