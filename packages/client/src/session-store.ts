import type { Message } from '@countersign/core'
import { ApiError, isApiError } from './api-error.ts'
import type { Client } from './client.ts'
import { type ConnectionState, type EventsOptions, events } from './events.ts'
import { untilItWorks } from './reconnect.ts'
import { EMPTY_SESSION, foldActions, foldOlder, foldSession, type SessionState, sessionState } from './session-state.ts'
import { createValue, type Store } from './store.ts'

/** `failure` is set when the store gave up (signed out, no such session); `connection` is then `closed`. */
export type SessionSnapshot = SessionState & {
  connection: ConnectionState
  failure: ApiError | null
  /** Whether there are messages before the first one here. `failed`: the last try to load them came to nothing; try again. */
  older: 'none' | 'more' | 'loading' | 'failed'
}
export type SessionStore = Store<SessionSnapshot> & {
  /** Loads the messages before the first one here: a page of them. Does nothing while it does so, or where there are none. */
  loadOlder(): Promise<void>
}
/** `pageSize` (1 to 200): as many messages are loaded at first, the newest, and with each `loadOlder()`. Default: all at once. */
export type SessionOptions = StoreOptions & { pageSize?: number }
export type StoreOptions = Pick<EventsOptions, 'silenceMs' | 'schedule' | 'random'>

/**
 * A session, live: loads it with its messages, then follows its events until `close()`. While `session` is null it is loading.
 * Nothing is thrown at you: what went wrong for good is in `failure`.
 *
 * @example
 * const store = openSession(client, sessionId)
 * const stop = store.subscribe(() => render(store.get()))
 */
export function openSession(client: Client, sessionId: string, { pageSize, ...options }: SessionOptions = {}): SessionStore {
  const value = createValue<SessionSnapshot>({ ...EMPTY_SESSION, connection: { kind: 'connecting' }, failure: null, older: 'none' })
  /** Where the next page of older messages begins; undefined where there is none. */
  let cursor: string | undefined
  const closing = new AbortController()
  const { signal } = closing
  const retrying = { ...options, signal, onState: (connection: ConnectionState) => value.set({ ...value.get(), connection }) }

  async function load(): Promise<void> {
    const session = await client.sessions.get(sessionId, { signal })
    // After a reset, as many as there were: nobody loses what they are reading.
    const newest = await loadMessages(pageSize && Math.max(pageSize, value.get().messages.length))
    const state = sessionState(session, newest.messages)
    // The text of a message that is being written lives only in the events since the last whole message.
    const wholeSeqs = state.messages.filter((message) => !message.queued && message.seq <= session.lastSeq).map((message) => message.seq)
    const lastSeq = session.status === 'active' ? Math.max(0, ...wholeSeqs) : session.lastSeq
    cursor = newest.cursor
    value.set({ ...value.get(), ...state, lastSeq, older: cursor === undefined ? 'none' : 'more' })
  }

  /** @param atLeast Undefined for all. */
  async function loadMessages(atLeast: number | undefined): Promise<{ messages: Message[]; cursor: string | undefined }> {
    const messages: Message[] = []
    let next: string | undefined
    do {
      const page = await client.sessions.messages(sessionId, { limit: pageSize ?? 200, cursor: next }, { signal })
      messages.push(...page.items)
      next = page.nextCursor ?? undefined
    } while (next !== undefined && (atLeast === undefined || messages.length < atLeast))
    return { messages, cursor: next }
  }

  async function loadOlder(): Promise<void> {
    const from = cursor
    if (from === undefined || value.get().older === 'loading') return
    value.set({ ...value.get(), older: 'loading' })
    try {
      const page = await client.sessions.messages(sessionId, { limit: pageSize ?? 200, cursor: from }, { signal })
      // A reset began the list anew meanwhile.
      if (cursor !== from) return
      cursor = page.nextCursor ?? undefined
      value.set({ ...foldOlder(value.get(), page.items), older: cursor === undefined ? 'none' : 'more' })
    } catch {
      if (cursor === from) value.set({ ...value.get(), older: 'failed' })
    }
  }

  async function follow(): Promise<void> {
    await untilItWorks(load, retrying)
    const path = `/api/sessions/${encodeURIComponent(sessionId)}/events`
    for await (const event of events(client, { path, after: value.get().lastSeq, ...retrying })) {
      if (event.type === 'session_deleted') throw new ApiError('not_found', 404, `${event.data.by.name} deleted this session.`)
      const before = value.get().toFetch
      value.set(foldSession(value.get(), event))
      // A reset carries the newest messages only.
      if (event.type === 'reset') await untilItWorks(load, retrying)
      for (const id of value.get().toFetch) if (!before.includes(id)) void fetchAction(id).catch(giveUp)
    }
  }

  async function fetchAction(actionId: string): Promise<void> {
    const ask = () => client.actions.get(actionId, {}, { signal })
    const action = await untilItWorks(ask, { ...retrying, onState: () => {} }).catch((error: unknown) => {
      // One that is not shown to this person is no reason to stop showing the session.
      if (isApiError(error) && error.status === 404) return undefined
      throw error
    })
    if (action) value.set(foldActions(value.get(), [action]))
  }

  function giveUp(error: unknown): void {
    if (signal.aborted) return
    closing.abort()
    value.set({ ...value.get(), connection: { kind: 'closed' }, failure: asApiError(error) })
  }

  void follow().catch(giveUp)
  return { get: value.get, subscribe: value.subscribe, close: () => closing.abort(), loadOlder }
}

/** A failure in words, also for what no call foresaw. */
export const asApiError = (error: unknown): ApiError =>
  isApiError(error) ? error : new ApiError('internal', 0, 'The answer of the server could not be understood.', {}, { cause: error })
