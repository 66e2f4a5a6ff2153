import type { Clock } from '../../clock.ts'
import { ConnectionLost } from './errors.ts'
import { Session, type SessionOptions } from './session.ts'

/** Longer than a queue of work takes: after that, the connections in use are stuck. */
const WAIT_MS = 30_000

/** Connections to one database, opened when they are needed and kept. */
export interface SessionPool {
  /**
   * Runs `work` with a connection that is not shared meanwhile; waits for one while all are in use. A broken one is not reused.
   * @throws ConnectionLost when none becomes free in half a minute.
   */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** Closes idle connections now and the others when their work is done. */
  close(): Promise<void>
}

export function createPool(options: SessionOptions, maxSessions: number, clock: Clock): SessionPool {
  const idle: Session[] = []
  const waiting: ((session: Session | undefined) => void)[] = []
  let open = 0
  let isClosed = false

  /** Undefined when there is room to open one. */
  function takeIdle(): Promise<Session | undefined> | Session | undefined {
    for (let session = idle.pop(); session; session = idle.pop()) {
      if (!session.isBroken) return session
      open--
    }
    if (open < maxSessions) {
      open++
      return undefined
    }
    return new Promise((resolve, reject) => {
      const stop = clock.after(WAIT_MS, () => {
        waiting.splice(waiting.indexOf(take), 1)
        reject(new ConnectionLost(new Error('all connections are in use')))
      })
      const take = (session: Session | undefined) => {
        stop()
        resolve(session)
      }
      waiting.push(take)
    })
  }

  /** Gives the slot of a connection to the next caller in line: with the connection, or for a new one. */
  function pass(session: Session | undefined): void {
    const next = waiting.shift()
    if (next) next(session)
    else if (session && !isClosed) idle.push(session)
    else open--
  }

  return {
    async use(work) {
      let session = await takeIdle()
      try {
        session ??= await Session.connect(options)
        return await work(session)
      } finally {
        if (session?.isBroken) session.destroy()
        else if (session && isClosed && waiting.length === 0) void session.close()
        pass(session?.isBroken ? undefined : session)
      }
    },
    async close() {
      isClosed = true
      await Promise.all(idle.splice(0).map((session) => session.close()))
    },
  }
}
