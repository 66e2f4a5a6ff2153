import type { StoredEvent } from '../store/index.ts'

type Listener = (event: StoredEvent) => void

/** Hands committed events to whoever listens in this process, in the order of the log. */
export interface EventHub {
  publish(events: readonly StoredEvent[]): void
  /** Returns the function that ends the subscription. */
  onSession(sessionId: string, listener: Listener): () => void
  /** Every session's events, and those of actions without a session. */
  onAny(listener: Listener): () => void
}

export function createEventHub(): EventHub {
  const bySession = new Map<string, Set<Listener>>()
  const all = new Set<Listener>()
  return {
    publish(events) {
      for (const event of events) {
        if (event.sessionId !== null) for (const listener of bySession.get(event.sessionId) ?? []) listener(event)
        for (const listener of all) listener(event)
      }
    },
    onSession(sessionId, listener) {
      const listeners = bySession.get(sessionId) ?? new Set()
      bySession.set(sessionId, listeners.add(listener))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) bySession.delete(sessionId)
      }
    },
    onAny(listener) {
      all.add(listener)
      return () => all.delete(listener)
    },
  }
}
