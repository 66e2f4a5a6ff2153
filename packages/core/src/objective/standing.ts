import type { ObjectiveStanding, ObjectiveState } from '../wire/objective.ts'
import { elapsedOf } from './period.ts'

/** How far behind the time something may be, in thousandths, and still be on track. */
const MARGIN = 150

/** Returns the status of an objective: the outcome of a closed one, or the progress of an open one against the elapsed time. */
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
