import type { Action, ActionState, ConnectionState, Principal, RiskLevel } from '@countersign/client'
import { isHighRisk, showInvisible } from '@countersign/core/text'

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

export const RISK_SETTERS: Readonly<Record<Action['risk']['setBy'], string>> = {
  policy: 'set by policy',
  tool: "set by the tool's author",
  unverified: 'unverified hint',
}

/** Why decisions rest while the stream is not live. */
export const PAUSED_WORDS: Readonly<Record<Exclude<ConnectionState['kind'], 'live'>, string>> = {
  connecting: 'Connecting. Decisions are paused.',
  reconnecting: 'Reconnecting. Decisions are paused.',
  offline: 'Offline. Decisions are paused.',
  closed: 'Disconnected. Reload the page to decide.',
}

/** True where one person may allow later calls as well; the server says in the end. */
export const mayGrant = (action: Action): boolean => !isHighRisk(action) && action.requires.quorum === 1

/** "Ada and Sam". */
export const namesOf = (people: readonly Pick<Principal, 'name'>[]): string => showInvisible(people.map(({ name }) => name).join(' and '))

const names = (action: Action, verdict: 'approve' | 'decline'): string =>
  namesOf(action.votes.filter((vote) => vote.verdict === verdict).map((vote) => vote.by))

/** "by Ada", "by policy": who let it run. */
export const approvedBy = (action: Action): string => {
  const people = names(action, 'approve')
  if (people !== '') return `by ${people}`
  return action.policy.verdict === 'allow' ? 'by policy' : ''
}

/** "by Sam", "by policy": who refused it. */
export const declinedBy = (action: Action): string => {
  const people = names(action, 'decline')
  if (people !== '') return `by ${people}`
  return action.policy.verdict === 'deny' ? 'by policy' : ''
}

/** The reason a person gave, else that of the policy. */
export const declineReason = (action: Action): string => {
  const given = action.votes.find((vote) => vote.verdict === 'decline')?.reason
  return showInvisible(given ?? (action.policy.verdict === 'deny' ? action.policy.reason : ''))
}

/** Keeps the texts that say something, apart. */
export const joined = (...parts: string[]): string => parts.filter((part) => part !== '').join(' · ')
