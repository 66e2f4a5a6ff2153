import type { Action, SessionEvent } from '@countersign/core'
import { laterAction, markOverdue, updateAction } from './action-merge.ts'
import { type ApiError, isApiError, isUnexplained } from './api-error.ts'
import type { ActionQuery, Client } from './client.ts'
import { type ConnectionState, events } from './events.ts'
import { type RetryOptions, type Schedule, scheduleTimeout, untilItWorks } from './reconnect.ts'
import { asApiError, type StoreOptions } from './session-store.ts'
import { createValue, type Store } from './store.ts'

export type InboxSnapshot = {
  /**
   * The actions that need a person, oldest first: those that wait for a decision, those with an unknown outcome, and for 5 s those that
   * have just stopped needing one (see their `state`). The newest 1,000 of each kind are listed at the start; `listMore` lists older ones.
   * The newest 1,000 actions that wait for this person's vote in the place of another person are listed as well.
   */
  items: readonly Action[]
  /** How many of them wait for a decision. */
  waiting: number
  /** How many of them are of unknown outcome. */
  unknown: number
  /** True when there are older ones that are not listed. */
  more: boolean
  /** How often the server has had the list read anew: its reader may see other actions than before, or missed some. */
  resets: number
  /** False while the list of the start is being read; its first page is in `items` before that ends. */
  loaded: boolean
  connection: ConnectionState
  failure: ApiError | null
}
export type InboxStore = Store<InboxSnapshot> & {
  /**
   * Lists the next 1,000 older ones of each kind as well; from then on they are kept current like the others. Does nothing while it does
   * so, or when all are listed. Resolves when they are in the snapshot. It never throws: a permanent error is in `failure`.
   */
  listMore(): Promise<void>
  /** Takes in actions that were read elsewhere, such as by a search, and keeps those that need a person current like the others. */
  include(actions: readonly Action[]): void
  /**
   * Keeps an action listed and current although it needs no person any more, such as one that runs, until the returned function is called;
   * the 5 s begin then. Does nothing for an action that is not listed.
   */
  keep(actionId: string): () => void
}

const LINGER_MS = 5_000
/** A person looks at the first few; a page that holds a million rows looks at nothing. */
const STEP_ROWS = 1_000
/** Of so many that no longer need a person it is remembered. No answer takes longer than that many decisions. */
const MOST_SETTLED = 1_000

type Kind = 'proposed' | 'outcome_unknown'
type Version = Pick<Action, 'revision' | 'updatedAt'>
/** How far one kind is listed: up to `rows`, of which the next one is at `cursor`; undefined after the last. */
type Listed = { rows: number; cursor: string | undefined }

/** ISO 8601 UTC sorts as text. */
const oldestFirst = (a: Action, b: Action): number =>
  a.createdAt === b.createdAt ? (a.id < b.id ? -1 : 1) : a.createdAt < b.createdAt ? -1 : 1

/** Where an action belongs among others that are in their order. */
function placeOf(items: readonly Action[], action: Action): number {
  let [from, to] = [0, items.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (oldestFirst(items[middle] as Action, action) < 0) from = middle + 1
    else to = middle
  }
  return from
}

const needsPerson = ({ state }: Pick<Action, 'state'>): boolean => state === 'proposed' || state === 'outcome_unknown'

/**
 * Every action that needs a person, live until `close()`. Decided actions stay for 5 s, so that nothing disappears under a pointer.
 *
 * @example
 * const inbox = openInbox(client)
 * inbox.subscribe(() => { document.title = `(${inbox.get().waiting}) Approvals` })
 */
export function openInbox(client: Client, options: StoreOptions = {}): InboxStore {
  const inbox = new Inbox(client, options)
  void inbox.follow()
  return inbox
}

const EMPTY: InboxSnapshot = {
  items: [],
  waiting: 0,
  unknown: 0,
  more: false,
  resets: 0,
  loaded: false,
  connection: { kind: 'connecting' },
  failure: null,
}

