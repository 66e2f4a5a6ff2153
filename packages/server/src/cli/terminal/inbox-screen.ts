import { setTimeout as delay } from 'node:timers/promises'
import type { Action, Snooze } from '@countersign/core'
import { assigneeOf } from '@countersign/core/text'
import type { Environment } from '../../config/index.ts'
import { type Api, isFinal, readPerson } from '../api.ts'
import { eventsOf } from '../event-stream.ts'
import { assigneeText, isMine } from './assignee.ts'
import { drawInbox } from './draw-inbox.ts'
import { editArguments } from './edit-arguments.ts'
import { openFullScreen } from './full-screen.ts'
import { askToApprove, type Command, emptyView, type InboxView, press, selectedOf, withItems } from './inbox-view.ts'
import { readKeys } from './keys.ts'
import { createLooks } from './looks.ts'
import { newestRead } from './newest-read.ts'
import { styleFor } from './style.ts'

const RECONNECT_MS = 1_000
/** No event says that a snooze ended, or that somebody snoozed in a browser. */
const REREAD_MS = 60_000

export interface InboxScreen {
  api: Api
  environment: Environment
  /** Reads the actions that wait. */
  waiting(): Promise<Action[]>
}

/** Shows the inbox on the whole terminal until the person quits. Actions that others decide disappear at once. */
export async function showInbox({ api, environment, waiting }: InboxScreen): Promise<void> {
  const { stdout } = process
  const style = styleFor(true, environment)
  const over = Promise.withResolvers<void>()
  const stop = new AbortController()
  // A wrong key or address is a message on the ordinary screen.
  const items = await waiting()
  const me = await readPerson(api)
  let view: InboxView = withItems(emptyView(me), items)
  using looks = createLooks(api, me, (digest, by) => change({ ...view, seen: { digest, by } }))
  using screen = openFullScreen({ onKeys: onInput, onResumed: paint, onClosed: over.resolve })

  function paint(): void {
    const { lines, scroll, isAtEnd } = drawInbox(view, { columns: stdout.columns || 80, rows: stdout.rows || 24 }, style)
    const digest = view.items.find(({ id }) => id === view.selected)?.digest
    view = { ...view, scroll, ...(isAtEnd && digest !== undefined && { read: new Set([...view.read, digest]) }) }
    screen.paint(lines)
    const action = selectedOf(view)
    looks.show(action && { action, isRead: view.read.has(action.digest) })
  }
  function change(next: InboxView): void {
    view = next
    if (!stop.signal.aborted) paint()
  }
  const notify = (error: unknown) => change({ ...view, notice: error instanceof Error ? error.message : String(error) })

  // Uses the current view, because keys were pressed meanwhile.
  const reload = newestRead(waiting, (items) => change(withItems(view, items)))

  async function follow(): Promise<void> {
    let lastId: string | undefined
    let lost: string | undefined
    const onId = (id: string) => {
      lastId = id
    }
    while (!stop.signal.aborted) {
      try {
        const from = lastId === undefined ? {} : { headers: { 'last-event-id': lastId } }
        const { body } = await api.open('/api/events', { ...from, signal: stop.signal })
        await reload()
        if (view.notice === lost) change({ ...view, notice: '' })
        for await (const { event } of eventsOf(body, onId)) {
          if (event !== undefined) await reload()
        }
      } catch (error) {
        if (stop.signal.aborted) return
        if (isFinal(error)) throw error
        lost = `Not connected: ${error instanceof Error ? error.message : error}. Trying again.`
        change({ ...view, notice: lost })
      }
      await delay(RECONNECT_MS, undefined, { signal: stop.signal })
    }
  }

  async function decide(action: Action, body: object): Promise<void> {
    const { id, revision, digest } = action
    const decided = await api.call('POST', `/api/actions/${encodeURIComponent(id)}/decision`, { ...body, revision, digest })
    const { description, state, startsAt, executor } = decided as Action
    const approved = state === 'approved' && (startsAt !== null || executor === 'client') ? id : undefined
    change({ ...view, approved, notice: `${description} is ${state}${approved === undefined ? '' : ' · u takes it back until it starts'}` })
    await reload()
  }

  async function undo(id: string): Promise<void> {
    const { description } = (await api.call('POST', `/api/actions/${encodeURIComponent(id)}/undo`, {})) as Action
    change({ ...view, notice: `It waits again: ${description}` })
    await reload()
  }

  async function snooze({ id, description }: Action, body: object): Promise<void> {
    const { until } = (await api.call('POST', `/api/actions/${encodeURIComponent(id)}/snooze`, body)) as Snooze
    change({ ...view, notice: `Snoozed until ${until}: ${description}` })
    await reload()
  }

  async function assign(action: Action): Promise<void> {
    const to = isMine(action, view.me) ? null : { person: view.me.id }
    const body = { to, was: assigneeOf(action) }
    await api.call('POST', `/api/actions/${encodeURIComponent(action.id)}/assign`, body)
    const before = to && assigneeText(action, view.me)
    const notice = to ? `You are on it${before ? `; it was assigned to ${before}` : ''}` : 'You are no longer on it'
    change({ ...view, notice: `${notice}: ${action.description}` })
    await reload()
  }

  async function edit(action: Action): Promise<void> {
    const edited = await screen.lend(() => editArguments(action.arguments, environment))
    const isSame = view.items.some(({ digest }) => digest === action.digest)
    if (edited === undefined || !isSame)
      return change({ ...view, notice: isSame ? 'Nothing was changed.' : 'It changed meanwhile. Nothing was sent.' })
    change(askToApprove({ ...view, selected: action.id }, action, edited))
  }

  async function carryOut(command: Command): Promise<void> {
    if (command.is === 'quit') return over.resolve()
    if (command.is === 'edit') return edit(command.action)
    if (command.is === 'snooze') return snooze(command.action, command.body)
    if (command.is === 'assign') return assign(command.action)
    if (command.is === 'undo') return undo(command.id)
    if (command.is === 'approve')
      return decide(command.action, { verdict: 'approve', ...(command.arguments && { arguments: command.arguments }) })
    const reason = command.reason.trim()
    return decide(command.action, { verdict: 'decline', ...(reason !== '' && { reason }) })
  }

  function onInput(input: string): void {
    const keys = readKeys(input)
    for (const key of keys) {
      const { view: next, command } = press(view, key, keys.length > 1)
      change(next)
      if (command) void carryOut(command).catch(notify)
    }
  }

  stdout.on('resize', paint)
  paint()
  const followed = follow().catch((error: unknown) => {
    if (!stop.signal.aborted) over.reject(error)
  })
  const rereading = setInterval(() => void reload().catch(notify), REREAD_MS)
  try {
    await over.promise
  } finally {
    clearInterval(rereading)
    stop.abort()
    stdout.off('resize', paint)
    await followed
  }
}
