import { sql } from 'kysely'
import { lit, question } from '../query.ts'
import type { ActionRow } from './action-rows.ts'

/**
 * The newest read of a session with this digest whose result may be reused. One that may be reused after `latest` was kept by a clock that
 * was ahead.
 */
export const findReusable = question<{ session_id: string; digest: string; requested_by: string; now: number; latest: number }, ActionRow>(
  (db, p) =>
    db
      .selectFrom('action')
      .selectAll()
      .where('session_id', '=', p.session_id)
      .where('digest', '=', p.digest)
      .where('reusable_until', 'is not', null)
      .where('reusable_until', '>', p.now)
      .where('reusable_until', '<=', p.latest)
      .where('requested_by', '=', p.requested_by)
      .where('state', '=', lit('succeeded'))
      .orderBy('id', 'desc')
      .limit(lit(1)),
)

/** Prevents the reuse of all results that were read at a destination. */
export const endReuse = question<{ session_id: string; destination: string }>(
  (db, p) =>
    db
      .updateTable('action')
      .set({ reusable_until: null })
      .where('session_id', '=', p.session_id)
      .where('reusable_until', 'is not', null)
      .where('destination', '=', p.destination),
  { isNoted: true },
)

/** Allows the reuse of a read's result until then. */
export const beginReuse = question<{ id: string; until: number }>(
  (db, p) => db.updateTable('action').set({ reusable_until: p.until }).where('id', '=', p.id).where('state', '=', lit('succeeded')),
  { isNoted: true },
)

/** A write of the session that changed a destination after `since`, or may be about to. */
export const findWriteSince = question<{ session_id: string; destination: string; since: number }, { id: string }>((db, p) =>
  db
    .selectFrom('action')
    .select('id')
    .where('session_id', '=', p.session_id)
    .where('effect', '=', lit('write'))
    .where('destination', '=', p.destination)
    .where('attempt', '>', lit(0))
    .where(sql<boolean>`(state = 'executing' or updated_at >= ${p.since})`)
    .limit(lit(1)),
)
