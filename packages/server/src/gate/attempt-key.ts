import type { ActionRow } from '../store/index.ts'

/** The idempotency key of an attempt that is number `attempt` of its action; when it is sent again it keeps its key. */
export const attemptKey = (actionId: string, attempt: number): string => `${actionId}.${attempt}`

/** How often what an executing action sends has gone out under its key, this time included. */
export const sendsOf = (row: Pick<ActionRow, 'id' | 'attempt' | 'idempotency_key'>): number =>
  row.attempt - Number(row.idempotency_key.slice(row.id.length + 1)) + 1
