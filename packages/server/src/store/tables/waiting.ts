import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { lit, question, type Tx } from '../query.ts'
import type { ActionRow } from './action-rows.ts'

// One for each limit: bound as a value, the limit would make SQLite prepare the statement again at every use (20 of 23 µs).
const countsUpTo = new LRUCache<number, ReturnType<typeof countUpTo>>({ max: 100 })

const countUpTo = (limit: number) =>
  question<{ requested_by: string }, { waiting: number }>(
    (db, p) => ({
      compile: () =>
        sql<{ waiting: number }>`select count(*) as waiting from (
      select 1 as one from action where requested_by = ${p.requested_by} and state = 'proposed' limit ${lit(limit)}
    ) as found`.compile(db),
    }),
    { countUpTo: { table: 'action', column: 'waiting', limit } },
  )

/**
 * Counts the actions of a requester that wait for people, up to `limit`: `limit` when there are so many; otherwise a number below it, and at
 * least as many as there are.
 */
export function* countWaitingOf(requestedBy: string, limit: number): Tx<number> {
  const count = countsUpTo.get(limit) ?? countUpTo(limit)
  countsUpTo.set(limit, count)
  return Number((yield* count.first({ requested_by: requestedBy }))?.waiting)
}

/** The waiting action that a call without a session repeats: the same call of the same requester, neither of them with a key. */
export const sameAsk = question<Pick<ActionRow, 'requested_by' | 'tool' | 'definition_hash' | 'arguments'> & { agent: string }, ActionRow>(
  (db, p) =>
    db
      .selectFrom('action')
      .selectAll()
      .where('requested_by', '=', p.requested_by)
      .where('state', '=', lit('proposed'))
      .where('session_id', 'is', null)
      .where('unkeyed', '=', 1)
      // An action that a person changed is a different call.
      .where('edited_by', 'is', null)
      .where('tool', '=', p.tool)
      .where('definition_hash', '=', p.definition_hash)
      .where('arguments', '=', p.arguments)
      .where(sql<boolean>`coalesce(agent, '') = ${p.agent}`)
      .orderBy('id', 'desc')
      .limit(lit(1)),
)

/** Counts a repeat. No row changes when people have decided. */
export const countAsk = question<{ id: string; now: number }>((db, p) =>
  db
    .updateTable('action')
    .set({ times_asked: sql<number>`times_asked + 1`, updated_at: p.now })
    .where('id', '=', p.id)
    .where('state', '=', lit('proposed')),
)

/** Requesters with at least `limit` actions waiting, those with the most first. */
export const fullRequesters = question<{ limit: number }, { id: string; name: string; waiting: number }>((db, p) => ({
  compile: () =>
    sql<{ id: string; name: string; waiting: number }>`select principal.id, principal.name, full_of.waiting from (
      select requested_by, count(*) as waiting from action where state = 'proposed'
      group by requested_by having count(*) >= ${p.limit} order by 2 desc limit ${lit(20)}
    ) as full_of join principal on principal.id = full_of.requested_by order by full_of.waiting desc, principal.id`.compile(db),
}))

/** Sessions with at least `limit` actions waiting. */
export const fullSessions = question<{ limit: number }, { id: string; name: string; waiting: number }>((db, p) => ({
  compile: () =>
    sql<{ id: string; name: string; waiting: number }>`select session.id, session.title as name, full_of.waiting from (
      select session_id, count(*) as waiting from action where state = 'proposed' and session_id is not null
      group by session_id having count(*) >= ${p.limit} order by 2 desc limit ${lit(20)}
    ) as full_of join session on session.id = full_of.session_id order by full_of.waiting desc, session.id`.compile(db),
}))
