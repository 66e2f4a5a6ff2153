import type { Action, Principal, SeenBy, SnoozeBody } from '@countersign/core'
import { isHighRisk, type SnoozeTime, snoozeTimes } from '@countersign/core/text'
import type { Key } from './keys.ts'

type Arguments = Readonly<Record<string, unknown>>

/** A command of the person, which the program carries out. */
export type Command =
  | { is: 'approve'; action: Action; arguments?: Arguments }
  | { is: 'decline'; action: Action; reason: string }
  | { is: 'edit'; action: Action }
  | { is: 'snooze'; action: Action; body: SnoozeBody }
  /** Takes it on, or takes that back. */
  | { is: 'assign'; action: Action }
  /** Takes the approval of this action back. */
  | { is: 'undo'; id: string }
  | { is: 'quit' }

/** A decision that needs one more key. It is for the digest that was on the screen. */
type Pending =
  | { for: 'approve'; digest: string; arguments?: Arguments }
  | { for: 'decline'; digest: string; reason: string }
  | { for: 'snooze'; digest: string; times: readonly SnoozeTime[] }

/** The state of the screen. */
export interface InboxView {
  /** The person who decides here. */
  me: Pick<Principal, 'id'>
  items: readonly Action[]
  /** The id of the selected action. */
  selected: string | undefined
  pending: Pending | undefined
  /** The newest event, as a sentence. */
  notice: string
  /** The first line of the details that is shown. */
  scroll: number
  /** Digests whose details were shown to their end. */
  read: ReadonlySet<string>
  /** The other people who have had the selected action on their screen, as far as that is known of its digest. */
  seen: { digest: string; by: readonly SeenBy[] } | undefined
  /** The id of the action that was approved here last, if its approval can be taken back until it starts. */
  approved: string | undefined
  /** When another action took the place of the selected one, which is gone. A key may still be meant for that. */
  replacedAt: number | undefined
}

/** As long as a card in the console does not take a decision after it has changed. */
const REPLACED_MS = 500

export const emptyView = (me: Pick<Principal, 'id'>): InboxView => ({
  me,
  items: [],
  selected: undefined,
  pending: undefined,
  notice: '',
  scroll: 0,
  read: new Set(),
  seen: undefined,
  approved: undefined,
  replacedAt: undefined,
})

export const indexOf = ({ items, selected }: InboxView): number =>
  Math.max(
    items.findIndex(({ id }) => id === selected),
    0,
  )

export const selectedOf = (view: InboxView): Action | undefined => view.items[indexOf(view)]

/** The view with other items. The selection stays on its action, or moves to the next one. A pending decision about a changed action is dropped. */
export function withItems(view: InboxView, items: readonly Action[], nowMs = Date.now()): InboxView {
  const isThere = items.some(({ id }) => id === view.selected)
  const selected = isThere ? view.selected : items[Math.min(indexOf(view), items.length - 1)]?.id
  const digest = items.find(({ id }) => id === selected)?.digest
  const isCurrent = view.pending === undefined || view.pending.digest === digest
  return {
    ...view,
    items,
    selected,
    ...(isThere ? {} : { scroll: 0, replacedAt: view.selected === undefined ? undefined : nowMs }),
    ...(isCurrent ? {} : { pending: undefined, notice: 'It changed, or somebody else decided. Nothing was sent.' }),
  }
}

/**
 * The command of a key. Approving takes two keys, so that none decides by accident.
 * @param isBurst It came together with other keys, as pasted text does. Such a key confirms nothing.
 */
