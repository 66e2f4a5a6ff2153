import { setImmediate as nextTurn } from 'node:timers/promises'

/** Steps are of some 20 ns each, so this is about 4 ms. */
const STEPS_PER_TURN = 200_000

/**
 * Counts the steps of long work, so that the server does other work in between.
 * @example
 * for (const one of many) {
 *   turns.add(look(one))
 *   if (turns.isDue) await turns.next()
 * }
 */
export class Turns {
  #left = STEPS_PER_TURN

  add(steps: number): void {
    this.#left -= steps
  }

  get isDue(): boolean {
    return this.#left <= 0
  }

  async next(): Promise<void> {
    this.#left = STEPS_PER_TURN
    await nextTurn()
  }
}
