import { CountersignError } from '@countersign/core'
import { lockKey, question, type Tx } from './query.ts'
import type { Schema } from './tables/schema.ts'

/** One use of an `Idempotency-Key`: its scope (caller and route), the key, and a hash of the request. */
export interface IdempotencyKey {
  scope: string
  key: string
  requestHash: string
  /** How long the answer is kept: a day (default), or until 30 days after its action is settled. */
  keptFor?: 'day' | 'action'
}

const findOnce = question<{ scope: string; key: string }, { request_hash: string; answer: string }>((db, p) =>
  db.selectFrom('once').select(['request_hash', 'answer']).where('scope', '=', p.scope).where('key', '=', p.key),
)

const insertOnce = question<{ scope: string; key: string; request_hash: string; answer: string; kept_for: string; now: number }>((db, p) =>
  db.insertInto('once').values({
    scope: p.scope,
    key: p.key,
    request_hash: p.request_hash,
    answer: p.answer,
    kept_for: p.kept_for as 'day' | 'action',
    created_at: p.now,
  } satisfies Schema['once']),
)

/**
 * Returns the answer stored under a key, or undefined without one.
 * @throws CountersignError `idempotency_mismatch` when the key was used for another request.
 */
export function* findAnswer<T>({ scope, key, requestHash }: IdempotencyKey): Tx<T | undefined> {
  const earlier = yield* findOnce.first({ scope, key })
  if (!earlier) return undefined
  if (earlier.request_hash !== requestHash) {
    throw new CountersignError('idempotency_mismatch', 'this Idempotency-Key was used for a request with another body; use a new key')
  }
  return JSON.parse(earlier.answer) as T
}

/** Returns the answer stored under a key, whatever its request was. It says what that request was about, and is no answer to another one. */
export function* answerToAny<T>({ scope, key }: Pick<IdempotencyKey, 'scope' | 'key'>): Tx<T | undefined> {
  const earlier = yield* findOnce.first({ scope, key })
  return earlier && (JSON.parse(earlier.answer) as T)
}

/**
 * Runs `work` once per key: a repeat returns the first answer. Key and answer are written in the transaction of `work`, so a crash leaves
 * either both or neither.
 * @throws CountersignError `idempotency_mismatch` when the key was used for another request.
 */
export function* idempotently<T>(once: IdempotencyKey | undefined, nowMs: number, work: () => Tx<T>): Tx<T> {
  if (!once) return yield* work()
  yield* lockUse(once)
  const earlier = yield* findAnswer<T>(once)
  if (earlier !== undefined) return earlier
  const answer = yield* work()
  yield* insertAnswer(once, nowMs, answer)
  return answer
}

/** Stores the answer of work that needs no transaction of its own. @returns The answer that was stored first. */
export function* keepAnswer<T>(once: IdempotencyKey, nowMs: number, answer: T): Tx<T> {
  yield* lockUse(once)
  const earlier = yield* findAnswer<T>(once)
  if (earlier === undefined) yield* insertAnswer(once, nowMs, answer)
  return earlier ?? answer
}

/** Makes concurrent requests with the same key wait for the answer of the first. */
const lockUse = ({ scope, key }: IdempotencyKey): Tx<void> => lockKey(`${scope} ${key}`)

const insertAnswer = ({ scope, key, requestHash, keptFor = 'day' }: IdempotencyKey, nowMs: number, answer: unknown): Tx<void> =>
  insertOnce.run({ scope, key, request_hash: requestHash, answer: JSON.stringify(answer ?? null), kept_for: keptFor, now: nowMs })
