import { sql } from 'kysely'
import { lit, question } from '../query.ts'
import { isInTime } from './actions.ts'
import { currentEpoch, mayStart } from './instance.ts'
import type { ActionRow } from './schema.ts'

/** Begins an attempt at an action that is still as it was read: `revision` and `epoch` are those of the read. */
export interface Begin {
  id: string
  revision: number
  epoch: number
  idempotency_key: string
  /** Null for a client's attempt: its hold ends at `due_at`. */
  runner: string | null
  due_at: number | null
  target_version: string | null
  now: number
  [name: string]: string | number | null
}

const beginFrom = (from: 'approved' | 'failed' | 'outcome_unknown') =>
  question<Begin>((db, p, dialect) =>
    db
      .updateTable('action')
      .set((eb) => ({
        state: 'executing',
        attempt: eb('attempt', '+', 1),
        epoch: eb('epoch', '+', 1),
        idempotency_key: p.idempotency_key,
        // What is sent again by itself goes on with its series.
        ...(from !== 'outcome_unknown' && { first_send: eb('attempt', '+', 1) }),
        checks: null,
        runner: p.runner,
        due_at: p.due_at,
        target_version: p.target_version,
        error: null,
        resolution: null,
        instance_epoch: currentEpoch,
        updated_at: p.now,
      }))
      .where('id', '=', p.id)
      .where('state', '=', lit(from))
      .where('revision', '=', p.revision)
      .where('epoch', '=', p.epoch)
      .where('archived_at', 'is', null)
      .where(mayStart(dialect))
      // What waited for a client for too long is as over as what waited for people.
      .$if(from === 'approved', (query) => query.where((eb) => eb.or([eb('executor', '=', lit('server')), isInTime(dialect, p.now)]))),
  )

/** Writes the intent to execute: one more attempt under a new epoch. Nothing changed: the action is no longer as it was read, so this caller must not run it, or everything is held. */
export const startAction = beginFrom('approved')
/** The intent to execute a failed action again. */
export const retryAction = beginFrom('failed')
/** The intent to send an attempt of unknown outcome again, under the same key. */
export const resendAction = beginFrom('outcome_unknown')

/** Notes whose client holds the attempt of `epoch`. */
export const noteClaim = question<{ id: string; epoch: number; claimed_by: string }>((db, p) =>
  db.updateTable('action').set({ claimed_by: p.claimed_by }).where('id', '=', p.id).where('epoch', '=', p.epoch),
)

/** Gives the attempt of `epoch` to another process, under a new epoch: what the one before it still answers is stale. Nothing changed: it is not that attempt any more. */
export const takeOverAction = question<{ id: string; epoch: number; runner: string }>((db, p) =>
  db
    .updateTable('action')
    .set((eb) => ({ epoch: eb('epoch', '+', 1), runner: p.runner }))
    .where('id', '=', p.id)
    .where('state', '=', lit('executing'))
    .where('epoch', '=', p.epoch),
)

/**
 * Ends the attempt of `epoch`. Nothing changed: a later attempt owns the action, this answer is stale.
 * `due_at` is when an unknown outcome is checked first; null where nothing can check it.
 */
export const settleAction = question<{
  id: string
  epoch: number
  to: string
  result: string | null
  result_url: string | null
  error: string | null
  in_doubt: number
  checks: string | null
  due_at: number | null
  told: number
  now: number
}>((db, p) =>
  db
    .updateTable('action')
    .set({
      state: p.to as ActionRow['state'],
      result: p.result,
      result_url: p.result_url,
      error: p.error,
      in_doubt: p.in_doubt,
      checks: p.checks,
      told: p.told,
      runner: null,
      due_at: p.due_at,
      updated_at: p.now,
    })
    .where('id', '=', p.id)
    .where('state', '=', lit('executing'))
    .where('epoch', '=', p.epoch),
)

