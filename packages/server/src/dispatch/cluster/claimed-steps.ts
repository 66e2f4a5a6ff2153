import type { Clock } from '../../clock.ts'
import type { ClaimedStep, RunRow } from '../../store/index.ts'

/** A session that waited for longer than this after the commit, as for a slot, may not be as it was: the database is asked. */
const FRESH_MS = 1_000

/** The steps that transactions of this process claimed when they made them due: it makes them without asking the database again. */
export interface ClaimedSteps {
  add(step: ClaimedStep): void
  /** Takes a step. False for one that is not claimed for this process, under the id that it has now, since a moment ago. */
  take(run: RunRow, runner: string): boolean
  /** Forgets a step. True when it was not taken. */
  drop(step: Pick<RunRow, 'id' | 'steps'>): boolean
}

export function createClaimedSteps(clock: Clock): ClaimedSteps {
  const claimed = new Map<string, { step: ClaimedStep; atMs: number }>()
  return {
    add: (step) => void claimed.set(step.id, { step, atMs: clock.nowMs() }),
    take({ id, steps }, runner) {
      const found = claimed.get(id)
      if (found?.step.steps !== steps || found.step.runner !== runner || clock.nowMs() - found.atMs >= FRESH_MS) return false
      return claimed.delete(id)
    },
    drop: ({ id, steps }) => claimed.get(id)?.step.steps === steps && claimed.delete(id),
  }
}
