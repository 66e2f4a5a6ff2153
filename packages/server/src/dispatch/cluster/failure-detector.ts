import { LONGEST_ATTEMPT_MS, type OtherProcess } from '../../store/index.ts'

/**
 * A process that is silent for this long, while this one looks on schedule, counts as frozen and its sign of life is ended. It may be
 * starved rather than frozen; that cannot be distinguished from outside. A silent process begins nothing after half of this time, so taking
 * over is safe.
 */
export const SILENT_MS = 10_000
/** A process that is silent for this long counts as frozen, whatever else is known: its work must continue. */
export const LONG_SILENT_MS = 60_000
/** With a longer pause between two looks, this process itself was suspended: the machine was starved, or the database was unreachable. */
const LATE_MS = 3_000
/** A process that only lost its connection has this long to reconnect before another process takes over. */
export const GRACE_MS = 500
/**
 * The same grace period after the database was unreachable, when every process has to reconnect. One whose attempt began just before the
 * database was back waits for a dead address until that attempt ends, and only then begins the next.
 */
export const RETURN_MS = LONGEST_ATTEMPT_MS + 1_500
/** Recorded as the silence of a process that reports unfinished work on leaving: it exceeds every limit. */
const LEFT_MS = 365 * 24 * 3_600_000
/** Pause before this process retries a takeover that failed. */
const FAILED_MS = 2_000

/** Why a process is gone: it held its lock but was silent, its lock was released, or it announced that it leaves. */
export type GoneCause = 'frozen' | 'dead' | 'left'

/** The other processes that were found gone or silent. */
export interface Sighting {
  /** Take over from these now. */
  gone: OtherProcess[]
  /** Alive according to the database, but silent for too long. */
  frozen: OtherProcess[]
}

/** Detects processes that are gone, by comparing each look with the ones before. */
export interface FailureDetector {
  /** @param graceMs How long a missing process may still come back. */
  look(others: readonly OtherProcess[], nowMs: number, graceMs: number): Sighting
  /** Returns why a process that {@link look} reported as gone is gone. */
  causeOf(gone: OtherProcess): GoneCause
  /** How long this process itself was suspended before its last look; 0 when it looked on schedule. */
  readonly lateMs: number
  /** Records that taking over from that process failed: the next attempt waits a while. */
  postpone(processId: string, nowMs: number): void
  /** True while a process may be gone: look again soon. */
  readonly isUnsure: boolean
}

export function createFailureDetector(): FailureDetector {
  const missingSince = new Map<string, number>()
  const postponedTo = new Map<string, number>()
  const frozenOnes = new Set<string>()
  let lastLookAt: number | undefined
  /** Since then this process has looked on schedule. */
  let punctualSince = 0
  let lateMs = 0

  /** A machine that starves this process starves its neighbours as well, so they get the full time again to report that they are alive. */
  function checkOwnTime(nowMs: number): void {
    const gapMs = lastLookAt === undefined ? 0 : nowMs - lastLookAt
    lateMs = gapMs > LATE_MS ? gapMs : 0
    if (lastLookAt === undefined || lateMs > 0) punctualSince = nowMs
    lastLookAt = nowMs
  }

  const isFrozen = ({ heldBy, backend, silentMs }: OtherProcess, nowMs: number) =>
    // When another process holds the lock, that process is taking over.
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
