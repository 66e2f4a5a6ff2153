import type { PolicyResult } from '@countersign/core'
import type { ActionRow, Outbox } from '../store/index.ts'

const DEFAULT_REMIND_MS = 5 * 60_000

/** When time does something to an action that waits. */
export type Times = Pick<ActionRow, 'expires_at' | 'remind_at' | 'escalate_at'> & { due_at: number }

/**
 * The times of an action that people are asked about: its deadline, the earlier of what policy says and what the request asks for; when
 * people are reminded; when others are asked too, if that is before the deadline; and the first of these.
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
    // Set even after the deadline, where no reminder is sent: a waiting action without this time counts as already reminded.
    remind_at: nowMs + remindMs,
    escalate_at: escalateMs < takesMs ? nowMs + escalateMs : null,
    due_at: nowMs + Math.min(takesMs, remindMs, escalateMs),
  }
}

/** When an approved action expires that waits for a client to claim it; null where it has no limit, or waits for no client. */
export const claimDeadline = ({ executor, expires_at }: Pick<ActionRow, 'executor' | 'expires_at'>): number | null =>
  executor === 'client' ? expires_at : null

/** Makes this process look, at `dueAt`, at what is due then. For every transaction that writes `due_at`. */
export function lookAgainAt(outbox: Outbox, dueAt: number): void {
  outbox.dueAt = Math.min(outbox.dueAt ?? Number.POSITIVE_INFINITY, dueAt)
}
