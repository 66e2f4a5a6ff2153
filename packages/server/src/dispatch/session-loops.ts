import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'

/** Pauses before a session whose rows could not be read or written (a full disk) is retried; the last one repeats. */
const WAITS_MS = [100, 250, 500, 1_000, 2_000, 5_000]

/** Advances sessions, each by one loop at a time. */
export interface SessionLoops {
  /** Resolves when the session needs no more work; at once when its loop is running, which then checks once more. */
  advance(sessionId: string): Promise<void>
  /** Resolves when no loop of the session is running. */
  ended(sessionId: string): Promise<void>
  /** Lets each loop end after its current step. */
  stop(): void
}

export interface SessionLoopsOptions {
  advance(sessionId: string): Promise<unknown>
  clock: Clock
  log: Logger
}

export function createSessionLoops({ advance, clock, log }: SessionLoopsOptions): SessionLoops {
  /** Sessions being advanced, and whether another request arrived meanwhile. */
  const advancing = new Map<string, { isCalled: boolean; ended: Promise<void> }>()
  const pauses = new Set<() => void>()
  let isStopped = false

  async function loop(sessionId: string, calls: { isCalled: boolean }): Promise<void> {
    let failures = 0
    try {
      do {
        calls.isCalled = false
        try {
          await advance(sessionId)
          failures = 0
        } catch (error) {
          // Its rows still require the next step, and no other request will come.
          log.error({ sessionId, error }, 'session.advance_failed')
          await pause(WAITS_MS[failures++] ?? WAITS_MS.at(-1) ?? 0)
          calls.isCalled = true
        }
      } while (calls.isCalled && !isStopped)
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
      const running = advancing.get(sessionId)
      if (running) {
        running.isCalled = true
        return
      }
      const calls = { isCalled: false, ended: Promise.resolve() }
      advancing.set(sessionId, calls)
      calls.ended = loop(sessionId, calls)
      await calls.ended
    },
    ended: async (sessionId) => await advancing.get(sessionId)?.ended,
    stop() {
      isStopped = true
      for (const end of pauses) end()
    },
  }
}
