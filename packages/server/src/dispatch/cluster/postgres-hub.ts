import type { Logger } from 'pino'
import type { Clock } from '../../clock.ts'
import { events, type Store, type StoredEvent, sessions } from '../../store/index.ts'
import { createListeners, type EventHub, type EventListener, endedRun, movedAction, tellListeners } from '../event-hub.ts'
import { createFeed, type Feed } from '../feed.ts'
import type { Notices } from './notices.ts'

const PAGE = 500
/** How soon to look again while a transaction may still write before the events that already exist. */
const FIRST_LOOK_MS = 5
const LAST_LOOK_MS = 500

export interface PostgresHubOptions {
  store: Store
  notices: Notices
  clock: Clock
  log: Logger
}

export interface PostgresHub extends EventHub {
  /** Rereads everything that is followed here: a process may have died before it announced its commit. */
  readAgain(): void
  close(): void
}

/**
 * Creates the hub of one of several processes: when told which sessions have news, it reads those that have listeners here from the log.
 * The rows are the truth. Commits of this process go directly to its listeners when they continue what the listeners have.
 */
export function createPostgresHub({ store, notices, clock, log }: PostgresHubOptions): PostgresHub {
  const feeds = new Map<string, Feed>()
  const bySession = createListeners<[StoredEvent]>({
    log,
    onEmpty(sessionId) {
      feeds.get(sessionId)?.close()
      feeds.delete(sessionId)
    },
  })
  const inboxListeners = createListeners<[StoredEvent]>({ log, onEmpty: () => closeInbox() })
  const byAction = createListeners<[]>({ log, onEmpty: () => closeInbox() })
  const byRun = createListeners<[]>({ log })
  const access = createListeners<[]>({ log })
  let inbox: Feed | undefined
  let inboxPlace = 0

  const onFailure = (error: unknown) => log.warn({ error }, 'events.read_failed')

  function followSession(sessionId: string): Feed {
    const hand = (stored: StoredEvent[]) => {
      for (const one of stored) bySession.tell(sessionId, one)
    }
    return createFeed({
      clock,
      begin: async () => (await store.read(() => sessions.findSession.first({ id: sessionId })))?.last_seq ?? 0,
      async read(place) {
        const rows = await store.read(() => events.sessionRowsAfter.all({ session_id: sessionId, after: place, limit: PAGE }))
        hand(rows.flatMap(events.readEvents).filter(({ seq }) => (seq ?? 0) > place))
        return { place: rows.at(-1)?.last_seq ?? place, againMs: rows.length === PAGE ? 0 : undefined }
      },
      onFailure,
    })
  }

  /** Rows that are not final are not shown in the inbox yet, because its places only increase; but their actions have moved. */
  function followInbox(): Feed {
    let early = new Set<number>()
    let lookMs = FIRST_LOOK_MS
    const feed = createFeed({
      clock,
      begin: () => store.read(events.lastPlace),
      async read(place) {
        const rows = await store.read(() => events.newInboxRows.all({ after: place, limit: PAGE }))
        const seen = early
        early = new Set()
        let last = place
        for (const row of rows) {
          for (const stored of events.readEvents(row).filter(events.isForInbox)) {
            const moved = movedAction(stored)
            if (moved !== undefined && !seen.has(row.id)) byAction.tell(moved)
            if (row.is_final) inboxListeners.tell('', stored)
          }
          if (row.is_final) last = row.id
          else early.add(row.id)
        }
        inboxPlace = Math.max(inboxPlace, last)
        lookMs = early.size === 0 || last > place ? FIRST_LOOK_MS : Math.min(lookMs * 2, LAST_LOOK_MS)
        return { place: last, againMs: rows.length === PAGE && last > place ? 0 : early.size > 0 ? lookMs : undefined }
      },
      onFailure,
    })
    // Rows that are not final yet come after its beginning, and their notice came before it: only a read finds them.
    feed.wake()
    return feed
  }

  function closeInbox(): void {
    if (inboxListeners.size + byAction.size > 0) return
    inbox?.close()
    inbox = undefined
  }

  /** Adds a listener and returns when its feed is in place; on failure nothing is left behind. */
  async function subscribe(feed: Feed, unsubscribe: () => void): Promise<() => void> {
    try {
      await feed.ready
      return unsubscribe
    } catch (error) {
      unsubscribe()
      throw error
    }
  }

  function publishToSession(sessionId: string, stored: StoredEvent[]): void {
    const feed = feeds.get(sessionId)
    if (!feed) return
    const [first, last] = [stored[0]?.seq, stored.at(-1)?.seq]
    if (feed.restsAt === undefined || first !== feed.restsAt + 1 || last == null) {
      feed.wake()
      return
    }
    feed.skipTo(last)
    for (const one of stored) bySession.tell(sessionId, one)
  }

  function readAgain(): void {
    for (const feed of feeds.values()) feed.wake()
    inbox?.wake()
    access.tellAll()
  }

  notices.onGap(readAgain)
  notices.onNotice((notice) => {
    const named = notice.sessions === 'many' ? feeds.keys() : notice.sessions
    for (const sessionId of named) feeds.get(sessionId)?.wake()
    if (notice.inbox) inbox?.wake()
    for (const runId of notice.ended) byRun.tell(runId)
    tellListeners(access, notice.access)
  })

  return {
    publish(published) {
      const groups = Map.groupBy(published, ({ sessionId }) => sessionId)
      const named = new Set<string>()
      for (const [sessionId, stored] of groups) {
        if (sessionId === null) continue
        named.add(sessionId)
        publishToSession(sessionId, stored)
      }
      const forInbox = published.filter(events.isForInbox)
      for (const moved of new Set(forInbox.map(movedAction))) if (moved !== undefined) byAction.tell(moved)
      if (forInbox.length > 0) inbox?.wake()
      const ended = new Set(published.map(endedRun).filter((runId) => runId !== undefined))
      for (const runId of ended) byRun.tell(runId)
      notices.tell({ sessions: named, inbox: forInbox.length > 0, ended })
    },
    onSession(sessionId, listener: EventListener) {
      const unsubscribe = bySession.add(sessionId, listener)
      const feed = feeds.get(sessionId) ?? followSession(sessionId)
      feeds.set(sessionId, feed)
      return subscribe(feed, unsubscribe)
    },
    onInbox(listener) {
      const unsubscribe = inboxListeners.add('', listener)
      inbox ??= followInbox()
      return subscribe(inbox, unsubscribe)
    },
    get inboxPlace() {
      return inboxPlace
    },
    onAction(actionId, changed) {
      const unsubscribe = byAction.add(actionId, changed)
      inbox ??= followInbox()
      return subscribe(inbox, unsubscribe)
    },
    onRunEnded: byRun.add,
    publishAccess(principalIds) {
      tellListeners(access, principalIds)
      notices.tell({ access: principalIds })
    },
    onAccess: access.add,
    readAgain,
    close() {
      for (const feed of feeds.values()) feed.close()
      inbox?.close()
    },
  }
}
