import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { Refusal, toProblem } from '../problem.ts'
import { transaction } from './database.ts'

/** An HTTP answer as it was first given: `body` is JSON text, so that a repeat gets the same bytes. */
export interface Answer {
  status: number
  body: string
  replayed: boolean
}

export interface WriteRequest {
  /** The caller's `Idempotency-Key`, or null: then a repeat is a second effect. */
  idempotencyKey: string | null
  method: string
  path: string
  body: unknown
  atMs: number
}

/**
 * Carries out a write once per idempotency key. The effect, the key and the answer are one transaction: after a crash either all of
 * them are there or none, so a repeat is always safe. A refusal (404, 409, 422) is an answer too and is kept like one.
 * @throws Refusal 422 when the key was used for another request.
 */
export function answerOnce(db: DatabaseSync, request: WriteRequest, work: () => { status: number; body: unknown }): Answer {
  const { idempotencyKey: key, atMs } = request
  const hash = hashRequest(request)
  return transaction(db, () => {
    const first = key === null ? undefined : readFirstAnswer(db, key)
    if (first && first.hash !== hash) {
      throw new Refusal(422, 'This Idempotency-Key was already used for a different request. Nothing was changed.')
    }
    if (first) return { status: first.status, body: first.body, replayed: true }

    const answer = attempt(db, work)
    if (key !== null) {
      db.prepare('INSERT INTO first_answer (idempotency_key, request_hash, status, body, at) VALUES (?, ?, ?, ?, ?)').run(
        key,
        hash,
        answer.status,
        answer.body,
        atMs,
      )
    }
    return { ...answer, replayed: false }
  })
}

/** A refusal half way (the second item is out of stock) takes back what was done before it, and only that. */
function attempt(db: DatabaseSync, work: () => { status: number; body: unknown }): { status: number; body: string } {
  db.exec('SAVEPOINT work')
  try {
    const { status, body } = work()
    db.exec('RELEASE work')
    return { status, body: JSON.stringify(body) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    db.exec('ROLLBACK TO work; RELEASE work')
    return { status: error.status, body: JSON.stringify(toProblem(error.status, error.message, error.extra)) }
  }
}

function readFirstAnswer(db: DatabaseSync, key: string): { hash: string; status: number; body: string } | undefined {
  const row = db.prepare('SELECT request_hash, status, body FROM first_answer WHERE idempotency_key = ?').get(key)
  return row && { hash: String(row.request_hash), status: Number(row.status), body: String(row.body) }
}

function hashRequest({ method, path, body }: WriteRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([method, path, sortKeys(body)]))
    .digest('hex')
}

/** The same object written with its keys in another order is the same request. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  )
}