export function press(view: InboxView, key: Key, isBurst: boolean, nowMs = Date.now()): { view: InboxView; command?: Command } {
  const action = selectedOf(view)
  const name = 'name' in key ? key.name : undefined
  if (name === 'end') return { view, command: { is: 'quit' } }
  if (view.pending?.for === 'approve' && action) return confirm(view, action, key, isBurst)
  if (view.pending?.for === 'snooze' && action) return chooseTime(view, action, view.pending.times, isBurst ? undefined : key)
  if (view.pending?.for === 'decline' && action) return writeReason(view, action, isBurst && name === 'enter' ? { text: ' ' } : key)
  const letter = 'text' in key ? key.text.toLowerCase() : undefined
  if (letter === 'q' || name === 'escape') return { view, command: { is: 'quit' } }
  if (letter === 'j' || name === 'down') return { view: moved(view, 1) }
  if (letter === 'k' || name === 'up') return { view: moved(view, -1) }
  if (name === 'page-down' || letter === ' ') return { view: { ...view, scroll: view.scroll + SCROLL_LINES } }
  if (name === 'page-up' || letter === 'b') return { view: { ...view, scroll: Math.max(view.scroll - SCROLL_LINES, 0) } }
  if (letter === 'u' && view.approved !== undefined && !isBurst)
    return { view: { ...view, approved: undefined }, command: { is: 'undo', id: view.approved } }
  if (!action) return { view }
  if (letter === 'a' && view.replacedAt !== undefined && nowMs - view.replacedAt < REPLACED_MS)
    return { view: { ...view, notice: 'The action before it is gone. Look at this one, then approve.' } }
  if (letter === 'a') return { view: askToApprove(view, action) }
  if (letter === 'd') return { view: { ...view, notice: '', pending: { for: 'decline', digest: action.digest, reason: '' } } }
  // Before anything is written, which would be lost.
  if (letter === 'e') return view.read.has(action.digest) ? { view, command: { is: 'edit', action } } : { view: askToApprove(view, action) }
  if (letter === 's') return { view: askUntil(view, action) }
  if (letter === 'm' && !isBurst) return { view, command: { is: 'assign', action } }
  return { view }
}

/** Few enough that no line of the details is skipped on a small terminal. */
const SCROLL_LINES = 5

/** The view that asks whether to approve, or what has to be read first. */
export function askToApprove(view: InboxView, action: Action, edited?: Arguments): InboxView {
  if (!view.read.has(action.digest))
    return { ...view, pending: undefined, notice: 'Not all of it was shown yet. Press space until its end, then approve.' }
  return { ...view, scroll: 0, notice: '', pending: { for: 'approve', digest: action.digest, ...(edited && { arguments: edited }) } }
}

function askUntil(view: InboxView, action: Action): InboxView {
  const times = snoozeTimes(action, Date.now())
  if (times.length === 0) return { ...view, notice: 'It expires too soon to be snoozed.' }
  return { ...view, notice: '', pending: { for: 'snooze', digest: action.digest, times } }
}

function chooseTime(view: InboxView, action: Action, times: readonly SnoozeTime[], key: Key | undefined) {
  const time = key && 'text' in key && /^[1-9]$/.test(key.text) ? times[Number(key.text) - 1] : undefined
  const next = { ...view, pending: undefined, notice: time ? '' : 'It was not snoozed.' }
  return time ? { view: next, command: { is: 'snooze', action, body: time.body } as const } : { view: next }
}

const NOTHING = 'Nothing was decided.'

function confirm(view: InboxView, action: Action, key: Key, isBurst: boolean): { view: InboxView; command?: Command } {
  const name = 'name' in key ? key.name : undefined
  if (name === 'page-down') return { view: { ...view, scroll: view.scroll + SCROLL_LINES } }
  if (name === 'page-up') return { view: { ...view, scroll: Math.max(view.scroll - SCROLL_LINES, 0) } }
  const isYes = ('text' in key && key.text.toLowerCase() === 'y') || (name === 'enter' && !isHighRisk(action))
  if (!isYes || isBurst) return { view: { ...view, pending: undefined, notice: NOTHING } }
  const edited = view.pending?.for === 'approve' && view.pending.arguments
  const command: Command = { is: 'approve', action, ...(edited && { arguments: edited }) }
  return { view: { ...view, pending: undefined, notice: '' }, command }
}

function writeReason(view: InboxView, action: Action, key: Key): { view: InboxView; command?: Command } {
  const reason = view.pending?.for === 'decline' ? view.pending.reason : ''
  const change = (next: string): { view: InboxView } => ({
    view: { ...view, pending: { for: 'decline', digest: action.digest, reason: next } },
  })
  if ('text' in key) return change(reason + key.text)
  if (key.name === 'backspace') return change([...reason].slice(0, -1).join(''))
  if (key.name === 'enter') return { view: { ...view, pending: undefined, notice: '' }, command: { is: 'decline', action, reason } }
  return { view: key.name === 'escape' ? { ...view, pending: undefined, notice: NOTHING } : view }
}

function moved(view: InboxView, by: number): InboxView {
  const at = Math.min(Math.max(indexOf(view) + by, 0), view.items.length - 1)
  return { ...view, selected: view.items[at]?.id, scroll: 0, notice: '' }
}
