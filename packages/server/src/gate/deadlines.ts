import { durationMs, type PolicyResult, type Requirements } from '@countersign/core'
import type { ActionRow, Outbox } from '../store/index.ts'

const DEFAULT_REMIND_MS = 5 * 60_000

/** When time does something to an action that waits. */
export type Timers = Pick<ActionRow, 'expires_at' | 'remind_at' | 'escalate_at'>

/** The same with the earliest of them. */
export type Times = Timers & { due_at: number }

/**
 * The times of an action that waits for people: its deadline (the earlier of the policy's and the request's), the reminder, the escalation
 * if it comes before the deadline, and the earliest of these.
 */
export function deadlinesOf(
  {
    expiresMs = Number.POSITIVE_INFINITY,
    remindMs = DEFAULT_REMIND_MS,
    escalateMs = Number.POSITIVE_INFINITY,
  }: Pick<PolicyResult, 'expiresMs' | 'remindMs' | 'escalateMs'>,
  requestedMs: number | undefined,
  nowMs: number,
): Times {
  const takesMs = Math.min(expiresMs, requestedMs ?? Number.POSITIVE_INFINITY)
  return {
    expires_at: Number.isFinite(takesMs) ? nowMs + takesMs : null,
    // The time of the reminder is stored even when it lies after the deadline. An action that waits without it counts as one whose reminder
    // was sent.
    remind_at: nowMs + remindMs,
    escalate_at: escalateMs < takesMs ? nowMs + escalateMs : null,
    due_at: nowMs + Math.min(takesMs, remindMs, escalateMs),
  }
}

/** The earliest time of an action that waits for people; null where nothing is to be done at any time. */
export function earliestOf({ expires_at, remind_at, escalate_at }: Timers): number | null {
  const times = [expires_at, remind_at, escalate_at].filter((time) => time !== null)
  return times.length === 0 ? null : Math.min(...times)
}

/** The expiry of an approved action that waits for a client to claim it; null when it does not expire or does not wait for a client. */
export const claimDeadline = ({ executor, expires_at }: Pick<ActionRow, 'executor' | 'expires_at'>): number | null =>
  executor === 'client' ? expires_at : null

/**
 * The deadline of an action with its approval: a grace period is no time in which a client could claim it, and does not count against the
 * client. Null where it has none.
 */
export const deadlineAfterGrace = ({ executor, expires_at }: Pick<ActionRow, 'executor' | 'expires_at'>, graceMs: number): number | null =>
  executor === 'client' && expires_at !== null ? expires_at + graceMs : expires_at

/** The deadline of an approved action as it was before its approval. */
export function deadlineBeforeGrace({
  executor,
  expires_at,
  starts_at,
  decided_at,
}: Pick<ActionRow, 'executor' | 'expires_at' | 'starts_at' | 'decided_at'>): number | null {
  if (executor !== 'client' || expires_at === null || starts_at === null || decided_at === null) return expires_at
  return expires_at - Math.max(0, starts_at - decided_at)
}

/** The grace period of an approval, in ms: the longer of the policy's and the decider's; 0 without one. */
export const graceMsOf = ({ grace = '' }: Pick<Requirements, 'grace'>, startAfter = ''): number =>
  Math.max(durationMs(grace) ?? 0, durationMs(startAfter) ?? 0)

/** Makes this process look, at `dueAt`, at what is due then. For every transaction that writes `due_at`. */
export function lookAgainAt(outbox: Outbox, dueAt: number): void {
  outbox.dueAt = Math.min(outbox.dueAt ?? Number.POSITIVE_INFINITY, dueAt)
}
