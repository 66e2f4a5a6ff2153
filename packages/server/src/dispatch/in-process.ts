import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import type { Outbox } from '../store/index.ts'

export interface Work {
  advance(sessionId: string): Promise<void>
  execute(actionId: string): Promise<void>
}

/** Before a session whose rows could not be read or written (a full disk) is looked at again; from the last on it stays. */
const WAITS_MS = [100, 250, 500, 1_000, 2_000, 5_000]

/** Starts what committed transactions asked for, in this process: one loop per session, any number of executions. */
export interface Dispatch {
  /** Before this, what is asked for is kept. */
  start(work: Work): void
  take(outbox: Pick<Outbox, 'sessions' | 'actions'>): void
  /** Counts work that was begun elsewhere, so that `idle` waits for it; its failure is logged. */
  background(work: Promise<unknown>): void
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
  /** Starts nothing more. */
  stop(): void
}

export function createDispatch(log: Logger, clock: Clock): Dispatch {
  /** Sessions being advanced; true when asked for again meanwhile. */
  const advancing = new Map<string, boolean>()
  const underWay = new Set<Promise<unknown>>()
  const early: Pick<Outbox, 'sessions' | 'actions'> = { sessions: new Set(), actions: new Set() }
  const pauses = new Set<() => void>()
  let work: Work | undefined
  let isStopped = false

  function background(promise: Promise<unknown>): void {
    const watched = promise.catch((error) => log.error({ error }, 'work.failed')).finally(() => underWay.delete(watched))
    underWay.add(watched)
  }

  async function advance(sessionId: string, { advance: run }: Work): Promise<void> {
    let failures = 0
    try {
      do {
        advancing.set(sessionId, false)
        try {
          await run(sessionId)
          failures = 0
        } catch (error) {
          // Its rows still call for the next thing, and nobody else is going to ask for it.
          log.error({ sessionId, error }, 'session.not_advanced')
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
    pauses.add(end)
    await promise
    pauses.delete(end)
  }

  function take({ sessions, actions }: Pick<Outbox, 'sessions' | 'actions'>): void {
    if (isStopped) return
    if (!work) {
      for (const id of sessions) early.sessions.add(id)
      for (const id of actions) early.actions.add(id)
      return
    }
    for (const id of actions) background(work.execute(id))
    for (const id of sessions) {
      if (advancing.has(id)) advancing.set(id, true)
      else background(advance(id, work))
    }
  }

  return {
    start(given) {
      work = given
      take(early)
    },
    take,
    background,
    idle: async () => {
      while (underWay.size > 0) await Promise.all(underWay)
    },
    stop: () => {
      isStopped = true
      for (const end of pauses) end()
    },
  }
}
