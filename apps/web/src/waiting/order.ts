import type { Action } from '@countersign/client'

const RISKS: Action['risk']['level'][] = ['critical', 'high', 'medium', 'low']

/** Sorts overdue actions first, then by deadline (those without one last), then by higher risk, then by longest wait. */
export function byUrgency(a: Action, b: Action): number {
  return (
    Number(b.overdue) - Number(a.overdue) ||
    deadlineMs(a) - deadlineMs(b) ||
    RISKS.indexOf(a.risk.level) - RISKS.indexOf(b.risk.level) ||
    a.createdAt.localeCompare(b.createdAt) ||
    a.id.localeCompare(b.id)
  )
}

const FAR_MS = Number.MAX_SAFE_INTEGER

/** To the minute: two requests of one step must not be ordered by the milliseconds between them. */
const deadlineMs = ({ expiresAt }: Action): number => (expiresAt ? Math.floor(Date.parse(expiresAt) / 60_000) : FAR_MS)
