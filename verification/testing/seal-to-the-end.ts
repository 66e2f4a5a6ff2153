import type { AuditKey } from '../../packages/server/src/audit/index.ts'
import { sealAll } from '../../packages/server/src/audit/seal.ts'
import { audit, type Store } from '../../packages/server/src/store/index.ts'

/**
 * Seals every row, under one head. On Postgres, a transaction of another test's database that has just ended may hold rows back for a moment.
 * @returns True.
 */
export async function sealToTheEnd(store: Store, key: AuditKey, nowMs: () => number): Promise<true> {
  for (;;) {
    const rows = await store.read(function* () {
      const last = yield* audit.lastHead.first({})
      return yield* audit.rowsToSeal.all({ after: last?.last_id ?? 0, limit: 20_000 })
    })
    if (rows.every(({ is_final }) => is_final) && (await sealAll(store, key, nowMs))) return true
    await new Promise(setImmediate)
  }
}
