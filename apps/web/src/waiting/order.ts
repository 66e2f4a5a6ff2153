import type { Action } from '@countersign/client'

export const RISKS: Action['risk']['level'][] = ['critical', 'high', 'medium', 'low']

type Compare = (a: Action, b: Action) => number

/** Sorts overdue actions first, then by deadline (those without one last), then by higher risk, then by longest wait. */
export const byUrgency: Compare = (a, b) =>
  Number(b.overdue) - Number(a.overdue) || compare(deadline(a), deadline(b)) || riskFirst(a, b) || oldestFirst(a, b)

/** To the minute: two requests of one step must not be ordered by the milliseconds between them. Times are ISO 8601 UTC, which sort as text. */
const deadline = ({ expiresAt }: Action): string => (expiresAt ? expiresAt.slice(0, 16) : '~')
const riskFirst: Compare = (a, b) => RISKS.indexOf(a.risk.level) - RISKS.indexOf(b.risk.level)
const oldestFirst: Compare = (a, b) => compare(a.createdAt, b.createdAt) || compare(a.id, b.id)

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** The orders of the inbox: their words, and how each puts two actions. */
export const ORDERS = {
  urgent: { words: 'Most urgent', compare: byUrgency },
  risk: { words: 'Highest risk', compare: (a: Action, b: Action) => riskFirst(a, b) || byUrgency(a, b) },
  oldest: { words: 'Oldest', compare: oldestFirst },
  newest: { words: 'Newest', compare: (a: Action, b: Action) => oldestFirst(b, a) },
} as const

export type Order = keyof typeof ORDERS

export const isOrder = (text: string | null): text is Order => text !== null && Object.hasOwn(ORDERS, text)
