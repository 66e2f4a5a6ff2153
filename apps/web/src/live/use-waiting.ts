import type { Action, InboxSnapshot } from '@countersign/client'
import { useInbox } from '@countersign/react'
import { useServices } from '../services.tsx'
import { useSnoozes } from '../snooze/use-snoozes.ts'
import { type Tally, tally } from '../steady/tally.ts'
import { isMine, type Viewer } from '../waiting/is-mine.ts'
import { ORDERS } from '../waiting/order.ts'
import { type Picked, pick } from '../waiting/picked.ts'
import { needsPerson } from '../waiting/views.ts'
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

type Known = { snapshot: InboxSnapshot; reader: Viewer; picked: Picked; counted: Tally<Action, keyof ForMe>; waiting: Waiting }

/** All parts of the page read the same snapshot: the last one is enough. */
let last: Known | undefined

/** With thousands of actions this takes milliseconds, so it is done once for all parts of the page, and only for actions that changed. */
function waitingFor(snapshot: InboxSnapshot, reader: Viewer): Waiting {
  const known = last && isSameReader(last.reader, reader) ? last : undefined
  if (known?.snapshot === snapshot) return known.waiting
  const { items } = snapshot
  const picking = known?.picked.picking ?? {
    isIn: (action) => action.state === 'proposed' && isMine(action, reader),
    compare: ORDERS.oldest.compare,
  }
  const picked = pick(known?.picked, items, picking)
  const counted = tally(items, (actions) => countFor(actions, reader), known?.counted)
  const waiting = { ...snapshot, actionable: picked.rows, forMe: counted.counts }
  last = { snapshot, reader, picked, counted, waiting }
  return waiting
}

const isSameReader = (a: Viewer, b: Viewer): boolean => a.me === b.me && a.standsFor === b.standsFor && a.snoozes === b.snoozes

function countFor(actions: readonly Action[], reader: Viewer): ForMe {
  const mine = actions.filter((action) => isMine(action, reader))
  const count = (isCounted: (action: Action) => boolean) => mine.filter(isCounted).length
  return {
    count: count(needsPerson),
    overdue: count(({ state, overdue }) => state === 'proposed' && overdue),
    unknown: count(({ state }) => state === 'outcome_unknown'),
  }
}
