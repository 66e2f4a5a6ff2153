import type { Action, ApiIssue } from '@countersign/client'
import { decidingVotes } from '@countersign/core/text'
import { showInvisible } from './show-text.ts'
import { spanText } from './time.ts'
import { decidedBy, STATE_WORDS } from './words.ts'

type Refusal = { code?: unknown; message?: unknown; action?: Action; issues?: readonly ApiIssue[] }

const asRefusal = (error: unknown): Refusal => (typeof error === 'object' && error !== null ? error : {})

/** The action as the server knows it now, where a refusal carries it. */
export const actionOf = (error: unknown): Action | undefined => asRefusal(error).action

/** Returns the errors of the edited arguments by position. */
export const issuesOf = (error: unknown): readonly ApiIssue[] => asRefusal(error).issues ?? []

/** True where the server itself did not answer the request: whether it took it is not known. */
export const isUnanswered = (error: unknown): boolean =>
  [undefined, 'offline', 'not_ready', 'internal'].includes(asRefusal(error).code as string | undefined)

/** Why a decision was not taken, as a sentence for the person who made it. Errors are distinguished by `code`, like those of the client. */
export function sayError(error: unknown, nowMs: number): string {
  const { code, message, action } = asRefusal(error)
  if (code === 'already_decided' || code === 'illegal_transition') {
    return action ? alreadyText(action, nowMs) : 'This is decided already.'
  }
  if (code === 'revision_mismatch') return CHANGED
  if (code === 'stale_preview') return 'The target changed since this was shown. Review it again.'
  if (code === 'invalid_arguments') return 'The edit does not fit the tool. Nothing was decided.'
  if (code === 'offline') return 'The server cannot be reached. Nothing is queued; decide again when the connection is back.'
  return typeof message === 'string' && message !== '' ? showInvisible(message) : 'Something went wrong. The decision was not taken.'
}

export const CHANGED = 'This changed while you looked. Review it again.'

/** "Already approved by Ada 8 s ago." */
function alreadyText(action: Action, nowMs: number): string {
  const { resolution, state, updatedAt } = action
  const since = (at: string) => `${spanText(nowMs - Date.parse(at))} ago`
  if (resolution !== null) {
    const outcome = resolution.outcome === 'succeeded' ? 'done' : 'not done'
    return `Already marked ${outcome} by ${showInvisible(resolution.by.name)} ${since(resolution.at)}.`
  }
  if (action.error?.kind === 'withdrawn' || action.error?.kind === 'ran_elsewhere')
    return `${showInvisible(action.error.message)}, ${since(updatedAt)}.`
  if (state === 'expired' || state === 'cancelled') return `Already ${STATE_WORDS[state].word.toLowerCase()} ${since(updatedAt)}.`
  const word = state === 'declined' ? 'declined' : 'approved'
  const at = decidingVotes(action).at(-1)?.at ?? updatedAt
  return `Already ${[word, decidedBy(action), since(at)].filter(Boolean).join(' ')}.`
}
