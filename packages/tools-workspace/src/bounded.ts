import { WorkEnded } from '@countersign/toolkit/internal'
import { Fault } from './fault.ts'
import type { Workspace } from './workspace.ts'

/** How long a diff or an edit may take, in ms. */
const WRITE_WORK_MS = 3_000

type Jobs = Workspace['work']['run']

/**
 * Processes texts of files and models in a worker thread, within a time limit.
 * @throws Fault when it takes too long; then nothing was changed.
 */
export async function inBounds<T>(what: string, work: (run: Jobs) => Promise<T>, { work: workers }: Pick<Workspace, 'work'>): Promise<T> {
  try {
    return await work(workers.run)
  } catch (error) {
    if (error instanceof WorkEnded) throw new Fault(`${what} was stopped: it ${error.message}.`, { cause: error })
    throw error
  }
}

export const WRITE_WORK = { timeoutMs: WRITE_WORK_MS }
