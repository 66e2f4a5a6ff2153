import type { Action } from '@countersign/client'
import { showInvisible } from './show-text.ts'
import { clockText, spanText } from './time.ts'
import { decidedBy, declineReason, joined } from './words.ts'

/** True for a result link that may be followed: http, https, or relative to this page. */
export function isSafeLink(url: string): boolean {
  try {
    return /^https?:$/.test(new URL(url, 'https://relative.invalid').protocol)
  } catch {
    return false
  }
}

/** True for a whole address of the web. */
export const isWebLink = (url: string): boolean => isSafeLink(url) && /^https?:\/\//.test(url)

/** Where a result link leads when that is another site, as people read it; empty for the page's own. */
export function linkHost(url: string): string {
  const { host } = new URL(url, 'https://relative.invalid')
  return host === 'relative.invalid' ? '' : showInvisible(`//${host}`).slice(2)
}

/** An older server does not say when it starts. */
function startingText(startsAt: string | null | undefined, nowMs: number): string {
  const leftMs = startsAt ? Date.parse(startsAt) - nowMs : 0
  return leftMs > 0 ? `starting in ${spanText(leftMs)}` : 'starting'
}

/** Returns the outcome of an action in one line, or an empty text while it waits. */
export function outcomeText(action: Action, nowMs: number): string {
  const { state, updatedAt, startsAt, votes, error, attempt, executor, checks, destination } = action
  // An action that is not an HTTP request is carried out by the program that proposed it.
  const who = destination === 'local' ? 'its agent' : 'a browser'
  const at = clockText(updatedAt, nowMs)
  const message = error === null ? '' : showInvisible(error.message)
  const tries = attempt > 1 ? `attempt ${attempt}` : ''
  // Its program carried it out although it was not allowed here.
  if (error?.kind === 'ran_elsewhere') return joined(message, at)
  switch (state) {
    case 'proposed':
      return ''
    case 'approved':
      return joined(
        `Approved ${decidedBy(action)}`.trimEnd(),
        executor === 'client' ? `to be carried out by ${who}` : startingText(startsAt, nowMs),
      )
    case 'executing':
      return joined(`Running ${executor === 'client' ? `in ${who} ` : ''}for ${spanText(nowMs - Date.parse(updatedAt))}`, tries)
    case 'succeeded': {
      const decided = votes.at(-1)?.at
      const took = decided === undefined ? '' : `took ${spanText(Date.parse(updatedAt) - Date.parse(decided))}`
      return joined(`Approved ${decidedBy(action)}`.trimEnd(), took)
    }
    case 'failed':
      return joined(message === '' ? 'It did not work' : message, tries)
    case 'declined':
      return joined(`Declined ${decidedBy(action)}`.trimEnd(), at, declineReason(action))
    case 'expired':
      return `Expired ${at}, not run`
    case 'cancelled':
      // The server does not know what a program does by itself.
      if (error?.kind === 'withdrawn') return joined(message, executor === 'client' ? `${at}, not started here` : `${at}, not run`)
      return joined(`Cancelled ${at}, not run`, message)
    case 'outcome_unknown': {
      const checking = checks ? (checks.ended ? 'no longer checking' : `checking until ${clockText(checks.until, nowMs)}`) : ''
      return joined(`May or may not have run. Last sign ${at}`, message, checking)
    }
  }
}
