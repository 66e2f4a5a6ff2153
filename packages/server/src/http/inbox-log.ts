import type { NewEvent, Principal } from '@countersign/core'
import type { EventHub } from '../dispatch/index.ts'
import { seesAll } from '../gate/index.ts'
import { actions, events, type StoredEvent, type Tx } from '../store/index.ts'
import { type FollowedLog, type LogPage, pageOf } from './follow.ts'
import type { LogReader } from './log-reader.ts'

const frames = new WeakMap<StoredEvent, Buffer>()
/** More than anybody has open; what they miss of older ones is a list away. */
const MAX_OWN = 10_000

export interface InboxLogOptions {
  store: LogReader
  hub: EventHub
  principal: Principal
}

/** What happens to actions in every session, as far as this person may see it; places are those of the whole log. */
export async function openInboxLog({ store, hub, principal }: InboxLogOptions): Promise<FollowedLog> {
  return {
    subscribe: (listener) => hub.onInbox(listener),
    read(after, limit, isFirst) {
      const known = hub.inboxPlace
      return store.read(() => readPage({ after, limit, isFirst, known }), `inbox ${after} ${limit} ${isFirst} ${known}`)
    },
    placeOf: ({ id }) => id,
    isVisible: await visibility(store, principal),
    frames,
  }
}

interface Place {
  after: number
  limit: number
  isFirst: boolean
  /** What lies up to here was handed to those who listen already, and will not be handed over again. */
  known: number
}

function* readPage({ after, limit, isFirst, known }: Place): Tx<LogPage> {
  if (after < (yield* events.archivedPlace())) return reset('what comes after this id was archived', yield* events.lastPlace())
  if (isFirst && !(yield* events.isWithinLog(after))) return reset('the log does not hold this id', yield* events.lastPlace())
  const rows = yield* events.inboxRowsAfter.all({ after, limit, known })
  const page = pageOf(rows, limit)
  return { ...page, events: page.events.filter(events.isForInbox) }
}

const reset = (reason: string, place: number): LogPage => ({ reset: { reason, session: null, messages: [], actions: [] }, place })

/** All events, or those of the actions that this person asked for. */
async function visibility(store: LogReader, principal: Principal): Promise<(event: NewEvent) => boolean> {
  if (seesAll(principal)) return () => true
  const rows = await store.read(
    () => actions.listActions({ states: ['proposed', 'approved', 'executing'], requestedBy: principal.id, limit: MAX_OWN }),
    `open actions of ${principal.id}`,
  )
  const own = new Set(rows.map((row) => row.id))
  return (event) => {
    if (event.type !== 'action_proposed') return own.has(events.actionOf(event) ?? '')
    const isOwn = event.data.proposal.requestedBy.id === principal.id
    if (isOwn) own.add(event.data.proposal.id)
    return isOwn
  }
}
