import { CountersignError } from '@countersign/core'
import type { DatabaseError } from 'pg'
import { pg } from './driver.ts'

/** How to react to a failed attempt at a transaction. */
export type Failure =
  /** Other transactions conflicted: a retry finds them committed. */
  | 'again'
  /** The connection, or the server behind it, is gone or takes no writes. */
  | 'lost'
  | 'final'

const AGAIN = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '23505', // unique_violation: two did the same for the first time; the second run finds what the first one wrote
])

const LOST = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '25P03', // idle_in_transaction_session_timeout: this process stood still
  '25006', // read_only_sql_transaction: this was the primary and is a standby now, or has a full disk
  '53300', // too_many_connections
])

/** A prepared statement was older than a concurrent migration: a new connection prepares it again. */
const isOutdatedPlan = (error: unknown) =>
  error instanceof pg().DatabaseError && error.code === '0A000' && error.message.includes('cached plan')

const sqlStateOf = (error: unknown): string | undefined => (error instanceof pg().DatabaseError ? error.code : undefined)

/** The database never began the requested transaction. */
export const isOfTheFuture = (error: unknown): boolean => sqlStateOf(error) === '22023'

/** A write that was expected to change a row changed none: division_by_zero, see `WriteBatch`. */
export const isNotAsExpected = (error: unknown): boolean => sqlStateOf(error) === '22012'

/** Classifies the error of a query or a connection. Errors that `work` itself threw are final. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ConnectionLost) return 'lost'
  const state = sqlStateOf(error)
  if (state === undefined) return 'final'
  if (AGAIN.has(state)) return 'again'
  return LOST.has(state) || state.startsWith('08') || isOutdatedPlan(error) ? 'lost' : 'final'
}

/** The connection broke: it could not be opened, or ended before the answer arrived. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super(`the connection to the database broke: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

/** Returns the error for a caller after all retries. */
export function asStoreError(error: unknown): unknown {
  const state = sqlStateOf(error)
  if (state === '53100') return new CountersignError('storage_full', 'the disk is full: nothing was changed', {}, { cause: error })
  if (state === '25006') {
    return new CountersignError('storage_full', 'the database takes no writes at the moment: nothing was changed', {}, { cause: error })
  }
  // 57014: the statement took too long; 55P03: another transaction held a lock for too long.
  if (failureOf(error) === 'lost' || state === '57014' || state === '55P03') {
    return new CountersignError('not_ready', 'the database does not answer: nothing was changed, try again', {}, { cause: error })
  }
  return error
}

/** Returns why a database can no longer be trusted, when an error indicates that. */
export function postgresDamage(error: unknown): string | undefined {
  const state = sqlStateOf(error)
  // data_corrupted, index_corrupted
  if (state !== 'XX001' && state !== 'XX002') return undefined
  return `the database is damaged (${(error as DatabaseError).message})`
}

export const WHAT_TO_DO_ABOUT_DAMAGE = 'stop the servers, check the disk of the database, and go back to a standby or a backup'
