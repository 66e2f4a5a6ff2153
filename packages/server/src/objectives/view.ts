import {
  elapsedOf,
  type KeyResult,
  type Measure,
  meanProgress,
  type Objective,
  type ObjectiveChange,
  progressOf,
  standingOf,
} from '@countersign/core'
import { isoTime, viewPrincipal } from '../gate/index.ts'
import { type KeyResultRow, type ObjectiveChangeRow, type ObjectiveRow, objectives, principals, type Tx } from '../store/index.ts'

const measureOf = (row: KeyResultRow): Measure => ({ start: row.start_value, target: row.target_value, current: row.current_value })
/** Percent with one decimal. */
const percent = (thousandths: number): number => thousandths / 10

function viewKeyResult(row: KeyResultRow): KeyResult {
  const { id, title, metric, unit, version } = row
  const [start, target, current] = [Number(row.start_value), Number(row.target_value), Number(row.current_value)]
  return {
    id,
    title,
    metric,
    unit,
    start,
    target,
    current,
    direction: target >= start ? 'up' : 'down',
    progress: percent(progressOf(measureOf(row))),
    updatedAt: isoTime(row.updated_at),
    version,
  }
}

/** Returns an objective with its key results, its progress, and its status at that time. */
export function* viewObjective(row: ObjectiveRow, nowMs: number): Tx<Objective> {
  const keyResults = yield* objectives.keyResultsOf.all({ objective_id: row.id })
  const { id, title, description, owner, period, state, version } = row
  const progress = meanProgress(keyResults.map((one) => progressOf(measureOf(one))))
  return {
    id,
    title,
    description,
    owner,
    period,
    state,
    standing: standingOf({ state, period, progress }, nowMs),
    progress: progress === undefined ? null : percent(progress),
    elapsed: percent(elapsedOf(period, nowMs)),
    keyResults: keyResults.map(viewKeyResult),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
    version,
  }
}

/** @param seesAction Returns false for an action that the reader may not see. */
export function* viewChange(row: ObjectiveChangeRow, seesAction: (actionId: string) => boolean): Tx<ObjectiveChange> {
  const { id, kind, objective_id, key_result_id, before, after, note, by_id, action_id, at } = row
  const isKnown = by_id !== null && (yield* principals.findPrincipal.first({ id: by_id })) !== undefined
  return {
    id,
    kind,
    objectiveId: objective_id,
    keyResultId: key_result_id,
    before: JSON.parse(before),
    after: JSON.parse(after),
    note,
    by: isKnown ? yield* viewPrincipal(by_id) : null,
    actionId: seesAction(action_id) ? action_id : null,
    at: isoTime(at),
  }
}
