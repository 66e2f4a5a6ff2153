import { WorkEnded, type WorkOptions } from '../bounded/workers.ts'
import type { PatchInput } from './jobs.ts'
import type { TextWork } from './text-work.ts'

/** A difference with more lines than that takes long to find, and nobody reads it. */
const MAX_EDITS = 4_000

/** The unified diff of two texts, found in a thread of its own; undefined where they have too little in common, or it takes too long. */
export async function diffWithin(work: TextWork, input: Omit<PatchInput, 'maxEdits'>, options: WorkOptions): Promise<string | undefined> {
  if (options.timeoutMs <= 0) return undefined
  try {
    return await work.run('patch', { ...input, maxEdits: MAX_EDITS }, options)
  } catch (error) {
    if (error instanceof WorkEnded) return undefined
    throw error
  }
}
