import { archive, type Store } from '../store/index.ts'
import { collectAlone, emptyBatch } from './collect.ts'

const SESSIONS_PER_READ = 100

/** The amount that a run would archive. */
export interface Estimate {
  sessions: number
  /** Rows of the log. */
  rows: number
}

/** @param onFound Called with what was found so far. */
export async function estimate(store: Store, before: number, onFound?: (found: Estimate) => void): Promise<Estimate> {
  const found: Estimate = { sessions: 0, rows: 0 }
  for (let after = ''; ; ) {
    const page = await store.read(() => archive.settledSessions.all({ after, before, limit: SESSIONS_PER_READ }))
    for (const { id, archived_seq } of page) {
      const counted = await store.read(() => archive.countRowsOf.first({ session_id: id, after: archived_seq }))
      found.sessions++
      found.rows += Number(counted?.count ?? 0)
      onFound?.(found)
    }
    const last = page.at(-1)
    if (!last) break
    after = last.id
  }
  const progress = { rowsAfter: 0 }
  for (;;) {
    const batch = emptyBatch()
    for await (const _ of collectAlone(store, before, batch, progress)) found.rows++
    if (batch.alone.length === 0) return found
  }
}
