import type { Objective, ObjectiveChange } from '@countersign/core'
import type { ObjectiveStore } from '@countersign/toolkit/internal'
import type { Clock } from '../clock.ts'
import { objectives, type Store, type Tx } from '../store/index.ts'
import { viewChange, viewObjective } from './view.ts'
import { writeObjective } from './write.ts'

/** Stores the objectives of the tools in the database. */
export function openObjectiveStore(store: Store, clock: Clock): ObjectiveStore {
  function* findObjective(id: string): Tx<Objective | undefined> {
    const row = yield* objectives.findObjective.first({ id })
    return row && (yield* viewObjective(row, clock.nowMs()))
  }
  return {
    list: ({ owner, period, state, limit }) =>
      store.read(function* () {
        const found: Objective[] = []
        for (const row of yield* objectives.listObjectives({ owner, period, state, before: undefined, limit })) {
          found.push(yield* viewObjective(row, clock.nowMs()))
        }
        return found
      }),
    find: (id) => store.read(() => findObjective(id)),
    findByKeyResult: (keyResultId) =>
      store.read(function* () {
        const row = yield* objectives.findKeyResult.first({ id: keyResultId })
        return row && row.archived_at === null ? yield* findObjective(row.objective_id) : undefined
      }),
    keyResultHistory: (keyResultId, limit) =>
      store.read(function* () {
        const row = yield* objectives.findKeyResult.first({ id: keyResultId })
        if (!row) return undefined
        const page = { objectiveId: row.objective_id, keyResultId, before: undefined, limit }
        const history: ObjectiveChange[] = []
        for (const change of yield* objectives.listChanges(page)) history.push(yield* viewChange(change, () => false))
        return history
      }),
    findWritten: (key) =>
      store.read(function* () {
        const row = yield* objectives.changeByKey.first({ attempt_key: key })
        return row && { objectiveId: row.objective_id, keyResultId: row.key_result_id }
      }),
    write: (write) => store.transact(() => writeObjective(write, clock.nowMs())),
  }
}
