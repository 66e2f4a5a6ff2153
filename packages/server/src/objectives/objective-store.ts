import type { Objective } from '@countersign/core'
import type { ObjectiveStore } from '@countersign/toolkit/internal'
import type { Clock } from '../clock.ts'
import { mapInTurn, objectives, type Store, type Tx } from '../store/index.ts'
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
        const rows = yield* objectives.listObjectives({ owner, period, state, before: undefined, limit })
        return yield* mapInTurn(rows, (row) => viewObjective(row, clock.nowMs()))
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
        return yield* mapInTurn(yield* objectives.listChanges(page), (change) => viewChange(change, () => false))
      }),
    findWritten: (key) =>
      store.read(function* () {
        const row = yield* objectives.changeByKey.first({ attempt_key: key })
        return row && { objectiveId: row.objective_id, keyResultId: row.key_result_id }
      }),
    write: (write) => store.transact(() => writeObjective(write, clock.nowMs())),
  }
}
