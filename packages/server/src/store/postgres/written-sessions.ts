import { LRUCache } from 'lru-cache'
import type { SessionMemory } from '../session-memory.ts'
import type { SessionState } from '../tables/session-state.ts'

const MOST_SESSIONS = 1_000

/** The state in which one transaction leaves sessions. */
export interface LeftSessions {
  readonly memory: SessionMemory
  /** Call it when the transaction is committed. */
  keep(): void
}

/**
 * Sessions as this process wrote them last, on a database where others write, too. A state may be out of date, so nothing is decided by it
 * alone: a claim of the next step compares its version (`isAsWritten`), and a transaction reads the session again and takes over only what
 * belongs to the version that it read.
 */
export class WrittenSessions {
  readonly #states = new LRUCache<string, SessionState>({ max: MOST_SESSIONS })
  readonly #sessionOf = new LRUCache<string, string>({ max: 4 * MOST_SESSIONS })

  /** The session as the last transaction of this process that wrote to it left it. */
  find(sessionId: string): SessionState | undefined {
    return this.#states.get(sessionId)
  }

  begin(): LeftSessions {
    const left = new Map<string, SessionState>()
    const memory: SessionMemory = {
      peek: () => undefined,
      take: () => undefined,
      dueStep(sessionId) {
        const state = left.get(sessionId)
        return state?.run?.state === 'open' && state.open.length === 0 ? state.run : undefined
      },
      action: () => undefined,
      sessionOf: (actionId) => this.#sessionOf.get(actionId),
      recognize: (read) => this.#recognize(read),
      keep: (state) => void left.set(state.session.id, state),
    }
    const keep = () => {
      for (const state of left.values()) this.#keep(state)
    }
    return { memory, keep }
  }

  /** Adds the rows of the history that are known to a session as it was read. */
  #recognize(read: SessionState): SessionState {
    const written = this.#states.get(read.session.id)
    if (!written || !isSameVersion(written, read)) return read
    const { history, mayHaveDeltas } = written.known
    return { ...read, known: { ...read.known, history, mayHaveDeltas } }
  }

  /** The answers to the commits of several connections arrive in any order. */
  #keep(state: SessionState): void {
    const { id, last_seq } = state.session
    const before = this.#states.peek(id)
    if (before && before.session.last_seq > last_seq) return
    this.#states.set(id, { ...state, known: { ...state.known, actions: new Map() } })
    for (const action of state.open) this.#sessionOf.set(action.id, id)
  }
}

/** Everything that is written to a session gets a number of its log or of its part of the record. */
const isSameVersion = ({ session: a }: SessionState, { session: b }: SessionState): boolean =>
  a.last_seq === b.last_seq && a.audit_seq === b.audit_seq
