import { sql } from 'kysely'
import { lit, question } from '../query.ts'
import { type ActionUpdate, actionUpdate } from './action-update.ts'
import type { ActionRow } from './schema.ts'

/** Notes whose client holds the attempt of `epoch`. */
export const noteClaim = question<{ id: string; epoch: number; claimed_by: string }>((db, p) =>
  db.updateTable('action').set({ claimed_by: p.claimed_by }).where('id', '=', p.id).where('epoch', '=', p.epoch),
)

interface Attempted {
  epoch: number
  [name: string]: string | number | null
}

/** Gives the attempt to another process, under a new epoch: what the one before it still answers is stale. Nothing changed: it is not that attempt any more. */
export const takeOverAction = actionUpdate(['epoch', 'runner'], (update, p: Attempted) =>
  update.where('state', '=', lit('executing')).where('epoch', '=', p.epoch),
)

interface Checked extends Attempted {
  /** When the check is due, or until when this process has it: a check is one process's at a time. */
  due_at: number
}

const isUnknown = (update: ActionUpdate, p: Attempted) => update.where('state', '=', lit('outcome_unknown')).where('epoch', '=', p.epoch)
const hasCheck = (update: ActionUpdate, p: Checked) => isUnknown(update, p).where('due_at', '=', p.due_at)

/**
 * Takes the check that is due for this process: until its new `due_at` no other makes it. Nothing changed: it is not due by the database's
 * clock, another process has it, or the outcome is known.
 */
export const takeCheck = actionUpdate(['due_at'], (update, p: Checked & { now: number }, dialect) =>
  hasCheck(update, p).where('due_at', '<=', dialect.nowMs(p.now)),
)

/** Plans the next check. Nothing changed: another process has the present one by now, or the outcome is known. */
export const planCheck = actionUpdate(['due_at'], hasCheck)

/** Ends the checks, as {@link planCheck} plans another. */
export const endChecks = actionUpdate(['due_at', 'checks'], hasCheck)

/** Notes a look-up that settled nothing. Nothing changed: somebody else noted one, or the outcome is known. */
export const noteLook = actionUpdate(['checks'], (update, p: Attempted & { checks: string }) =>
  isUnknown(update, p).where('checks', '=', p.checks),
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
