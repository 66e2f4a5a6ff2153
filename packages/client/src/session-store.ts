import type { Message } from '@countersign/core'
import { ApiError, isApiError } from './api-error.ts'
import type { Client } from './client.ts'
import { type ConnectionState, type EventsOptions, events } from './events.ts'
import { untilItWorks } from './reconnect.ts'
import { EMPTY_SESSION, foldActions, foldSession, type SessionState, sessionState } from './session-state.ts'
import { createValue, type Store } from './store.ts'

/** `failure` is set when the store gave up (signed out, no such session); `connection` is then `closed`. */
export type SessionSnapshot = SessionState & { connection: ConnectionState; failure: ApiError | null }
export type SessionStore = Store<SessionSnapshot>
export type StoreOptions = Pick<EventsOptions, 'silenceMs' | 'schedule' | 'random'>

/**
 * A session, live: loads it with all its messages, then follows its events until `close()`. While `session` is null it is loading.
 * Nothing is thrown at you: what went wrong for good is in `failure`.
 *
 * @example
 * const store = openSession(client, sessionId)
 * const stop = store.subscribe(() => render(store.get()))
 */
export function openSession(client: Client, sessionId: string, options: StoreOptions = {}): SessionStore {
  const value = createValue<SessionSnapshot>({ ...EMPTY_SESSION, connection: { kind: 'connecting' }, failure: null })
  const closing = new AbortController()
  const { signal } = closing
  const retrying = { ...options, signal, onState: (connection: ConnectionState) => value.set({ ...value.get(), connection }) }

  async function load(): Promise<void> {
    const session = await client.sessions.get(sessionId, { signal })
    const state = sessionState(session, await allMessages(client, sessionId, signal))
    // The text of a message that is being written lives only in the events since the last whole message.
    const wholeSeqs = state.messages.filter((message) => !message.queued && message.seq <= session.lastSeq).map((message) => message.seq)
    const lastSeq = session.status === 'active' ? Math.max(0, ...wholeSeqs) : session.lastSeq
    value.set({ ...value.get(), ...state, lastSeq })
  }

  async function follow(): Promise<void> {
    await untilItWorks(load, retrying)
    const path = `/api/sessions/${encodeURIComponent(sessionId)}/events`
    for await (const event of events(client, { path, after: value.get().lastSeq, ...retrying })) {
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
  return { get: value.get, subscribe: value.subscribe, close: () => closing.abort() }
}

/** A failure in words, also for what no call foresaw. */
export const asApiError = (error: unknown): ApiError =>
  isApiError(error) ? error : new ApiError('internal', 0, 'The answer of the server could not be understood.', {}, { cause: error })

async function allMessages(client: Client, sessionId: string, signal: AbortSignal): Promise<Message[]> {
  const messages: Message[] = []
  let cursor: string | undefined
  do {
    const page = await client.sessions.messages(sessionId, { limit: 200, cursor }, { signal })
    messages.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return messages
}
