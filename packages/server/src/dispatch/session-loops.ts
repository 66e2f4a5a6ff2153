import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'

/** Pauses before a session whose rows could not be read or written (a full disk) is retried; the last one repeats. */
const WAITS_MS = [100, 250, 500, 1_000, 2_000, 5_000]

/** Advances sessions, each by one loop at a time. */
export interface SessionLoops {
  /** Resolves when the session needs no more work; at once when its loop is running, which then checks once more. */
  advance(sessionId: string): Promise<void>
  /** Lets each loop end after its current step. */
  stop(): void
}

export interface SessionLoopsOptions {
  advance(sessionId: string): Promise<unknown>
  clock: Clock
  log: Logger
}

export function createSessionLoops({ advance, clock, log }: SessionLoopsOptions): SessionLoops {
  /** Sessions being advanced; true when another request arrived meanwhile. */
  const advancing = new Map<string, boolean>()
  const pauses = new Set<() => void>()
  let isStopped = false

  async function loop(sessionId: string): Promise<void> {
    let failures = 0
    try {
      do {
        advancing.set(sessionId, false)
        try {
          await advance(sessionId)
          failures = 0
        } catch (error) {
          // Its rows still require the next step, and no other request will come.
          log.error({ sessionId, error }, 'session.advance_failed')
          await pause(WAITS_MS[failures++] ?? WAITS_MS.at(-1) ?? 0)
          advancing.set(sessionId, true)
        }
      } while (advancing.get(sessionId) && !isStopped)
    } finally {
      advancing.delete(sessionId)
    }
  }

  async function pause(delayMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const takeBack = clock.after(delayMs, resolve)
    const end = () => {
      takeBack()
      resolve()
    }
    if (isStopped) end()
    pauses.add(end)
    await promise
    pauses.delete(end)
  }

  return {
    async advance(sessionId) {
      if (advancing.has(sessionId)) advancing.set(sessionId, true)
      else await loop(sessionId)
    },
    stop() {
      isStopped = true
      for (const end of pauses) end()
    },
  }
}
