import { audit, lockKey, type Store, type Tx } from '../store/index.ts'
import { compareHeads, isAcceptedSince, type RecordProblem } from './compare.ts'
import { createTally, type Head, type HeadGap, isSameHead, makeHead, refOf } from './head.ts'
import type { AuditKey } from './key.ts'
import type { HeadMemory } from './memory.ts'

/** A head is signed at most this often. */
export const SEAL_EVERY_MS = 1_000
/** Rows under one head. Reading this many blocks an embedded database for 40 ms. */
const MAX_ROWS = 20_000

/** The result of an attempt to sign a head. `gap` is what the next head has to state. */
export type Sealed =
  /** There are no new rows. */
  | { kind: 'nothing'; last: Head | undefined; gap: HeadGap | undefined }
  /** The next row is not final: a row may still be written before it. Or the last head is too young, or nothing may be signed any more. */
  | { kind: 'later'; last: Head | undefined; gap: HeadGap | undefined }
  | { kind: 'sealed'; last: Head; isFull: boolean; leavesRows: boolean }
  /** The database does not hold the remembered record: nothing is signed. */
  | { kind: 'problem'; problem: RecordProblem }

export interface SealDeps {
  store: Store
  key: AuditKey
  memory: Pick<HeadMemory, 'head'>
  /** The gap that a person accepted: the next head states it. */
  gap?: HeadGap | undefined
  /** False signs even when the last head is younger than a second. Default true. */
  isPaced?: boolean
  /** True once nothing may be signed any more: asked behind the lock, just before a head is signed. Default: never. */
  isStopped?: () => boolean
}

/** Signs one head over the new rows, unless the database does not hold the remembered record. */
export async function sealOnce(deps: SealDeps, nowMs: number): Promise<Sealed> {
  // A first check without the lock: usually there is nothing to seal.
  const found = await deps.store.read(() => look(deps))
  return found.kind === 'sealable' ? deps.store.transact(() => sealSome(deps, nowMs)) : found
}

function* look(deps: SealDeps): Tx<Sealed | { kind: 'sealable' }> {
  const { last, problem, gap } = yield* findPlace(deps)
  if (problem) return { kind: 'problem', problem }
  const first = yield* audit.rowsToSeal.first({ after: last?.last_id ?? 0, limit: 1 })
  if (!first) return { kind: 'nothing', last, gap }
  return first.is_final ? { kind: 'sealable' } : { kind: 'later', last, gap }
}

/** Returns the head that the next one follows and the gap that it has to state, or why none may follow. */
function* findPlace({ key, memory, gap }: SealDeps) {
  const { last, problem } = yield* compareHeads(memory.head, key.publicKey)
  const found = refOf(last)
  const isAsAccepted = gap !== undefined && isSameHead(found, gap.found)
  // The acceptance covers only the state at that time.
  if (problem && !isAsAccepted) return { last, problem, gap: undefined }
  if (!gap || isAsAccepted) return { last, problem: undefined, gap }
  // Another process has signed since: one that accepted the same, or one that did not know of the problem.
  const isStated = yield* isAcceptedSince(gap.found, key.publicKey, gap.kind)
  return { last, problem: undefined, gap: isStated ? undefined : { ...gap, found } }
}

function* sealSome(deps: SealDeps, nowMs: number): Tx<Sealed> {
  yield* lockKey('audit_head')
  const { last, problem, gap } = yield* findPlace(deps)
  if (problem) return { kind: 'problem', problem }
  // Of several processes, the first one signs for all.
  const sinceLastMs = last ? nowMs - last.at : SEAL_EVERY_MS
  const isPaced = deps.isPaced ?? true
  if (isPaced && !gap && sinceLastMs >= 0 && sinceLastMs < SEAL_EVERY_MS) return { kind: 'later', last, gap }
  const rows = yield* audit.rowsToSeal.all({ after: last?.last_id ?? 0, limit: MAX_ROWS })
  const firstOpen = rows.findIndex(({ is_final }) => !is_final)
  const tally = createTally()
  for (const row of firstOpen < 0 ? rows : rows.slice(0, firstOpen)) tally.add(row)
  // A row may count as final in one question and not in the next, where a transaction of another database has just ended.
  if (tally.rowCount === 0) return { kind: rows.length > 0 ? 'later' : 'nothing', last, gap }
  // Reported since the heads were read: this head would cover the row that tells of it.
  if (deps.isStopped?.()) return { kind: 'later', last, gap }
  const isFull = tally.rowCount === MAX_ROWS
  const head = makeHead(tally, { before: last, gap }, deps.key, nowMs)
  yield* audit.insertHead.run({ ...head })
  return { kind: 'sealed', last: head, isFull, leavesRows: isFull || tally.rowCount < rows.length }
}

/** Seals every row that can be sealed. Returns false when rows are left before which another row may still be written. */
export async function sealAll(store: Store, key: AuditKey, nowMs: () => number): Promise<boolean> {
  for (;;) {
    const sealed = await sealOnce({ store, key, memory: { head: undefined }, isPaced: false }, nowMs())
    if (sealed.kind === 'problem') throw new Error(sealed.problem.why)
    if (sealed.kind !== 'sealed') return sealed.kind === 'nothing'
  }
}
