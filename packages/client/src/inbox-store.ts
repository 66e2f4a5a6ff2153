import type { Action, SessionEvent } from '@countersign/core'
import { type Actions, mergeActions, updateAction } from './action-merge.ts'
import type { ApiError } from './api-error.ts'
import type { Client } from './client.ts'
import { type ConnectionState, events } from './events.ts'
import { scheduleTimeout, untilItWorks } from './reconnect.ts'
import { asApiError, type StoreOptions } from './session-store.ts'
import { createValue, type Store } from './store.ts'

export type InboxSnapshot = {
  /** Waiting actions, oldest first, and for 5 s those that just stopped waiting (told apart by their `state`). */
  items: readonly Action[]
  /** How many really wait. */
  waiting: number
  loaded: boolean
  connection: ConnectionState
  failure: ApiError | null
}
export type InboxStore = Store<InboxSnapshot>

const LINGER_MS = 5_000

/**
 * Every action that waits for a decision, live until `close()`. What was decided, here or elsewhere, stays 5 s, so that nothing
 * vanishes under a pointer.
 *
 * @example
 * const inbox = openInbox(client)
 * inbox.subscribe(() => { document.title = `(${inbox.get().waiting}) Approvals` })
 */
export function openInbox(client: Client, options: StoreOptions = {}): InboxStore {
  const schedule = options.schedule ?? scheduleTimeout
  const value = createValue<InboxSnapshot>({ items: [], waiting: 0, loaded: false, connection: { kind: 'connecting' }, failure: null })
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
    const waiting: Action[] = []
    let cursor: string | undefined
    do {
      const page = await client.actions.list({ state: 'proposed', limit: 200, cursor }, { signal })
      waiting.push(...page.items)
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    const ids = new Set(waiting.map((action) => action.id))
    keep(waiting)
    value.set({ ...value.get(), loaded: true })
    for (const action of Object.values(held)) if (action.state === 'proposed' && !ids.has(action.id)) await fetchAction(action.id)
  }

  async function fetchAction(actionId: string): Promise<void> {
    keep([await client.actions.get(actionId, {}, { signal })])
  }

  function take(event: SessionEvent): void {
    if (event.type === 'reset') void untilItWorks(list, quiet).catch(giveUp)
    if (event.type === 'action_proposed') keep([event.data.proposal])
    if (event.type !== 'action_update') return
    const { proposalId } = event.data
    const updated = updateAction(held[proposalId], event.data)
    if (updated !== undefined) hold({ ...held, [proposalId]: updated })
    else if (event.data.state === 'proposed') void untilItWorks(() => fetchAction(proposalId), quiet).catch(giveUp)
    else drop(proposalId)
  }

  /** Takes in what waits, and news of what is held; what never waited, because policy decided it, is not for the inbox. */
  function keep(actions: readonly Action[]): void {
    hold(
      mergeActions(
        held,
        actions.filter((action) => action.state === 'proposed' || action.id in held),
      ),
    )
  }

  /** Takes `next` as the held actions; whatever no longer waits leaves after a while. */
  function hold(next: Actions): void {
    if (next === held) return
    held = next
    for (const { id, state } of Object.values(next)) {
      if (state === 'proposed') {
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
    value.set({ ...value.get(), items, waiting: items.filter((action) => action.state === 'proposed').length })
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
