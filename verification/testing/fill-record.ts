import { type AuditKey, recordAudit } from '../../packages/server/src/audit/index.ts'
import { writeSession } from '../../packages/server/src/gate/index.ts'
import { newId, principals, type Store, sessions } from '../../packages/server/src/store/index.ts'
import { sealToTheEnd } from './seal-to-the-end.ts'

export interface RecordSize {
  sessions: number
  /** In each session. */
  rows: number
  /** Heads that all of it comes under. */
  heads: number
}

/** Fills the record of a store as the gate does: rows of sessions, a few of the system among them, sealed now and then. */
export async function fillRecord(store: Store, key: AuditKey, size: RecordSize): Promise<void> {
  const actor = 'prn_filler'
  await store.transact(() => principals.savePrincipal({ id: actor, kind: 'person', name: 'Filler', roles: ['admin'] }, 1))
  const perHead = Math.max(Math.ceil(size.sessions / size.heads), 1)
  for (let first = 0; first < size.sessions; first += perHead) {
    const together = Array.from({ length: Math.min(perHead, size.sessions - first) }, (_, i) =>
      fillSession(store, actor, first + i, size.rows),
    )
    await Promise.all(together)
    await sealToTheEnd(store, key, () => timeOf(first))
  }
}

const timeOf = (n: number): number => Date.UTC(2026, 0, 1) + n * 1_000

function fillSession(store: Store, actor: string, n: number, rows: number): Promise<void> {
  const nowMs = timeOf(n)
  const id = newId('ses', nowMs)
  return store.transact(function* (outbox) {
    if (n % 50 === 0) yield* recordAudit(outbox, { kind: 'signed_in', actor, data: { how: 'key', n } }, nowMs)
    yield* sessions.insertSession.run({ id, agent: 'desk', title: '', owner_id: actor, now: nowMs })
    const writer = yield* writeSession(outbox, id, nowMs)
    for (let row = 0; row < rows; row++) {
      const data = { state: 'proposed', revision: 1, arguments: { order: `ORD-${n}`, cents: n * row, note: 'Größe „M“ 👕' } }
      yield* writer.audit({ kind: 'proposed', actor, actionId: `act_${n}_${row}`, data })
    }
    yield* writer.save()
  })
}
