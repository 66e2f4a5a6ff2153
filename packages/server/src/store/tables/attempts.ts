import { sql } from 'kysely'
import { lit, question } from '../query.ts'
import type { ActionRow } from './action-rows.ts'
import { type ActionUpdate, actionUpdate } from './action-update.ts'

/** Records which client holds the attempt of `epoch`. */
export const noteClaim = question<{ id: string; epoch: number; claimed_by: string }>((db, p) =>
  db.updateTable('action').set({ claimed_by: p.claimed_by }).where('id', '=', p.id).where('epoch', '=', p.epoch),
)

interface Attempted {
  epoch: number
  [name: string]: string | number | null
}

/**
 * Gives the attempt to another process, under a new epoch: a later answer of the previous process is stale. No row changes when the attempt
 * is a newer one.
 */
export const takeOverAction = actionUpdate(['epoch', 'runner'], (update, p: Attempted) =>
  update.where('state', '=', lit('executing')).where('epoch', '=', p.epoch),
)

interface Checked extends Attempted {
  /** When the check is due, or until when this process holds it: only one process at a time makes a check. */
  due_at: number
}

const isUnknown = (update: ActionUpdate, p: Attempted) => update.where('state', '=', lit('outcome_unknown')).where('epoch', '=', p.epoch)
const hasCheck = (update: ActionUpdate, p: Checked) => isUnknown(update, p).where('due_at', '=', p.due_at)

/**
 * Claims the due check for this process, until its new `due_at`. No row changes when it is not due by the database's clock, another process
 * holds it, or the outcome is known.
 */
export const takeCheck = actionUpdate(['due_at'], (update, p: Checked & { now: number }, dialect) =>
  hasCheck(update, p).where('due_at', '<=', dialect.nowMs(p.now)),
)

/** Schedules the next check. No row changes when another process holds the current one by now, or the outcome is known. */
export const planCheck = actionUpdate(['due_at'], hasCheck)

/** Ends the checks, under the same conditions as {@link planCheck}. */
export const endChecks = actionUpdate(['due_at', 'checks'], hasCheck)

/** Records a look-up that settled nothing. No row changes when another one was recorded meanwhile, or the outcome is known. */
export const noteLook = actionUpdate(['checks'], (update, p: Attempted & { checks: string }) =>
  isUnknown(update, p).where('checks', '=', p.checks),
)

interface Page {
  after: string
  limit: number
  [name: string]: string | number
}

/** Actions that a process of this server executes, by id: those of `runner`, or with null those of all but `except`. */
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

/** The actions that `runner` is executing, by id. */
export const executingOf = executingBy('runner')
/** The actions that other processes than `runner` are executing, by id. */
export const executingOfOthers = executingBy('others')

/** The actions that are approved, have no grace period left and are not started, by id. */
export const approvedAfter = question<Page, { id: string }>((db, p) =>
  db
    .selectFrom('action')
    .select('id')
    .where(sql<boolean>`state in ('approved', 'executing') and state = 'approved'`)
    .where('executor', '=', lit('server'))
    .where('due_at', 'is', null)
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(p.limit),
)