/** Ends what was of unknown outcome, with what was found out about the attempt of `epoch`. Nothing changed: somebody else was first. */
export const resolveAction = question<{
  id: string
  epoch: number
  to: string
  result: string | null
  result_url: string | null
  error: string | null
  resolution: string | null
  now: number
}>((db, p) =>
  db
    .updateTable('action')
    .set({
      state: p.to as ActionRow['state'],
      result: p.result,
      result_url: p.result_url,
      error: p.error,
      resolution: p.resolution,
      checks: null,
      due_at: null,
      told: 1,
      updated_at: p.now,
    })
    .where('id', '=', p.id)
    .where('state', '=', lit('outcome_unknown'))
    .where('epoch', '=', p.epoch),
)

/**
 * Takes the check that is due for this process: until `until` no other makes it. Nothing changed: it is not due by the database's clock,
 * another process has it, or the outcome is known.
 */
export const takeCheck = question<{ id: string; epoch: number; due_at: number; until: number; now: number }>((db, p, dialect) =>
  db
    .updateTable('action')
    .set({ due_at: p.until })
    .where('id', '=', p.id)
    .where('state', '=', lit('outcome_unknown'))
    .where('epoch', '=', p.epoch)
    .where('due_at', '=', p.due_at)
    .where('due_at', '<=', dialect.nowMs(p.now)),
)

/**
 * Plans the next check. `was` is the time until which this process has the present one. Nothing changed: another process has it by now, or
 * the outcome is known.
 */
export const planCheck = question<{ id: string; epoch: number; was: number; due_at: number }>((db, p) =>
  db
    .updateTable('action')
    .set({ due_at: p.due_at })
    .where('id', '=', p.id)
    .where('state', '=', lit('outcome_unknown'))
    .where('epoch', '=', p.epoch)
    .where('due_at', '=', p.was),
)

/** Ends the checks, as {@link planCheck} plans another. */
export const endChecks = question<{ id: string; epoch: number; was: number; checks: string }>((db, p) =>
  db
    .updateTable('action')
    .set({ due_at: null, checks: p.checks })
    .where('id', '=', p.id)
    .where('state', '=', lit('outcome_unknown'))
    .where('epoch', '=', p.epoch)
    .where('due_at', '=', p.was),
)

/** Notes a look-up that settled nothing. `was` is what stood there. Nothing changed: somebody else noted one, or the outcome is known. */
export const noteLook = question<{ id: string; epoch: number; was: string; checks: string }>((db, p) =>
  db
    .updateTable('action')
    .set({ checks: p.checks })
    .where('id', '=', p.id)
    .where('state', '=', lit('outcome_unknown'))
    .where('epoch', '=', p.epoch)
    .where('checks', '=', p.was),
)

interface Page {
  after: string
  limit: number
  [name: string]: string | number
}

/** Actions that a process of this server carries out, by id: those of whom `runner` says so, or with null those of all but `except`. */
const executingBy = (which: 'runner' | 'others') =>
  question<Page & { runner: string }, ActionRow>((db, p) =>
    db
      .selectFrom('action')
      .selectAll()
      // Literals, so that the partial index of exactly these states is used.
      .where(sql<boolean>`state in ('approved', 'executing') and state = 'executing'`)
      .where('executor', '=', lit('server'))
      .where(which === 'runner' ? sql<boolean>`runner = ${p.runner}` : sql<boolean>`(runner is null or runner <> ${p.runner})`)
      .where('id', '>', p.after)
      .orderBy('id')
      .limit(p.limit),
  )

/** What `runner` is carrying out, by id. */
export const executingOf = executingBy('runner')
/** What anybody but `runner` is carrying out, by id. */
export const executingOfOthers = executingBy('others')

/** What is approved and not started, by id. */
export const approvedAfter = question<Page, { id: string }>((db, p) =>
  db
    .selectFrom('action')
    .select('id')
    .where(sql<boolean>`state in ('approved', 'executing') and state = 'approved'`)
    .where('executor', '=', lit('server'))
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(p.limit),
)
