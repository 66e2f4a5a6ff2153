import type { Action, SessionEvent } from '@countersign/core'
import { type Actions, markOverdue, mergeActions, updateAction } from './action-merge.ts'
import type { ApiError } from './api-error.ts'
import type { Client } from './client.ts'
import { type ConnectionState, events } from './events.ts'
import { scheduleTimeout, untilItWorks } from './reconnect.ts'
import { asApiError, type StoreOptions } from './session-store.ts'
import { createValue, type Store } from './store.ts'

export type InboxSnapshot = {
  /**
   * What needs a person, oldest first: actions that wait for a decision and those of unknown outcome; and for 5 s those that just stopped
   * (told apart by their `state`). At most the newest {@link MAX_LISTED} of each kind are listed at the start.
   */
  items: readonly Action[]
  /** How many of them wait for a decision. */
  waiting: number
  /** How many of them are of unknown outcome. */
  unknown: number
  /** True when there are more than are listed. */
  more: boolean
  loaded: boolean
  connection: ConnectionState
  failure: ApiError | null
}
export type InboxStore = Store<InboxSnapshot>

const LINGER_MS = 5_000
/** A person looks at the first few; a page that holds a million rows looks at nothing. */
const MAX_LISTED = 1_000

const needsPerson = ({ state }: Pick<Action, 'state'>): boolean => state === 'proposed' || state === 'outcome_unknown'

/**
 * Every action that needs a person, live until `close()`. What was decided, here or elsewhere, stays 5 s, so that nothing
 * vanishes under a pointer.
 *
 * @example
 * const inbox = openInbox(client)
 * inbox.subscribe(() => { document.title = `(${inbox.get().waiting}) Approvals` })
 */
export function openInbox(client: Client, options: StoreOptions = {}): InboxStore {
  const schedule = options.schedule ?? scheduleTimeout
  const value = createValue<InboxSnapshot>({
    items: [],
    waiting: 0,
    unknown: 0,
    more: false,
    loaded: false,
    connection: { kind: 'connecting' },
    failure: null,
  })
  const closing = new AbortController()
  const { signal } = closing
  const lingering = new Map<string, () => void>()
  let held: Actions = {}

  const onState = (connection: ConnectionState) => {
    value.set({ ...value.get(), connection })
    // The list is read once the stream stands, so that nothing falls between the two; and again after each cut.
    if (connection.kind === 'live') void untilItWorks(list, quiet).catch(giveUp)
  }
  const retrying = { ...options, signal, onState }
  const quiet = { ...retrying, onState: () => {} }

  async function list(): Promise<void> {
    const listed = [await listState('proposed'), await listState('outcome_unknown')]
    const found = listed.flatMap(({ items }) => items)
    const ids = new Set(found.map((action) => action.id))
    keep(found)
    value.set({ ...value.get(), more: listed.some(({ more }) => more), loaded: true })
    for (const action of Object.values(held)) if (needsPerson(action) && !ids.has(action.id)) await fetchAction(action.id)
  }

  async function listState(state: Action['state']): Promise<{ items: Action[]; more: boolean }> {
    const items: Action[] = []
    let cursor: string | undefined
    do {
      const page = await client.actions.list({ state, limit: 200, cursor }, { signal })
      items.push(...page.items)
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined && items.length < MAX_LISTED)
    return { items, more: cursor !== undefined }
  }

  async function fetchAction(actionId: string): Promise<void> {
    keep([await client.actions.get(actionId, {}, { signal })])
  }

  function take(event: SessionEvent): void {
    if (event.type === 'reset') void untilItWorks(list, quiet).catch(giveUp)
    if (event.type === 'action_proposed') keep([event.data.proposal])
    if (event.type === 'approval_overdue') {
      const { actionId } = event.data
      change(actionId, markOverdue(held[actionId], event.data), true)
    }
    if (event.type === 'action_update') {
      const { proposalId } = event.data
      change(proposalId, updateAction(held[proposalId], event.data), needsPerson(event.data))
    }
  }

  /** Takes in a changed action; one that the event alone cannot tell is fetched where it may need a person. */
  function change(actionId: string, changed: Action | undefined, mayNeedPerson: boolean): void {
    if (changed !== undefined) hold({ ...held, [actionId]: changed })
    else if (mayNeedPerson) void untilItWorks(() => fetchAction(actionId), quiet).catch(giveUp)
    else drop(actionId)
  }

  /** Takes in what needs a person, and news of what is held; what never waited, because policy decided it, is not for the inbox. */
  function keep(actions: readonly Action[]): void {
    hold(
      mergeActions(
        held,
        actions.filter((action) => needsPerson(action) || action.id in held),
      ),
    )
  }

  /** Takes `next` as the held actions; whatever no longer waits leaves after a while. */
  function hold(next: Actions): void {
    if (next === held) return
    held = next
    for (const action of Object.values(next)) {
      const { id } = action
      if (needsPerson(action)) {
        lingering.get(id)?.()
        lingering.delete(id)
      } else if (!lingering.has(id)) {
        lingering.set(
          id,
          schedule(() => drop(id), LINGER_MS),
        )
      }
    }
    show()
  }

  function drop(actionId: string): void {
    if (!(actionId in held)) return
    lingering.get(actionId)?.()
    lingering.delete(actionId)
    const { [actionId]: _, ...rest } = held
    held = rest
    show()
  }

  function show(): void {
    const items = Object.values(held).sort((a, b) => (a.createdAt + a.id < b.createdAt + b.id ? -1 : 1))
    const count = (state: Action['state']) => items.filter((action) => action.state === state).length
    value.set({ ...value.get(), items, waiting: count('proposed'), unknown: count('outcome_unknown') })
  }

  function giveUp(error: unknown): void {
    if (signal.aborted) return
    close()
    value.set({ ...value.get(), connection: { kind: 'closed' }, failure: asApiError(error) })
  }

  function close(): void {
    closing.abort()
    for (const cancel of lingering.values()) cancel()
    lingering.clear()
  }

  async function follow(): Promise<void> {
    for await (const event of events(client, { path: '/api/events', ...retrying })) take(event)
  }
  void follow().catch(giveUp)
  return { get: value.get, subscribe: value.subscribe, close }
}
