import type { Message, MessageList, SessionEvent } from '@countersign/core'
import { ApiError, isApiError } from './api-error.ts'
import type { Client } from './client.ts'
import { type ConnectionState, type EventsOptions, events } from './events.ts'
import { type RetryOptions, untilItWorks } from './reconnect.ts'
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
export type StoreOptions = Pick<EventsOptions, 'silenceMs' | 'schedule' | 'random'> & {
  /** Where the events come from. Default: {@link events}. Each time it says `live`, events before that may be missing. */
  follow?: typeof events
}

/**
 * A session, live: loads it with its messages, then follows its events until `close()`. While `session` is null it is loading.
 * The store never throws. A permanent error is in `failure`.
 *
 * @example
 * const store = openSession(client, sessionId)
 * const stop = store.subscribe(() => render(store.get()))
 */
export function openSession(client: Client, sessionId: string, { pageSize, ...options }: SessionOptions = {}): SessionStore {
  const session = new LiveSession(client, sessionId, { pageSize, options })
  void session.follow()
  return session
}

class LiveSession implements SessionStore {
  readonly #client: Client
  readonly #sessionId: string
  readonly #pageSize: number | undefined
  readonly #retrying: RetryOptions & StoreOptions
  readonly #closing = new AbortController()
  readonly #value = createValue<SessionSnapshot>({ ...EMPTY_SESSION, connection: { kind: 'connecting' }, failure: null, older: 'none' })
  /** Where the next page of older messages begins; undefined after the last. */
  #cursor: string | undefined

  constructor(client: Client, sessionId: string, { pageSize, options }: { pageSize: number | undefined; options: StoreOptions }) {
    this.#client = client
    this.#sessionId = sessionId
    this.#pageSize = pageSize
    const onState = (connection: ConnectionState) => this.#set({ connection })
    this.#retrying = { ...options, signal: this.#closing.signal, onState }
  }

  readonly get = this.#value.get
  readonly subscribe = this.#value.subscribe
  readonly close = (): void => this.#closing.abort()

  readonly loadOlder = async (): Promise<void> => {
    const from = this.#cursor
    if (from === undefined || this.get().older === 'loading') return
    this.#set({ older: 'loading' })
    try {
      const page = await this.#page(from)
      // A reset loaded the list anew meanwhile.
      if (this.#cursor !== from) return
      this.#cursor = page.nextCursor ?? undefined
      this.#value.set({ ...foldOlder(this.get(), page.items), older: this.#cursor === undefined ? 'none' : 'more' })
    } catch {
      if (this.#cursor === from) this.#set({ older: 'failed' })
    }
  }

  /** Loads the session, then takes its events until the store is closed or gives up. */
  async follow(): Promise<void> {
    try {
      await untilItWorks(() => this.#load(), this.#retrying)
      const path = `/api/sessions/${encodeURIComponent(this.#sessionId)}/events`
      const { follow = events } = this.#retrying
      for await (const event of follow(this.#client, { path, after: this.get().lastSeq, ...this.#retrying })) await this.#take(event)
    } catch (error) {
      this.#giveUp(error)
    }
  }

  #set(changed: Partial<SessionSnapshot>): void {
    this.#value.set({ ...this.get(), ...changed })
  }

  async #take(event: SessionEvent): Promise<void> {
    if (event.type === 'session_deleted') throw new ApiError('not_found', 404, `${event.data.by.name} deleted this session.`)
    const before = this.get().toFetch
    this.#value.set(foldSession(this.get(), event))
    // A reset carries the newest messages only.
    if (event.type === 'reset') await untilItWorks(() => this.#load(), this.#retrying, true)
    // An action that changed again while it was fetched may have been read before that.
    const changed = event.type === 'action_update' ? event.data.proposalId : undefined
    for (const id of this.get().toFetch)
      if (!before.includes(id) || id === changed) this.#fetchAction(id).catch((error: unknown) => this.#giveUp(error))
  }

  async #load(): Promise<void> {
    const session = await this.#client.sessions.get(this.#sessionId, { signal: this.#closing.signal })
    // After a reset, at least as many as before: nobody loses what they are reading.
    const newest = await this.#loadMessages(this.#pageSize && Math.max(this.#pageSize, this.get().messages.length))
    const state = sessionState(session, newest.messages)
    // The text of a message that is being written is only in the events since the last complete message.
    const wholeSeqs = state.messages.filter((message) => !message.queued && message.seq <= session.lastSeq).map((message) => message.seq)
    const lastSeq = session.status === 'active' ? Math.max(0, ...wholeSeqs) : session.lastSeq
    this.#cursor = newest.cursor
    this.#set({ ...state, lastSeq, older: this.#cursor === undefined ? 'none' : 'more' })
  }

  /** @param atLeast Undefined for all. */
  async #loadMessages(atLeast: number | undefined): Promise<{ messages: Message[]; cursor: string | undefined }> {
    const messages: Message[] = []
    let next: string | undefined
    do {
      const page = await this.#page(next)
      messages.push(...page.items)
      next = page.nextCursor ?? undefined
    } while (next !== undefined && (atLeast === undefined || messages.length < atLeast))
    return { messages, cursor: next }
  }

  #page(cursor: string | undefined): Promise<MessageList> {
    return this.#client.sessions.messages(this.#sessionId, { limit: this.#pageSize ?? 200, cursor }, { signal: this.#closing.signal })
  }

  async #fetchAction(actionId: string): Promise<void> {
    const ask = () => this.#client.actions.get(actionId, {}, { signal: this.#closing.signal })
    const action = await untilItWorks(ask, { ...this.#retrying, onState: () => {} }, true).catch((error: unknown) => {
      // An action that this person may not see is no reason to stop showing the session.
      if (isApiError(error) && error.status === 404) return undefined
      throw error
    })
    if (action) this.#value.set(foldActions(this.get(), [action]))
  }

  #giveUp(error: unknown): void {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#set({ connection: { kind: 'closed' }, failure: asApiError(error) })
  }
}

/** `error` as an {@link ApiError}, also when no call foresaw it. */
export const asApiError = (error: unknown): ApiError =>
  isApiError(error) ? error : new ApiError('internal', 0, 'The answer of the server could not be understood.', { cause: error })
