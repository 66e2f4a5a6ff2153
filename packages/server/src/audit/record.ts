import { canonicalJson, type JsonObject } from '@countersign/core'
import { audit, lock, newSalt, type Outbox, type Tx } from '../store/index.ts'
import { type AuditEntry, CHAIN_START, type ChainEnd, dataHashOf, rowHashOf, SYSTEM } from './row.ts'

/**
 * Records a change of rights (keys, sign-ins, policies, grants) in the transaction that makes it. Call it first: it takes the lock of its
 * scope, as `lock` does. Events of an action are recorded by `emitUpdate` and related functions.
 * @example
 * yield* recordAudit(outbox, { kind: 'key_made', actor: principal.id, data: { keyId, for: made.id, roles: made.roles } }, nowMs)
 */
export function* recordAudit(outbox: Outbox, entry: AuditEntry, nowMs: number): Tx<void> {
  yield* lock(SYSTEM)
  yield* appendToScope(outbox, SYSTEM, entry, nowMs)
}

/** Appends to a scope whose lock this transaction holds. */
export function* appendToScope(outbox: Outbox, scope: string, entry: AuditEntry, nowMs: number): Tx<void> {
  yield* append(outbox, { scope, ...((yield* audit.lastOfScope.first({ scope })) ?? CHAIN_START) }, entry, nowMs)
}

/** Appends after the end of a scope, for callers that know it. Returns the new end. */
export function* append(outbox: Outbox, end: ChainEnd & { scope: string }, entry: AuditEntry, nowMs: number): Tx<ChainEnd> {
  const data = textOf(entry.data)
  const salt = newSalt()
  const row = {
    scope: end.scope,
    seq: end.seq + 1,
    prev: end.hash,
    follows: end.place,
    at: nowMs,
    kind: entry.kind,
    actor: entry.actor,
    action_id: entry.actionId ?? null,
    data_hash: dataHashOf(salt, data),
  }
  const hash = rowHashOf(row)
  const place = yield* audit.insertRow({ ...row, data, salt, hash })
  outbox.isAudited = true
  outbox.mark = { place, hash }
  return { seq: row.seq, hash, place }
}

function textOf(data: JsonObject): string {
  try {
    return canonicalJson(data)
  } catch {
    // A tool's text may have been cut in the middle of a character. Such a text must not prevent the action from being settled.
    const wellFormed = (_: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)
    return canonicalJson(JSON.parse(JSON.stringify(data), wellFormed))
  }
}
