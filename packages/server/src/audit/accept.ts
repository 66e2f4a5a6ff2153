import { CountersignError } from '@countersign/core'
import { audit, lock, lockKey, type Outbox, type Tx } from '../store/index.ts'
import { newestGenuine, otherKeysAfter, type RecordProblem, whyOtherKeys } from './compare.ts'
import { type HeadGap, refOf } from './head.ts'
import { appendToScope } from './record.ts'
import { SYSTEM } from './row.ts'

/** How many system rows are searched for an earlier row about the same problem. */
const LOOKED_THROUGH = 1_000

/** Records that the record differs from the remembered one. Only once: not by each process, and not again after a restart. */
export function* recordProblem(outbox: Outbox, { kind, why, found, remembered }: RecordProblem, nowMs: number): Tx<void> {
  yield* lock(SYSTEM)
  for (const row of yield* audit.newestOfScope.all({ scope: SYSTEM, limit: LOOKED_THROUGH })) {
    if (row.kind === 'record_accepted') break
    if (row.kind === 'record_problem' && JSON.parse(row.data ?? '{}').why === why) return
  }
  const data = { kind, why, found: { ...found }, remembered: { ...remembered } }
  yield* appendToScope(outbox, SYSTEM, { kind: 'record_problem', actor: SYSTEM, data }, nowMs)
}

/** Records that no head was remembered, or an outdated one: this server does not detect changes made before `from`. */
export function* recordLostMemory(outbox: Outbox, data: { why: string; remembered: number; from: number }, nowMs: number): Tx<void> {
  yield* lock(SYSTEM)
  yield* appendToScope(outbox, SYSTEM, { kind: 'record_memory_lost', actor: SYSTEM, data }, nowMs)
}

/** The person or command that accepts the state of the database. */
export interface Accepter {
  /** Id of the person; `system` for the command line. */
  id: string
  /** Throws, within the transaction, if the person's right has ended. Absent for the command line. */
  requireStanding?(nowMs: number): Tx<void>
}

export interface Acceptance {
  problem: RecordProblem
  by: Accepter
  reason: string
  /** Keys whose heads are genuine; this server's first. */
  keys: readonly string[]
}

/**
 * Records that a person accepted the record in its current state. Heads in the database that were not signed by this installation are
 * deleted: nothing can follow them. Returns the gap that the next head states.
 * @throws CountersignError `not_ready` where these heads are as somebody signed them: signatures of a key that is only not set now could
 * not be made again.
 */
export function* acceptRecord(outbox: Outbox, { problem, by, reason, keys }: Acceptance, nowMs: number): Tx<HeadGap> {
  yield* lockKey('audit_head')
  if (by.requireStanding) yield* by.requireStanding(nowMs)
  yield* lock(SYSTEM)
  const found = refOf(yield* newestGenuine(keys))
  const otherKeys = yield* otherKeysAfter(found, keys)
  if (otherKeys.length > 0) {
    const otherwise = 'If that was never a key of this server, delete these heads from the table audit_head first.'
    throw new CountersignError('not_ready', `${whyOtherKeys(otherKeys, keys[0] ?? '')} ${otherwise}`)
  }
  const { kind, remembered, why } = problem
  const foreignHeads = yield* audit.deleteHeadsAfter.change({ number: found.number })
  const data = { reason, kind, why, foreignHeads, found: { ...found }, remembered: { ...remembered } }
  yield* appendToScope(outbox, SYSTEM, { kind: 'record_accepted', actor: by.id, data }, nowMs)
  return { kind, found, remembered, by: by.id, reason }
}
