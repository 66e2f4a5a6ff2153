import { type WorkBudget, WorkEnded } from '../bounded/workers.ts'
import type { PatchInput } from './jobs.ts'
import type { TextWork } from './text-work.ts'

/** A difference with more lines than that takes long to find, and nobody reads it. */
const MAX_EDITS = 4_000

/**
 * What the diffs of one card may take together. A preview that takes more than 5 s gives a card without any of its values, and a change that is
 * held against nothing when it starts.
 */
const DIFFS_MS = 2_000

export const openDiffBudget = (): WorkBudget => ({ leftMs: DIFFS_MS })

/** How a diff is worked out: as one of those that share a budget. */
export interface DiffOptions {
  budget: WorkBudget
  signal: AbortSignal
}

/**
 * The unified diff of two texts, found in a thread of its own; undefined where they have too little in common, or the budget is used up, which
 * the diffs of others can do as well.
 */
export async function diffWithin(
  work: TextWork,
  input: Omit<PatchInput, 'maxEdits'>,
  { budget, signal }: DiffOptions,
): Promise<string | undefined> {
  try {
    return await work.run('patch', { ...input, maxEdits: MAX_EDITS }, { timeoutMs: DIFFS_MS, budget, signal })
  } catch (error) {
    if (error instanceof WorkEnded) return undefined
    throw error
  }
}
