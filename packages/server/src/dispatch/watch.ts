import type { OtherProcess } from '../store/index.ts'

/** A process that says nothing for this long is frozen: its sign of life is ended for it. */
export const SILENT_MS = 10_000
/** Whoever only lost the connection has this long to come back before another process takes over. */
export const GRACE_MS = 500
/** After a time without the database everybody has to come back: then it is this long. */
export const RETURN_MS = 3_000
/** Who left work undone says so by a silence longer than any. */
const LEFT_MS = 365 * 24 * 3_600_000
/** Before another attempt to take over from a process that this one failed to take over from. */
const FAILED_MS = 2_000

/** What is to be done about the other processes. */
export interface Sighting {
  /** To be taken over now. */
  gone: OtherProcess[]
  /** Alive as far as the database knows, but silent for too long. */
  frozen: OtherProcess[]
}

/** Remembers who had no sign of life the last time it looked. */
export interface Watch {
  /** @param graceMs How long who is missing may still come back. */
  look(others: readonly OtherProcess[], nowMs: number, graceMs: number): Sighting
  /** This process could not take over from that one: it is not asked to again at once. */
  postpone(processId: string, nowMs: number): void
  /** True while somebody may be gone: look again soon. */
  readonly isUnsure: boolean
}

export function createWatch(): Watch {
  const missingSince = new Map<string, number>()
  const postponedTo = new Map<string, number>()
  return {
    look(others, nowMs, graceMs) {
      const present = new Set(others.map(({ id }) => id))
      const sighting: Sighting = { gone: [], frozen: [] }
      const missing = new Set<string>()
      for (const other of others) {
        // A lock held by another than the process itself is held by who takes it over.
        if (other.heldBy === other.backend && other.silentMs > SILENT_MS) sighting.frozen.push(other)
        if (other.heldBy !== null) continue
        missing.add(other.id)
        const since = missingSince.get(other.id) ?? nowMs
        missingSince.set(other.id, since)
        const isGone = nowMs - since >= graceMs || other.silentMs > LEFT_MS
        if (isGone && nowMs >= (postponedTo.get(other.id) ?? 0)) sighting.gone.push(other)
      }
      for (const id of missingSince.keys()) if (!missing.has(id)) missingSince.delete(id)
      for (const id of postponedTo.keys()) if (!present.has(id)) postponedTo.delete(id)
      return sighting
    },
    postpone: (processId, nowMs) => void postponedTo.set(processId, nowMs + FAILED_MS),
    get isUnsure() {
      return missingSince.size > 0
    },
  }
}
