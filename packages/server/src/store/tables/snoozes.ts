import { type RawBuilder, sql } from 'kysely'
import { question } from '../query.ts'

/** An action that a person left out of their own inbox. */
export interface SnoozeRow {
  principal_id: string
  action_id: string
  /** Epoch ms. From then on the row means nothing. */
  until: number
  created_at: number
}

type Key = Pick<SnoozeRow, 'principal_id' | 'action_id'>

/** Snoozes an action for one person. A repeat sets the time anew. */
export const saveSnooze = question<{ [K in keyof SnoozeRow]: SnoozeRow[K] }>((db, p) =>
  db
    .insertInto('snooze')
    .values({ principal_id: p.principal_id, action_id: p.action_id, until: p.until, created_at: p.created_at })
    .onConflict((conflict) => conflict.columns(['principal_id', 'action_id']).doUpdateSet({ until: p.until, created_at: p.created_at })),
)

export const findSnooze = question<Key & { now: number }, SnoozeRow>((db, p) =>
  db
    .selectFrom('snooze')
    .selectAll()
    .where('principal_id', '=', p.principal_id)
    .where('action_id', '=', p.action_id)
    .where('until', '>', p.now),
)

/** A person's snoozed actions after `before`, the newest action first. */
export const listSnoozes = question<{ principal_id: string; before: string; now: number; limit: number }, SnoozeRow>((db, p) =>
  db
    .selectFrom('snooze')
    .selectAll()
    .where('principal_id', '=', p.principal_id)
    .where('action_id', '<', p.before)
    .where('until', '>', p.now)
    .orderBy('action_id', 'desc')
    .limit(p.limit),
)

/** Ends a person's snooze of an action. */
export const endSnooze = question<Key>((db, p) =>
  db.deleteFrom('snooze').where('principal_id', '=', p.principal_id).where('action_id', '=', p.action_id),
)

/** Ends everybody's snooze of an action: it is not what they snoozed any more. */
export const wakeAll = question<{ action_id: string }>((db, p) => db.deleteFrom('snooze').where('action_id', '=', p.action_id))

/** The same for everybody but one person. */
export const wakeOthers = question<{ action_id: string; but: string }>((db, p) =>
  db.deleteFrom('snooze').where('action_id', '=', p.action_id).where('principal_id', '!=', p.but),
)

/** True when the person snoozed the action of the row. One look into the primary key for each row. */
export const isSnoozed = ({ by, now }: { by: string; now: number }): RawBuilder<boolean> =>
  sql`exists (select 1 from snooze where snooze.principal_id = ${by} and snooze.action_id = action.id and snooze.until > ${now})`
