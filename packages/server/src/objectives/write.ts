import { assert, decimalText, ToolError } from '@countersign/core'
import { checkpoint, type KeyResultValues, type ObjectiveWrite, type Written } from '@countersign/toolkit/internal'
import { newId, objectives, type Tx } from '../store/index.ts'

/**
 * Makes one change: the history first, whose key belongs to the attempt, so that a repeat detects that it is done. The condition is part of
 * each update: of two changes to one version, the second finds nothing to change and is rolled back completely.
 * @throws ToolError `stale`
 */
export function* writeObjective(write: ObjectiveWrite, nowMs: number): Tx<Written> {
  const { attempt, objective, kind, before, after, note = null, add = [], set } = write
  const objectiveId = objective.to === 'create' ? newId('obj', nowMs) : objective.id
  const added = add.map((values) => ({ id: newId('kre', nowMs), values }))
  const keyResultId = set?.id ?? (objective.to === 'create' ? null : (added[0]?.id ?? null))
  const isNew = yield* objectives.insertChange.change({
    id: newId('och', nowMs),
    objective_id: objectiveId,
    key_result_id: keyResultId,
    kind,
    before: JSON.stringify(before),
    after: JSON.stringify(after),
    note,
    by_id: attempt.by ?? null,
    action_id: attempt.actionId,
    attempt_key: attempt.key,
    at: nowMs,
  })
  if (!isNew) {
    const earlier = yield* objectives.changeByKey.first({ attempt_key: attempt.key })
    assert(earlier, 'a key that is taken has its change')
    return { objectiveId: earlier.objective_id, keyResultId: earlier.key_result_id }
  }
  checkpoint('objectives.storing')
  if (objective.to === 'create') {
    const row = { id: objectiveId, ...objective.values, state: 'open' as const, version: 1, created_at: nowMs, updated_at: nowMs }
    yield* objectives.insertObjective.run(row)
  } else if (objective.to === 'set') {
    const { version, values, state, measured } = objective
    if (!(yield* objectives.setObjective.change({ id: objectiveId, ...values, state, version, now: nowMs }))) throw changed('objective')
    // After the update: changes of its key results wait for it, or it has waited for theirs.
    if (measured && !(yield* areUnchanged(objectiveId, measured))) throw changed('key result')
  } else if (!(yield* objectives.touchObjective.change({ id: objectiveId, now: nowMs }))) throw changed('objective')
  for (const { id, values } of added) {
    const row = { id, objective_id: objectiveId, ...columnsOf(values), version: 1, archived_at: null, created_at: nowMs, updated_at: nowMs }
    yield* objectives.insertKeyResult.run(row)
  }
  if (set) {
    const { id, version, values, isRemoved } = set
    const row = { id, version, ...columnsOf(values), archived_at: isRemoved ? nowMs : null, now: nowMs }
    if (!(yield* objectives.setKeyResult.change(row))) throw changed('key result')
  }
  return { objectiveId, keyResultId }
}

/** True while an objective has just these key results at these versions. */
function* areUnchanged(objectiveId: string, measured: readonly [string, number][]): Tx<boolean> {
  const now = new Map((yield* objectives.keyResultsOf.all({ objective_id: objectiveId })).map(({ id, version }) => [id, version]))
  return now.size === measured.length && measured.every(([id, version]) => now.get(id) === version)
}

const changed = (what: string) => new ToolError('stale', `The ${what} changed after it was looked at last. Nothing was changed.`)

function columnsOf({ title, metric, unit, start, target, current }: KeyResultValues) {
  return { title, metric, unit, start_value: exact(start), target_value: exact(target), current_value: exact(current) }
}

function exact(value: number): string {
  const text = decimalText(value)
  if (text === undefined) throw new ToolError('refused', `${value} has too many digits. Nothing was changed.`, { retryable: false })
  return text
}
