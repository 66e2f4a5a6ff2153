import type { ActionRow } from '../../store/index.ts'

/** The idempotency key that is new with attempt number `attempt` of an action. */
export const attemptKey = (actionId: string, attempt: number): string => `${actionId}.${attempt}`

/**
 * The key of the next attempt. A new one after definite failures only: many services answer a key that they know with the stored failure.
 * Once an outcome was unknown the key stays for good: a late effect of an earlier send and this one must be the same request to the target.
 */
export const nextKey = ({ id, attempt, in_doubt, idempotency_key }: ActionRow): string =>
  in_doubt ? idempotency_key : attemptKey(id, attempt + 1)

/** How often an executing action was sent since a person, or its approval, last started it; this time included. */
export const sendsOf = ({ attempt, first_send }: Pick<ActionRow, 'attempt' | 'first_send'>): number => attempt - first_send + 1
