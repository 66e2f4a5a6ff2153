import type { ObjectiveState } from '@countersign/core'
import { ask, lit, question, type Tx } from '../query.ts'
import { insertInto } from './insert.ts'
import type { KeyResultRow, ObjectiveChangeRow, ObjectiveRow } from './objective-rows.ts'
import type { Schema } from './schema.ts'

export const findObjective = question<{ id: string }, ObjectiveRow>((db, p) =>
  db.selectFrom('objective').selectAll().where('id', '=', p.id),
)

/** Objectives, newest first. */
export const listObjectives = (page: {
  owner: string | undefined
  period: string | undefined
  state: ObjectiveState | undefined
  before: string | undefined
  limit: number
}): Tx<ObjectiveRow[]> =>
  ask((db) => {
    const { owner, period, state, before, limit } = page
    let query = db.selectFrom('objective').selectAll().orderBy('id', 'desc').limit(limit)
    if (owner !== undefined) query = query.where('owner', '=', owner)
    if (period !== undefined) query = query.where('period', '=', period)
    if (state !== undefined) query = query.where('state', '=', state)
    if (before !== undefined) query = query.where('id', '<', before)
    return query
  })

/** A limit: more key results make no objective clearer. */
const MAX_KEY_RESULTS = 50

/** The current key results of an objective, the oldest first. */
export const keyResultsOf = question<{ objective_id: string }, KeyResultRow>((db, p) =>
  db
    .selectFrom('key_result')
    .selectAll()
    .where('objective_id', '=', p.objective_id)
    .where('archived_at', 'is', null)
    .orderBy('id')
    .limit(lit(MAX_KEY_RESULTS)),
)

/** Including removed ones. */
export const findKeyResult = question<{ id: string }, KeyResultRow>((db, p) =>
  db.selectFrom('key_result').selectAll().where('id', '=', p.id),
)

export const insertObjective = insertInto('objective', {
  id: true,
  title: true,
  description: true,
  owner: true,
  period: true,
  state: true,
  version: true,
  created_at: true,
  updated_at: true,
})

/** Sets the values of an objective that still has this version. No row changes when another change was first. */
export const setObjective = question<
  Pick<ObjectiveRow, 'id' | 'title' | 'description' | 'owner' | 'period' | 'state' | 'version'> & { now: number }
>((db, p) =>
  db
    .updateTable('objective')
    .set((eb) => ({
      title: p.title,
      description: p.description,
      owner: p.owner,
      period: p.period,
      state: p.state,
      version: eb('version', '+', lit(1)),
      updated_at: p.now,
    }))
    .where('id', '=', p.id)
    .where('version', '=', p.version),
)

/** Records a change of its key results. No row changes when it is no longer open. */
export const touchObjective = question<{ id: string; now: number }>((db, p) =>
  db.updateTable('objective').set({ updated_at: p.now }).where('id', '=', p.id).where('state', '=', lit('open')),
)

export const insertKeyResult = insertInto('key_result', {
  id: true,
  objective_id: true,
  title: true,
  metric: true,
  unit: true,
  start_value: true,
  target_value: true,
  current_value: true,
  version: true,
  archived_at: true,
  created_at: true,
  updated_at: true,
})

/** Sets the values of a key result that still exists and has this version. No row changes when another change was first. */
export const setKeyResult = question<
  Pick<KeyResultRow, 'id' | 'title' | 'metric' | 'unit' | 'start_value' | 'target_value' | 'current_value' | 'version' | 'archived_at'> & {
    now: number
  }
>((db, p) =>
  db
    .updateTable('key_result')
    .set((eb) => ({
      title: p.title,
      metric: p.metric,
      unit: p.unit,
      start_value: p.start_value,
      target_value: p.target_value,
      current_value: p.current_value,
      archived_at: p.archived_at,
      version: eb('version', '+', lit(1)),
      updated_at: p.now,
    }))
    .where('id', '=', p.id)
    .where('version', '=', p.version)
    .where('archived_at', 'is', null),
)

/** No row is added when this attempt has made its change already. */
export const insertChange = question<{ [K in keyof ObjectiveChangeRow]: ObjectiveChangeRow[K] }>((db, p) =>
  db
    .insertInto('objective_change')
    .values({
      id: p.id,
      objective_id: p.objective_id,
      key_result_id: p.key_result_id,
      kind: p.kind,
      before: p.before,
      after: p.after,
      note: p.note,
      by_id: p.by_id,
      action_id: p.action_id,
      attempt_key: p.attempt_key,
      at: p.at,
    } satisfies Schema['objective_change'])
    .onConflict((conflict) => conflict.column('attempt_key').doNothing()),
)

export const changeByKey = question<{ attempt_key: string }, ObjectiveChangeRow>((db, p) =>
  db.selectFrom('objective_change').selectAll().where('attempt_key', '=', p.attempt_key),
)

/** The changes of an objective, or of one of its key results, newest first. */
export const listChanges = (page: {
  objectiveId: string
  keyResultId: string | undefined
  before: string | undefined
  limit: number
}): Tx<ObjectiveChangeRow[]> =>
  ask((db) => {
    const { objectiveId, keyResultId, before, limit } = page
    let query = db.selectFrom('objective_change').selectAll().where('objective_id', '=', objectiveId).orderBy('id', 'desc').limit(limit)
    if (keyResultId !== undefined) query = query.where('key_result_id', '=', keyResultId)
    if (before !== undefined) query = query.where('id', '<', before)
    return query
  })
