import { checkpoint } from '@countersign/toolkit/internal'
import type { Clock } from '../clock.ts'

/** A clock change, or a suspended machine, is noticed after this long. */
const LONGEST_WAIT_MS = 60_000
/** Pause after a failure, for example when the database was unreachable. */
const RETRY_MS = 5_000

export interface TimerWork {
  /** Does everything that is due. Returns in how many ms the next thing is due; undefined when nothing is scheduled. */
  doWhatIsDue(signal: AbortSignal): Promise<number | undefined>
}

/** Keeps one timer for the earliest scheduled event in the database. Due times are stored in rows; nothing is lost with a timer. */
export interface Timers {
  /** Starts to fire, first for what became due while no process ran. */
  start(work: TimerWork): void
  /** Notes that something is due at `dueAt`, epoch ms. */
  arm(dueAt: number): void
  /** Reads the database again: another process may be gone, and with it its knowledge of what is due. */
  rearm(): void
  /** Fires no more; a run in progress ends after its batch. */
  stop(): void
}

export interface TimersOptions {
  clock: Clock
  /** Counts a run as work in flight, and logs its failure. */
  background(work: Promise<unknown>): void
}

export function createTimers({ clock, background }: TimersOptions): Timers {
  const stopping = new AbortController()
  let work: TimerWork | undefined
  let armedFor = Number.POSITIVE_INFINITY
  let takeBack: (() => void) | undefined
  let isFiring = false
  let isAskedAgain = false

  function arm(dueAt: number): void {
    if (!work || stopping.signal.aborted || dueAt >= armedFor) return
    takeBack?.()
    armedFor = dueAt
    const waitMs = Math.max(dueAt - clock.nowMs(), 0)
    takeBack = clock.after(Math.min(waitMs, LONGEST_WAIT_MS), () => {
      armedFor = Number.POSITIVE_INFINITY
      takeBack = undefined
      look()
    })
  }

  function look(): void {
    isAskedAgain = isFiring
    if (!work || isFiring || stopping.signal.aborted) return
    isFiring = true
    background(fire(work))
  }

  async function fire({ doWhatIsDue }: TimerWork): Promise<void> {
    checkpoint('timer.fired')
    let waitMs: number | undefined = RETRY_MS
    try {
      waitMs = await doWhatIsDue(stopping.signal)
    } finally {
      isFiring = false
      if (waitMs !== undefined) arm(clock.nowMs() + waitMs)
      if (isAskedAgain) look()
    }
  }

  return {
    start(given) {
      work = given
      look()
    },
    arm,
    rearm: look,
    stop() {
      stopping.abort()
      takeBack?.()
    },
  }
}
