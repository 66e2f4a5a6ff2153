import type { Store, Tx } from '../store/index.ts'

/** Reads at most this many pages concurrently. */
const AT_ONCE = 2

/** Reads logs for streams. A store implements it, too, without a limit. */
export interface LogReader {
  /** @param what Reads of the same name that have not begun yet are merged into one. */
  read<T>(work: () => Tx<T>, what: string): Promise<T>
}

/**
 * Queues reads. However many readers are behind, they use a small share of the database and of the memory, and decisions and work do not
 * wait for them; when a hundred readers reconnect at once, one read serves them all.
 */
export function createLogReader({ read }: Pick<Store, 'read'>): LogReader {
  const waiting = new Map<string, Promise<unknown>>()
  const turns = new Set<() => void>()
  let free = AT_ONCE

  async function inTurn<T>(work: () => Tx<T>, what: string, turn: Promise<void>): Promise<T> {
    await turn
    // A later caller may have been notified of events that this read will miss. Callers of the same moment, such as all readers of one
    // session after an event, are here before the first read begins.
    waiting.delete(what)
    try {
      return await read(work)
    } finally {
      free++
      beginNext()
    }
  }

  function beginNext(): void {
    const [next] = turns
    if (!next || free === 0) return
    free--
    turns.delete(next)
    next()
  }

  return {
    read<T>(work: () => Tx<T>, what: string): Promise<T> {
      const same = waiting.get(what)
      if (same) return same as Promise<T>
      const { promise: turn, resolve: begin } = Promise.withResolvers<void>()
      const answer = inTurn(work, what, turn)
      waiting.set(what, answer)
      turns.add(begin)
      beginNext()
      return answer
    },
  }
}
