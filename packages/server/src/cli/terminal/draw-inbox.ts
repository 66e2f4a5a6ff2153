import { isHighRisk } from '@countersign/core/text'
import { rowMark } from './assignee.ts'
import { detailLines } from './details.ts'
import { type InboxView, indexOf, selectedOf } from './inbox-view.ts'
import type { Style } from './style.ts'
import { wrap } from './wrap.ts'

const KEYS = 'j/k move · a approve · d decline · e edit · s snooze · m I’m on it · space more · q quit'

export interface Drawing {
  /** The whole screen, exactly as many lines as it has rows. */
  lines: string[]
  /** The line of the details that is the first on the screen. */
  scroll: number
  /** The last line of the details is on the screen. */
  isAtEnd: boolean
}

/** Draws the inbox. Every line fits: lists are cut, what an approval covers is wrapped and scrolled. */
export function drawInbox(view: InboxView, size: { columns: number; rows: number }, style: Style): Drawing {
  const { items, pending } = view
  const columns = Math.max(size.columns, 20)
  const fit = (text: string) => wrap(text, columns)[0] ?? ''
  const action = selectedOf(view)
  const at = indexOf(view)
  const header = items.length === 0 ? 'nothing waits for you' : `${items.length} waiting for you`
  const footer = [...wrap(promptOf(view), columns), ...wrap(KEYS, columns).map(style.dim)]
  const listRows = Math.min(Math.max(Math.floor(size.rows / 4), 1), items.length)
  const first = Math.max(Math.min(at - Math.floor(listRows / 2), items.length - listRows), 0)
  const list = items.slice(first, first + listRows).map((item) => {
    const isSelected = item.id === action?.id
    const line = fit(
      `${isSelected ? '›' : ' '} ${item.risk.level.padEnd(8)} ${item.overdue ? '(overdue) ' : ''}${rowMark(item, view.me)}${item.description}`,
    )
    return isSelected ? style.inverse(line) : line
  })
  const top = [style.bold(fit(`Countersign · ${header}`)), ...list, '']
  const room = Math.max(size.rows - top.length - footer.length, 1)
  const edited = pending?.for === 'approve' ? pending.arguments : undefined
  const seenBy = view.seen?.digest === action?.digest ? [...(view.seen?.by ?? [])] : []
  const details = action ? detailLines({ ...action, seenBy }, style, columns, edited) : []
  const isLong = details.length > room
  // The last row of a long text says how much is left.
  const rows = isLong ? Math.max(room - 1, 1) : room
  const scroll = Math.min(view.scroll, Math.max(details.length - rows, 0))
  const shown = details.slice(scroll, scroll + rows)
  const left = details.length - scroll - shown.length
  if (isLong && room > 1) shown.push(style.dim(fit(left > 0 ? `… ${left} more lines: space` : '(end)')))
  const filler = Array.from({ length: Math.max(room - shown.length, 0) }, () => '')
  const body = [...top, ...shown, ...filler].slice(0, Math.max(size.rows - footer.length, 0))
  return {
    lines: [...body, ...footer].slice(-size.rows),
    scroll,
    isAtEnd: left === 0 && top.length + shown.length + footer.length <= size.rows,
  }
}

function promptOf(view: InboxView): string {
  const { pending, notice } = view
  const action = selectedOf(view)
  if (!pending || !action) return notice
  if (pending.for === 'decline') return `Reason (enter declines, escape keeps it waiting): ${pending.reason}_`
  if (pending.for === 'snooze') {
    const times = pending.times.map(({ words }, at) => `${at + 1} ${words}`).join(' · ')
    return `Snooze it? ${times} · any other key does not`
  }
  const what = pending.arguments ? 'Approve with your changes' : 'Approve it'
  if (isHighRisk(action)) return `${action.risk.level.toUpperCase()} RISK. ${what}? y approves, any other key keeps it waiting`
  return `${what}? enter or y, any other key keeps it waiting`
}
