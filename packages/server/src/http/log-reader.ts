import type { Store, Tx } from '../store/index.ts'

/** Reads no more than this many pages at a time. */
const AT_ONCE = 2

/** Reads logs for streams. A store is one, too, without any manners. */
export interface LogReader {
  /** @param what Readings of the same name that have not begun yet are one reading. */
  read<T>(work: () => Tx<T>, what: string): Promise<T>
}

/**
 * Each reading waits for its turn. However many readers are behind, they take a small share of the database and of the memory, and whoever
 * decides or works does not wait for them; and when a hundred come back at once, they are read for once.
 */
export function createLogReader({ read }: Pick<Store, 'read'>): LogReader {
  const waiting = new Map<string, { begin(): void; answer: Promise<unknown> }>()
  let free = AT_ONCE

  async function inTurn<T>(work: () => Tx<T>, turn: Promise<void>): Promise<T> {
    await turn
    try {
      return await read(work)
    } finally {
      free++
      beginNext()
    }
  }

  function beginNext(): void {
    const [next] = waiting
    if (!next || free === 0) return
    free--
    // Whoever asks from now on may have heard of something that this reading does not find any more.
    waiting.delete(next[0])
    next[1].begin()
  }

  return {
    read<T>(work: () => Tx<T>, what: string): Promise<T> {
      const same = waiting.get(what)
      if (same) return same.answer as Promise<T>
      const { promise: turn, resolve: begin } = Promise.withResolvers<void>()
      const answer = inTurn(work, turn)
      waiting.set(what, { begin, answer })
      beginNext()
      return answer
    },
  }
}
