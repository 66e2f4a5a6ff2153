import type { Tx } from '../query.ts'
import type { Outbox } from '../store.ts'
import { insertEvents } from '../tables/events.ts'

/** Writes one event about the action of this name to the log. */
export function* addEvent(outbox: Outbox, name: string): Tx<void> {
  const data = { proposalId: name, state: 'approved', revision: 1, updatedAt: '2026-01-01T00:00:00.000Z' } as const
  outbox.events.push(
    ...(yield* insertEvents({ sessionId: null, events: [{ seq: null, event: { type: 'action_update', data } }], nowMs: 1 })),
  )
}
