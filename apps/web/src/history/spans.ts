import type { Action } from '@countersign/client'

type Times = Pick<Action, 'createdAt' | 'decidedAt' | 'startedAt' | 'settledAt' | 'policy'>

const between = (from: string | null, to: string | null): number | null =>
  from === null || to === null ? null : Math.max(0, Date.parse(to) - Date.parse(from))

/** How long people let it wait until they decided, it expired or was taken back, in ms. Null while it waits, and where nobody was asked. */
export const waitedMs = ({ policy, createdAt, decidedAt, settledAt }: Times): number | null =>
  policy.verdict === 'ask' ? between(createdAt, decidedAt ?? settledAt) : null

/** How long its last attempt took until the outcome was known, in ms; null where nothing was run. */
export const ranMs = ({ startedAt, settledAt }: Times): number | null => between(startedAt, settledAt)
