import type { PolicyResult } from '@countersign/core'
import type { ActionRow, Outbox } from '../store/index.ts'

const DEFAULT_REMIND_MS = 5 * 60_000

/**
 * The times of an action that people are asked about: its deadline, the earlier of what policy says and what the request asks for, and
 * when time does something to it next.
 */
export function deadlinesOf(
  { expiresMs = Number.POSITIVE_INFINITY, remindMs = DEFAULT_REMIND_MS }: Pick<PolicyResult, 'expiresMs' | 'remindMs'>,
  requestedMs: number | undefined,
  nowMs: number,
): Pick<ActionRow, 'expires_at'> & { due_at: number } {
  const takesMs = Math.min(expiresMs, requestedMs ?? Number.POSITIVE_INFINITY)
  return { expires_at: Number.isFinite(takesMs) ? nowMs + takesMs : null, due_at: nowMs + Math.min(takesMs, remindMs) }
}

/** Makes this process look, at `dueAt`, at what is due then. For every transaction that writes `due_at`. */
export function lookAgainAt(outbox: Outbox, dueAt: number): void {
  outbox.dueAt = Math.min(outbox.dueAt ?? Number.POSITIVE_INFINITY, dueAt)
}
