import type { Action, InboxSnapshot } from '@countersign/client'
import { useInbox } from '@countersign/react'
import { useServices } from '../services.tsx'
import { useSnoozes } from '../snooze/use-snoozes.ts'
import { isMine, type Viewer } from '../waiting/is-mine.ts'
import { useStandsFor } from './use-stands-for.ts'
import type { ForMe } from './waiting-words.ts'

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
const known = new WeakMap<InboxSnapshot, { reader: Viewer; waiting: Waiting }>()

function waitingFor(snapshot: InboxSnapshot, reader: Viewer): Waiting {
  const { me, standsFor, snoozes } = reader
  const before = known.get(snapshot)
  if (before?.reader.me === me && before.reader.standsFor === standsFor && before.reader.snoozes === snoozes) return before.waiting
  const mine = snapshot.items.filter((action) => isMine(action, reader))
  const actionable = mine.filter(({ state }) => state === 'proposed')
  const unknown = mine.filter(({ state }) => state === 'outcome_unknown').length
  const overdue = actionable.filter((action) => action.overdue).length
  const waiting = { ...snapshot, actionable, forMe: { count: actionable.length + unknown, overdue, unknown } }
  known.set(snapshot, { reader, waiting })
  return waiting
}
