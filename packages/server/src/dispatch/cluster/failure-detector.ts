import type { OtherProcess } from '../../store/index.ts'

/**
 * A process that says nothing for this long while this one watches in time is frozen: its sign of life is ended for it. It may be starved
 * rather than frozen; nobody can tell from outside. It begins nothing after half of that, so taking over is safe.
 */
export const SILENT_MS = 10_000
/** A process that says nothing for this long is frozen whatever else is known: its work must go on. */
export const LONG_SILENT_MS = 60_000
/** Longer between two looks, and this process stood still itself: on a starved machine, or while the database was away. */
const LATE_MS = 3_000
/** Whoever only lost the connection has this long to come back before another process takes over. */
export const GRACE_MS = 500
/** After a time without the database everybody has to come back: then it is this long. */
export const RETURN_MS = 3_000
/** Who left work undone says so by a silence longer than any. */
const LEFT_MS = 365 * 24 * 3_600_000
/** Before another attempt to take over from a process that this one failed to take over from. */
const FAILED_MS = 2_000

/** Why a process is gone: it held its lock and said nothing, its lock was given back, or it said that it leaves. */
export type GoneCause = 'frozen' | 'dead' | 'left'

/** What is to be done about the other processes. */
export interface Sighting {
  /** To be taken over now. */
  gone: OtherProcess[]
  /** Alive as far as the database knows, but silent for too long. */
  frozen: OtherProcess[]
}

/** Remembers who had no sign of life the last time it looked. */
export interface FailureDetector {
  /** @param graceMs How long who is missing may still come back. */
  look(others: readonly OtherProcess[], nowMs: number, graceMs: number): Sighting
  /** Why a process is gone that {@link look} called gone. */
  causeOf(gone: OtherProcess): GoneCause
  /** How long this process itself stood still before its last look; 0 when it was in time. */
  readonly lateMs: number
  /** This process could not take over from that one: it is not asked to again at once. */
  postpone(processId: string, nowMs: number): void
  /** True while somebody may be gone: look again soon. */
  readonly isUnsure: boolean
}

export function createFailureDetector(): FailureDetector {
  const missingSince = new Map<string, number>()
  const postponedTo = new Map<string, number>()
  const frozenOnes = new Set<string>()
  let lastLookAt: number | undefined
  /** Since then this process has looked in time. */
  let punctualSince = 0
  let lateMs = 0

  /** What starves this process starves its neighbours: they get the time again to say that they live. */
  function checkOwnTime(nowMs: number): void {
    const gapMs = lastLookAt === undefined ? 0 : nowMs - lastLookAt
    lateMs = gapMs > LATE_MS ? gapMs : 0
    if (lastLookAt === undefined || lateMs > 0) punctualSince = nowMs
    lastLookAt = nowMs
  }

  const isFrozen = ({ heldBy, backend, silentMs }: OtherProcess, nowMs: number) =>
    // A lock held by another than the process itself is held by who takes it over.
    heldBy === backend && (silentMs >= LONG_SILENT_MS || (silentMs > SILENT_MS && nowMs - punctualSince >= SILENT_MS))

  return {
    look(others, nowMs, graceMs) {
      checkOwnTime(nowMs)
      const present = new Set(others.map(({ id }) => id))
      const sighting: Sighting = { gone: [], frozen: [] }
      const missing = new Set<string>()
      for (const other of others) {
        if (isFrozen(other, nowMs)) {
          sighting.frozen.push(other)
          frozenOnes.add(other.id)
        } else if (other.silentMs <= SILENT_MS && other.heldBy === other.backend) frozenOnes.delete(other.id)
        if (other.heldBy !== null) continue
        missing.add(other.id)
        const since = missingSince.get(other.id) ?? nowMs
        missingSince.set(other.id, since)
        const isGone = nowMs - since >= graceMs || other.silentMs > LEFT_MS
        if (isGone && nowMs >= (postponedTo.get(other.id) ?? 0)) sighting.gone.push(other)
      }
      for (const id of missingSince.keys()) if (!missing.has(id)) missingSince.delete(id)
      for (const id of postponedTo.keys()) if (!present.has(id)) postponedTo.delete(id)
      for (const id of frozenOnes) if (!present.has(id)) frozenOnes.delete(id)
      return sighting
    },
    causeOf: ({ id, silentMs }) => (silentMs > LEFT_MS ? 'left' : frozenOnes.has(id) ? 'frozen' : 'dead'),
    get lateMs() {
      return lateMs
    },
    postpone: (processId, nowMs) => void postponedTo.set(processId, nowMs + FAILED_MS),
    get isUnsure() {
      return missingSince.size > 0
    },
  }
}
