import { setImmediate as nextTurn } from 'node:timers/promises'
import { audit, type Store } from '../store/index.ts'

/** Heads that are looked at in one piece: no index has their times. This takes about 2 ms on the embedded database. */
const PIECE = 10_000

/** The first and the last head of a piece that have rows of a period, and their first and last place. */
export type HeadStretch = Record<'firstNumber' | 'lastNumber' | 'firstId' | 'lastId', number>

/**
 * Yields where the heads with rows of a period are, the newest first. It looks at every head, because a wrong clock may have written rows of
 * another time between any two of them. Other work has its turn after each piece.
 * @param since Inclusive, epoch milliseconds.
 * @param until Exclusive.
 * @param before Only heads before this number; default: all.
 */
export async function* headsOfPeriod(
  store: Store,
  { since = 0, until = Number.MAX_SAFE_INTEGER, before = Number.MAX_SAFE_INTEGER }: { since?: number; until?: number; before?: number },
): AsyncGenerator<HeadStretch> {
  for (let end = before; ; ) {
    const found = await store.read(() => audit.headPiece.first({ before: end, count: PIECE, since, until }))
    if (!found || found.lowest === null) return
    const { lowest, firstNumber, lastNumber, firstId, lastId } = found
    if (firstNumber !== null && lastNumber !== null && firstId !== null && lastId !== null)
      yield { firstNumber, lastNumber, firstId, lastId }
    end = lowest
    await nextTurn()
  }
}
