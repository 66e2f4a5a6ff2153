import type { Action } from '@countersign/client'
import { isPlain } from '@countersign/core/text'
import { useEffect, useRef, useState } from 'react'
import { outcomeText } from './outcome.ts'
import { MARKS, showInvisible } from './show-text.ts'
import { RISK_WORDS, STATE_WORDS } from './words.ts'

/** The current announcements for screen readers. Each needs a live region of its own, as in {@link CardAnnouncer}. */
export type Announcements = { polite: string; assertive: string }

type HasKeys = ((action: Action) => boolean) | undefined

/** Arrivals within this time are one message. */
const BATCH_MS = 500

const HOW = ' In the card, press A and then Enter to approve, or D to decline.'

/**
 * Puts into words what happens to `actions`: one polite message per new approval, or per batch of them, the same once it is overdue, and
 * one for each outcome;
 * assertive ones only for what failed or may have run. The initial content is not announced, nor are older actions that are listed later.
 * @param loaded False while the initial content is still being read.
 * @param hasKeys Whether the keys of the card answer this action: false for a person who may not decide it, and where they are switched
 * off. Default: always.
 */
export function useCardAnnouncements(actions: readonly Action[], loaded = true, hasKeys?: HasKeys): Announcements {
  const [spoken, setSpoken] = useState<Announcements>({ polite: '', assertive: '' })
  const seen = useRef<{ actions: readonly Action[]; known: Map<string, Action>; newest: string }>(undefined)
  const news = useRef<Map<string, Action>>(new Map())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)

  useEffect(() => {
    if (!loaded) return
    const before = seen.current
    const known = before?.known ?? new Map<string, Action>()
    const newest = before?.newest ?? newestOf(actions)
    seen.current = { actions, known, newest }
    for (const action of changedOf(before?.actions ?? [], actions)) {
      const last = known.get(action.id)
      if (last === action) continue
      known.set(action.id, action)
      if (before && (last || action.updatedAt >= newest) && isNews(last, action)) news.current.set(action.id, action)
    }
    if (news.current.size === 0) return
    // They are there by the time it is said.
    if (!isPlain(JSON.stringify([...news.current.values()]))) MARKS.start()
    if (timer.current !== undefined) return
    timer.current = setTimeout(() => {
      timer.current = undefined
      const said = speak([...news.current.values()], hasKeys)
      news.current.clear()
      setSpoken((last) => ({ polite: again(last.polite, said.polite), assertive: again(last.assertive, said.assertive) }))
    }, BATCH_MS)
  }, [actions, loaded, hasKeys])

  useEffect(
    () => () => {
      clearTimeout(timer.current)
      timer.current = undefined
    },
    [],
  )
  return spoken
}

type CardAnnouncerProps = {
  actions: readonly Action[]
  /** False while the first `actions` are still being read. */
  loaded?: boolean
  /** Whether the keys of the card answer this action: false for a person who may not decide it, and where they are switched off. Default: always. */
  hasKeys?: HasKeys
}

/** The two live regions of a page: render it once, near the root, and keep it there. */
export function CardAnnouncer({ actions, loaded, hasKeys }: CardAnnouncerProps) {
  const { polite, assertive } = useCardAnnouncements(actions, loaded, hasKeys)
  return (
    <div className="cs-hidden">
      <div aria-live="polite" aria-atomic="true">
        {polite}
      </div>
      <div aria-live="assertive" aria-atomic="true">
        {assertive}
      </div>
    </div>
  )
}

const newestOf = (actions: readonly Action[]): string =>
  actions
    .map(({ updatedAt }) => updatedAt)
    .sort()
    .pop() ?? ''

/** The actions between the first and the last one that are not as before. Of thousands few change at a time. */
function changedOf(before: readonly Action[], now: readonly Action[]): readonly Action[] {
  const shorter = Math.min(before.length, now.length)
  let from = 0
  while (from < shorter && now[from] === before[from]) from++
  let same = 0
  while (same < shorter - from && now[now.length - 1 - same] === before[before.length - 1 - same]) same++
  return now.slice(from, now.length - same)
}

/** A new approval, one that became overdue, or a known action that came to an end. An action that is first seen settled is history. */
function isNews(before: Action | undefined, { state, overdue }: Action): boolean {
  if (state === 'proposed') return before?.state !== state || (overdue && !before.overdue)
  return before !== undefined && before.state !== state && state !== 'executing' && state !== 'approved'
}

const isAlarm = ({ state }: Action): boolean => state === 'failed' || state === 'outcome_unknown'

function speak(news: readonly Action[], hasKeys: HasKeys): Announcements {
  const sayAsked = (isOverdue: boolean): string => {
    const asked = news.filter(({ state, overdue }) => state === 'proposed' && Boolean(overdue) === isOverdue)
    const [first] = asked
    const word = isOverdue ? 'overdue' : 'needed'
    if (first === undefined) return ''
    if (asked.length > 1) return `${asked.length} ${isOverdue ? '' : 'new '}approvals ${word}.`
    return `Approval ${word}: ${showInvisible(first.description)}, ${RISK_WORDS[first.risk.level].toLowerCase()}.${hasKeys?.(first) === false ? '' : HOW}`
  }
  const ended = news.filter((action) => action.state !== 'proposed' && !isAlarm(action))
  return {
    polite: [sayAsked(false), sayAsked(true), ...ended.map(sayOutcome)].filter(Boolean).join(' '),
    assertive: news.filter(isAlarm).map(sayOutcome).join(' '),
  }
}

const sayOutcome = (action: Action): string =>
  `${STATE_WORDS[action.state].word}: ${showInvisible(action.description)}. ${outcomeText(action, Date.parse(action.updatedAt))}.`

/** A region that gets the same text twice stays silent: a trailing space makes it another text. */
const again = (last: string, text: string): string => {
  if (text === '') return last
  return text === last ? `${text} ` : text
}