class Inbox implements InboxStore {
  readonly #client: Client
  readonly #schedule: Schedule
  readonly #retrying: RetryOptions & StoreOptions
  readonly #value = createValue(EMPTY)
  readonly #closing = new AbortController()
  /** Functions that cancel the removal timer of each decided action, by action id. */
  readonly #lingering = new Map<string, () => void>()
  readonly #listed: Record<Kind, Listed> = {
    proposed: { rows: STEP_ROWS, cursor: undefined },
    outcome_unknown: { rows: STEP_ROWS, cursor: undefined },
  }
  #listingMore: Promise<void> | undefined
  #listingAnew: Promise<void> | undefined
  /** True when a list that is being read may miss what a reset was about. */
  #isListOld = false
  readonly #held = new Map<string, Action>()
  /** How many callers keep each action, by its id. */
  readonly #kept = new Map<string, number>()
  /** Since when actions that are not held need no person: an answer that was on its way then must not bring them back. */
  readonly #settled = new Map<string, Version>()

  constructor(client: Client, options: StoreOptions) {
    this.#client = client
    this.#schedule = options.schedule ?? scheduleTimeout
    this.#retrying = { ...options, signal: this.#closing.signal }
  }

  readonly get = this.#value.get
  readonly subscribe = this.#value.subscribe

  readonly close = (): void => {
    this.#closing.abort()
    for (const cancel of this.#lingering.values()) cancel()
    this.#lingering.clear()
  }

  /** Takes events until the store is closed or gives up. */
  async follow(): Promise<void> {
    const onState = (connection: ConnectionState) => {
      this.#set({ connection })
      // The list is read once the stream stands, so that nothing falls between the two; and again after each cut.
      if (connection.kind === 'live') void this.#retry(() => this.#list())
    }
    try {
      const { follow = events } = this.#retrying
      for await (const event of follow(this.#client, { path: '/api/events', ...this.#retrying, onState })) this.#take(event)
    } catch (error) {
      this.#giveUp(error)
    }
  }

  #set(changed: Partial<InboxSnapshot>): void {
    this.#value.set({ ...this.#value.get(), ...changed })
  }

  /** Does the work once the server answers, or gives up. The stream was live before, so the server knows what it is about. */
  #retry(work: () => Promise<void>): Promise<void> {
    return untilItWorks(work, this.#retrying, true).catch((error: unknown) => this.#giveUp(error))
  }

  /** Lists both kinds anew, as far as they were listed before. */
  async #list(): Promise<void> {
    const listed = (await Promise.all([this.#listKind('proposed'), this.#listKind('outcome_unknown'), this.#listDelegated()])).flat()
    const ids = new Set(listed.map((action) => action.id))
    this.#keep(listed)
    this.#set({ more: this.#hasMore(), loaded: true })
    for (const action of [...this.#held.values()]) if (this.#isFollowed(action) && !ids.has(action.id)) await this.#fetchAction(action.id)
  }

  /** Many resets may come at once, such as when somebody decides all that their delegate holds: one list at a time, and one behind it. */
  #listAnew(): void {
    this.#isListOld = true
    const list = async () => {
      do {
        this.#isListOld = false
        await this.#list()
      } while (this.#isListOld)
    }
    this.#listingAnew ??= this.#retry(list).finally(() => {
      this.#listingAnew = undefined
    })
  }

  async #listKind(kind: Kind): Promise<Action[]> {
    const { items, cursor } = await this.#read({ state: kind }, this.#listed[kind].rows, undefined)
    this.#listed[kind].cursor = cursor
    return items
  }

  /** The other lists have what a person sees by their own roles, which the person in whose place they vote may not share. */
  async #listDelegated(): Promise<Action[]> {
    try {
      return (await this.#read({ state: 'proposed', delegated: 'true' }, STEP_ROWS, undefined)).items
    } catch (error) {
      // A server from before this list was there.
      if (isApiError(error) && error.code === 'bad_request') return []
      throw error
    }
  }

  readonly listMore = (): Promise<void> => {
    if (this.#value.get().loaded && this.#hasMore()) {
      this.#listingMore ??= this.#retry(() => this.#listOlder()).finally(() => {
        this.#listingMore = undefined
      })
    }
    return this.#listingMore ?? Promise.resolve()
  }

  readonly include = (actions: readonly Action[]): void => this.#keep(actions)

  readonly keep = (actionId: string): (() => void) => {
    this.#kept.set(actionId, (this.#kept.get(actionId) ?? 0) + 1)
    this.#linger(actionId)
    return () => {
      const others = (this.#kept.get(actionId) ?? 0) - 1
      if (others > 0) this.#kept.set(actionId, others)
      else this.#kept.delete(actionId)
      this.#linger(actionId)
    }
  }

  async #listOlder(): Promise<void> {
    for (const kind of ['proposed', 'outcome_unknown'] as const) {
      const listed = this.#listed[kind]
      if (listed.cursor === undefined) continue
      const { items, cursor } = await this.#read({ state: kind }, STEP_ROWS, listed.cursor)
      listed.rows += STEP_ROWS
      listed.cursor = cursor
      this.#keep(items)
    }
    this.#set({ more: this.#hasMore() })
  }

  #hasMore(): boolean {
    return Object.values(this.#listed).some(({ cursor }) => cursor !== undefined)
  }

  /** Reads `rows` of a list and the rest of their last page, newest first, from `from` on. */
  async #read(query: ActionQuery, rows: number, from: string | undefined): Promise<{ items: Action[]; cursor: string | undefined }> {
    const { signal } = this.#closing
    const items: Action[] = []
    let cursor = from
    do {
      const page = await this.#client.actions.list({ ...query, limit: 200, ...(cursor && { cursor }) }, { signal })
      items.push(...page.items)
      // Nobody waits for the pages behind the first one to see it. Shown page by page, the others would have all rows drawn again each time.
      if (!cursor && !this.#value.get().loaded) this.#keep(page.items)
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined && items.length < rows)
    return { items, cursor }
  }

  async #fetchAction(actionId: string): Promise<void> {
    try {
      this.#keep([await this.#client.actions.get(actionId, {}, { signal: this.#closing.signal })])
    } catch (error) {
      // An action that is gone with its session is no reason to stop listing the others.
      if (!isApiError(error) || error.status !== 404 || isUnexplained(error)) throw error
      this.#drop(actionId)
    }
  }

  #take(event: SessionEvent): void {
    if (event.type === 'reset') {
      this.#set({ resets: this.#value.get().resets + 1 })
      this.#listAnew()
    }
    if (event.type === 'action_proposed') {
      this.#settled.delete(event.data.proposal.id)
      this.#keep([event.data.proposal])
    }
    if (event.type === 'approval_overdue') {
      const { actionId } = event.data
      this.#change(actionId, markOverdue(this.#held.get(actionId), event.data), true)
    }
    if (event.type === 'action_update') {
      const { proposalId } = event.data
      // Events come in their order: the last one says how it is.
      if (needsPerson(event.data)) this.#settled.delete(proposalId)
      else this.#noteSettled(proposalId, event.data)
      this.#change(proposalId, updateAction(this.#held.get(proposalId), event.data), needsPerson(event.data))
    }
  }

  /** Takes in a changed action; when the event alone does not say enough, fetches it where it may need a person. */
  #change(actionId: string, changed: Action | undefined, mayNeedPerson: boolean): void {
    if (changed !== undefined) this.#hold([changed])
    else if (mayNeedPerson || this.#kept.has(actionId)) void this.#retry(() => this.#fetchAction(actionId))
    else this.#drop(actionId)
  }

  /** Takes in actions that need a person, and news of those held. An action that policy decided never waited: it is not for the inbox. */
  #keep(actions: readonly Action[]): void {
    const wanted = actions.filter((action) => this.#held.has(action.id) || (needsPerson(action) && !this.#isPast(action)))
    this.#hold(wanted.map((action) => laterAction(this.#held.get(action.id), action)))
  }

  /** Takes actions as they are now; those that no longer wait leave after a while. */
  #hold(actions: readonly Action[]): void {
    const changed = actions.filter((action) => action !== this.#held.get(action.id))
    for (const action of changed) {
      this.#held.set(action.id, action)
      this.#linger(action.id)
    }
    this.#show(new Set(changed.map(({ id }) => id)))
  }

  #isFollowed(action: Action): boolean {
    return needsPerson(action) || this.#kept.has(action.id)
  }

  /** Has a held action leave after a while, or stay. */
  #linger(actionId: string): void {
    const action = this.#held.get(actionId)
    if (action === undefined || this.#closing.signal.aborted) return
    if (this.#isFollowed(action)) {
      this.#lingering.get(actionId)?.()
      this.#lingering.delete(actionId)
    } else if (!this.#lingering.has(actionId)) {
      const cancel = this.#schedule(() => this.#drop(actionId), LINGER_MS)
      this.#lingering.set(actionId, cancel)
    }
  }

  #noteSettled(actionId: string, { revision, updatedAt }: Version): void {
    this.#settled.delete(actionId)
    this.#settled.set(actionId, { revision, updatedAt })
    const [oldest] = this.#settled.keys()
    if (this.#settled.size > MOST_SETTLED && oldest !== undefined) this.#settled.delete(oldest)
  }

  /** True for an action as it was before it stopped needing a person. */
  #isPast({ id, revision, updatedAt }: Action): boolean {
    const last = this.#settled.get(id)
    return last !== undefined && (revision < last.revision || (revision === last.revision && updatedAt <= last.updatedAt))
  }

  #drop(actionId: string): void {
    const last = this.#held.get(actionId)
    if (last && !needsPerson(last)) this.#noteSettled(actionId, last)
    this.#lingering.get(actionId)?.()
    this.#lingering.delete(actionId)
    if (this.#held.delete(actionId)) this.#show(new Set([actionId]))
  }

  /** Shows some of the held actions as they are now. The others keep their place, so that one of thousands costs one search for a place. */
  #show(changed: ReadonlySet<string>): void {
    if (changed.size === 0) return
    const items = this.#value.get().items.filter(({ id }) => !changed.has(id))
    for (const action of [...changed].flatMap((id) => this.#held.get(id) ?? []).sort(oldestFirst))
      items.splice(placeOf(items, action), 0, action)
    let [waiting, unknown] = [0, 0]
    for (const { state } of items) {
      if (state === 'proposed') waiting++
      else if (state === 'outcome_unknown') unknown++
    }
    this.#set({ items, waiting, unknown })
  }

  #giveUp(error: unknown): void {
    if (this.#closing.signal.aborted) return
    this.close()
    this.#set({ connection: { kind: 'closed' }, failure: asApiError(error) })
  }
}
