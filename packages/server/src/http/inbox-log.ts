import type { NewEvent, Principal } from '@countersign/core'
import type { EventHub } from '../dispatch/index.ts'
import { isForEyesOf, readerOf } from '../gate/index.ts'
import { actions, events, type StoredEvent, type Tx } from '../store/index.ts'
import { type FollowedLog, type LogPage, pageOf } from './follow.ts'
import type { LogReader } from './log-reader.ts'

const frames = new WeakMap<StoredEvent, Buffer>()
/** More than anybody has open; what they miss of older ones is a list away. */
const MAX_OPEN = 10_000

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
    isVisible: await visibilityOf(store, principal),
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

/** All events, or those of the actions that ask this person or that they or an agent of theirs asked for. */
async function visibilityOf(store: LogReader, principal: Principal): Promise<(event: NewEvent) => boolean> {
  const reader = readerOf(principal)
  if (!reader) return () => true
  const rows = await store.read(
    () => actions.listActions({ states: ['proposed', 'approved', 'executing'], reader, limit: MAX_OPEN }),
    `open actions of ${principal.id} ${principal.roles}`,
  )
  const seen = new Set(rows.map((row) => row.id))
  return (event) => {
    if (event.type !== 'action_proposed') return seen.has(events.actionOf(event) ?? '')
    const { id, requestedBy, policy, requires } = event.data.proposal
    const isSeen = isForEyesOf(reader, { requestedBy, asks: policy.verdict === 'ask', roles: requires.roles })
    if (isSeen) seen.add(id)
    return isSeen
  }
}
