import type { Action } from '@countersign/client'
import { countApprovals, outcomeText, STATE_WORDS, showInvisible, spanText } from '@countersign/react'
import { relativeTime } from '../time/relative.ts'

/** "desk for Ana and Ben": who asked, as far as it is known. An agent that asks for itself is named once. */
export function askedText({ agent, agentVerified, requesters }: Pick<Action, 'agent' | 'agentVerified' | 'requesters'>): string {
  const others = requesters.filter(({ kind, name }) => !(agentVerified && kind === 'agent' && name === agent))
  const names = others.map(({ name }) => showInvisible(name)).join(' and ')
  if (!agent) return names
  return `${showInvisible(agent)}${agentVerified ? '' : ' (not verified)'}${names === '' ? '' : ` for ${names}`}`
}

/** Returns the text at the end of a row, such as its deadline, and whether the action needs attention first. */
export function standingText(action: Action, nowMs: number): { text: string; isAlarm: boolean } {
  const { state, overdue, createdAt, expiresAt, requires, votes } = action
  if (state === 'outcome_unknown') return { text: STATE_WORDS.outcome_unknown.word, isAlarm: true }
  if (state !== 'proposed') return { text: STATE_WORDS[state].word, isAlarm: state === 'failed' }
  const counted = votes.length > 0 || requires.quorum > 1 ? `${countApprovals(action)} of ${requires.quorum} votes` : ''
  const leftMs = expiresAt === null ? undefined : Date.parse(expiresAt) - nowMs
  const left = leftMs === undefined ? '' : leftMs > 0 ? `${spanText(leftMs)} left` : 'expires now'
  const late = overdue ? `Overdue ${spanText(nowMs - Date.parse(createdAt))}` : ''
  return { text: [counted, late || left].filter(Boolean).join(' · '), isAlarm: overdue || (leftMs !== undefined && leftMs < SOON_MS) }
}

const SOON_MS = 15 * 60_000

/** The time at the end of a row: how long ago it was asked or, once it is decided, changed last. */
export const ageText = (action: Action, nowMs: number): string =>
  relativeTime(action.state === 'proposed' ? action.createdAt : action.updatedAt, nowMs)

/** How it ended, for the title of a row; empty while it waits. */
export const endText = (action: Action, nowMs: number): string => (action.state === 'proposed' ? '' : outcomeText(action, nowMs))
