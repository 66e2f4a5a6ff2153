import type { ObjectiveStanding, ObjectiveState } from '../wire/objective.ts'
import { elapsedOf } from './period.ts'

/** How far behind the time something may be, in thousandths, and still be on track. */
const MARGIN = 150

/** Returns the status of an objective for the elapsed time: a closed one has its outcome, an open one is measured. */
export function standingOf(
  { state, period, progress }: { state: ObjectiveState; period: string; progress: number | undefined },
  nowMs: number,
): ObjectiveStanding {
  if (state !== 'open') return 'closed'
  if (progress === undefined) return 'unmeasured'
  if (progress === 1_000) return 'reached'
  const elapsed = elapsedOf(period, nowMs)
  if (elapsed === 1_000) return 'overdue'
  return progress + MARGIN >= elapsed ? 'on_track' : 'at_risk'
}
