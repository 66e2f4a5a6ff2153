import type { Action, ActionState, ConnectionState, Principal, RiskLevel } from '@countersign/client'
import { decidingReason, decidingVotes, isHighRisk } from '@countersign/core/text'
import { showInvisible } from './show-text.ts'

/** The mark and the word of every state: never colour alone. */
export const STATE_WORDS: Readonly<Record<ActionState, { mark: string; word: string }>> = {
  proposed: { mark: '?', word: 'Needs approval' },
  approved: { mark: '✓', word: 'Approved' },
  executing: { mark: '…', word: 'Running' },
  succeeded: { mark: '✓', word: 'Done' },
  failed: { mark: '✕', word: 'Failed' },
  declined: { mark: '⊘', word: 'Declined' },
  expired: { mark: '⊘', word: 'Expired' },
  cancelled: { mark: '⊘', word: 'Cancelled' },
  outcome_unknown: { mark: '!', word: 'Outcome unknown' },
}

export const RISK_WORDS: Readonly<Record<RiskLevel, string>> = {
  low: 'Low risk',
  medium: 'Medium risk',
  high: 'High risk',
  critical: 'Critical risk',
}

/** The explanation shown while the stream is not live and decisions are paused. */
export const PAUSED_WORDS: Readonly<Record<Exclude<ConnectionState['kind'], 'live'>, string>> = {
  connecting: 'Connecting. Decisions are paused.',
  reconnecting: 'Reconnecting. Decisions are paused.',
  offline: 'Offline. Decisions are paused.',
  closed: 'Disconnected. Reload the page to decide.',
}

/** Returns true if one person may approve later calls too. The server makes the final check. */
export const mayGrant = (action: Action): boolean => !isHighRisk(action) && action.requires.quorum === 1

/** "Ada and Sam". */
export const namesOf = (people: readonly Pick<Principal, 'name'>[]): string => showInvisible(people.map(({ name }) => name).join(' and '))

/** Returns who decided the action: "by Ada", "by policy". */
export const decidedBy = (action: Action): string => {
  const people = namesOf(decidingVotes(action).map((vote) => vote.by))
  return people === '' ? (action.policy.verdict === 'ask' ? '' : 'by policy') : `by ${people}`
}

/** Returns the reasons that people gave, or else the reason of the policy. */
export const declineReason = (action: Action): string =>
  showInvisible(action.policy.verdict === 'deny' ? action.policy.reason : (decidingReason(action) ?? ''))

/** Joins the texts that are not empty with a dot. */
export const joined = (...parts: string[]): string => parts.filter((part) => part !== '').join(' · ')
