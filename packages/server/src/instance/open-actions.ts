import type { HoldView } from '@countersign/core'
import { type ActionRow, instance, type Tx } from '../store/index.ts'

const MAX_LISTED = 10

/** The actions that a hold keeps from running, and that start or become unknown when the copy is accepted. */
export interface OpenActions {
  counts: NonNullable<HoldView['open']>
  /** At most ten: first approved ones, then executing ones. */
  first: readonly Pick<ActionRow, 'state' | 'tool' | 'description'>[]
}

/** Counts the open actions. */
export function* countOpenActions(): Tx<OpenActions['counts']> {
  const counts = new Map((yield* instance.countOpen()).map(({ state, count }) => [state, Number(count)]))
  return {
    approved: counts.get('approved') ?? 0,
    executing: counts.get('executing') ?? 0,
    waiting: counts.get('proposed') ?? 0,
    outcomeUnknown: counts.get('outcome_unknown') ?? 0,
  }
}

/** Counts the open actions, and returns the first of those that run or would run. */
export function* readOpenActions(): Tx<OpenActions> {
  const counts = yield* countOpenActions()
  return { counts, first: yield* instance.firstToRun.all({ limit: MAX_LISTED }) }
}
