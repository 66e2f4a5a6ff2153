import { type DiffSide, openDiffBudget, type WorkBudget, WorkEnded, WorkTimedOut, wholeDiff } from '@countersign/toolkit/internal'
import { Fault, TimedOut } from './fault.ts'
import type { Workspace } from './workspace.ts'

/** A longer diff is refused, because nobody could review it. */
export const MAX_DIFF_CHARS = 250_000

/**
 * What one edit may take, or one diff for which there is nothing shorter. Their waits for the thread are limited by the signal alone: a preview
 * has 5 s, and an approved change must not fail because others are busy.
 */
const WORK_MS = 2_000

/** The time for the texts of one plan. Its diffs are whole files when their time is used up. */
export interface PlanTime {
  signal: AbortSignal
  diffs: WorkBudget
}

export const openPlanTime = (signal: AbortSignal): PlanTime => ({ signal, diffs: openDiffBudget() })

/** Why diffs that are too long together are refused. */
export const tooLong = (what: string, { diffs }: PlanTime): Fault => (diffs.leftMs > 0 ? tooLongForAnybody(what) : notInTime(what))

const tooLongForAnybody = (what: string): Fault => new Fault(`The diff of ${what} is too long to be shown to anybody: change less at once.`)

const notInTime = (what: string): Fault =>
  new TimedOut(`The diff of ${what} was not found in time, and all of it is too long to be shown. Try again, or change less at once.`)

const stopped = (what: string, cause: WorkEnded): Fault =>
  new (cause instanceof WorkTimedOut ? TimedOut : Fault)(`${what} was stopped: it ${cause.message}.`, { cause })

type Jobs = Workspace['work']['run']

/**
 * Processes texts of files and models in a worker thread, within a time limit.
 * @throws Fault when it takes too long, or too much memory; then nothing was changed.
 */
export async function inBounds<T>(what: string, work: (run: Jobs) => Promise<T>, { work: workers }: Pick<Workspace, 'work'>): Promise<T> {
  try {
    return await work(workers.run)
  } catch (error) {
    if (error instanceof WorkEnded) throw stopped(what, error)
    throw error
  }
}

/** The options of an edit of a plan. */
export const editOptions = ({ signal }: PlanTime) => ({ timeoutMs: WORK_MS, signal })

/**
 * Returns the diff of one file: the shortest, or the whole file out and in where the work for it was ended.
 * @throws Fault when it is too long to be shown.
 */
export async function diffInTime(
  { work }: Pick<Workspace, 'work'>,
  file: { path: string; before: DiffSide | undefined; after: DiffSide | undefined },
  time: PlanTime,
): Promise<string> {
  const { path, before, after } = file
  const { signal, diffs } = time
  try {
    const diff = await work.run('diff', file, { timeoutMs: diffs.leftMs, signal, budget: diffs })
    if (diff.length > MAX_DIFF_CHARS) throw tooLong(path, time)
    return diff
  } catch (error) {
    if (!(error instanceof WorkEnded)) throw error
    const whole = (before?.text.length ?? 0) + (after?.text.length ?? 0) > MAX_DIFF_CHARS ? undefined : wholeDiff(path, before, after)
    if (whole !== undefined && whole.length <= MAX_DIFF_CHARS) return whole
    return shortestDiff({ work }, file, time)
  }
}

/** @throws Fault when it takes too long or too much memory, or is too long to be shown. */
async function shortestDiff({ work }: Pick<Workspace, 'work'>, file: Parameters<typeof diffInTime>[1], time: PlanTime): Promise<string> {
  const diff = await work.run('diff', file, { timeoutMs: WORK_MS, signal: time.signal }).catch((error: unknown) => {
    if (error instanceof WorkTimedOut) throw notInTime(file.path)
    throw error instanceof WorkEnded ? stopped(`The diff of ${file.path}`, error) : error
  })
  if (diff.length > MAX_DIFF_CHARS) throw tooLongForAnybody(file.path)
  return diff
}
