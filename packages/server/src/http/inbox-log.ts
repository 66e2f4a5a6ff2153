import { type Action, hasEnded, type NewEvent, type Principal } from '@countersign/core'
import type { Clock } from '../clock.ts'
import type { EventHub } from '../dispatch/index.ts'
import { listLentIds, readerOf, viewAction, visibleAmong } from '../gate/index.ts'
import { actions, events, type StoredEvent, type Tx, type visibility } from '../store/index.ts'
import { type FollowedLog, type LogPage, pageOf } from './follow.ts'
import { openLentRights } from './lent-rights.ts'
import type { LogReader } from './log-reader.ts'
import { ToldActions } from './told-actions.ts'

const frames = new WeakMap<StoredEvent, Buffer>()
/** More than any reader has open; older actions are in the list of actions. */
const MAX_OPEN = 10_000

export interface InboxLogOptions {
  store: LogReader
  hub: EventHub
  clock: Clock
  principal: Principal
}

/** Returns the log of actions in every session, as far as the principal may see them; places are those of the whole log. */
export async function openInboxLog({ store, hub, clock, principal }: InboxLogOptions): Promise<FollowedLog> {
  const read: FollowedLog['read'] = (after, limit, isFirst) => {
    const known = hub.inboxPlace
    return store.read(() => readPage({ after, limit, isFirst, known }), `inbox ${after} ${limit} ${isFirst} ${known}`)
  }
  const lent = await openLentRights({ store, hub, clock, principal })
  let hasOtherRights = false
  const common: Pick<FollowedLog, 'subscribe' | 'placeOf' | 'frames'> = {
    async subscribe(listener) {
      const unsubscribe = await hub.onInbox(listener)
      const unfollow = lent.follow(() => {
        hasOtherRights = true
        listener()
      })
      return () => {
        unsubscribe()
        unfollow()
      }
    },
    placeOf: ({ id }) => id,
    frames,
  }
  /** Has the reader read the list of actions again, and in whose place they vote. */
  function startAnew(place: number): LogPage {
    hasOtherRights = false
    return reset('you may see other actions than before', place)
  }

  const reader = readerOf(principal)
  if (!reader) {
    return {
      ...common,
      isHandedOver: () => true,
      isVisible: () => true,
      async read(after, limit, isFirst) {
        const page = await read(after, limit, isFirst)
        return 'events' in page && hasOtherRights ? startAnew(after) : page
      },
    }
  }

  const who = `${principal.id} ${JSON.stringify(principal.roles)} ${principal.scopes}`
  const readOpen = () => store.read(() => listOpen(principal, reader, clock.nowMs()), `open actions of ${who}`)
  /** The actions that this reader knows, from the lists of actions or from here. */
  let told = new ToldActions(await readOpen())
  let visible = new Set<StoredEvent>()

  return {
    ...common,
    // The set of people who may see an action can change with each event: it is computed during the read.
    isHandedOver: () => false,
    isVisible(stored) {
      const isSeen = visible.has(stored)
      // Recorded only when it is sent: what the reader's socket does not take is read again.
      if (isSeen) told.add(events.actionOf(stored.event) ?? '', endsIt(stored.event))
      return isSeen
    },
    async read(after, limit, isFirst) {
      const page = await read(after, limit, isFirst)
      if (!('events' in page)) return page
      if (hasOtherRights) {
        told = new ToldActions(await readOpen())
        return startAnew(after)
      }
      // A row may begin before the place: its earlier events have been handled.
      const news = page.events.filter(({ id }) => id > after)
      if (news.length === 0) return { ...page, events: news }
      const ids = new Set(news.flatMap(({ event }) => events.actionOf(event) ?? []))
      const nowMs = clock.nowMs()
      const judged = await store.read(
        () => judge(principal, [...ids], told, nowMs),
        `judged for ${who} after ${after}: ${[...ids]} but ${[...ids].filter((id) => told.has(id))}`,
      )
      // Otherwise they would keep an action as it was that went out of their sight, such as with its session.
      const gone = [...ids].filter((id) => told.has(id) && !judged.has(id))
      if (gone.length > 0) {
        // They may hold more than is listed here, and do not lose it by the reset.
        told.addOpen(await readOpen())
        for (const id of gone) told.delete(id)
        return startAnew(after)
      }
      visible = new Set()
      const toldHere = new Set<string>()
      const seen = news.map((stored) => {
        const id = events.actionOf(stored.event) ?? ''
        if (!judged.has(id)) return stored
        const isNew = !told.has(id) && !toldHere.has(id)
        const event = isNew ? inFull(stored.event, judged.get(id)) : stored.event
        const sent = event === stored.event ? stored : { ...stored, event }
        toldHere.add(id)
        visible.add(sent)
        return sent
      })
      return { ...page, events: seen }
    },
  }
}

/** True for an event after which only a person's retry moves its action. */
const endsIt = (event: NewEvent): boolean => event.type === 'action_update' && hasEnded(event.data.state)

/** The ids of the actions that a reader finds open in their lists. */
function* listOpen(principal: Principal, reader: visibility.Reader, nowMs: number): Tx<string[]> {
  return [...(yield* actions.listOpenIds(reader, MAX_OPEN)), ...(yield* listLentIds(principal, MAX_OPEN, nowMs))]
}

/** Sends an action as new to a reader who may see it only now, such as a person who becomes eligible to decide it. */
function inFull(event: NewEvent, action: Action | undefined): NewEvent {
  if (action?.state !== 'proposed') return event
  const isAsItIs = event.type === 'action_proposed' && event.data.proposal.updatedAt === action.updatedAt
  return isAsItIs ? event : { type: 'action_proposed', data: { proposal: action } }
}

/** Returns the actions that the principal may see now, in full where they were not sent before. */
function* judge(principal: Principal, ids: readonly string[], told: Pick<ToldActions, 'has'>, nowMs: number) {
  const judged = new Map<string, Action | undefined>()
  for (const id of yield* visibleAmong(principal, ids, nowMs)) {
    const row = told.has(id) ? undefined : yield* actions.findAction.first({ id })
    judged.set(id, row && (yield* viewAction(row, { nowMs })))
  }
  return judged
}

interface Place {
  after: number
  limit: number
  isFirst: boolean
  /** Events up to here were handed to the current listeners, and will not be handed over again. */
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
