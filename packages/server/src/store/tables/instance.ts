import { sql } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { ask, lit, question, type Tx } from '../query.ts'
import type { ActionRow } from './action-rows.ts'
import { actionUpdate } from './action-update.ts'
import type { InstanceRow } from './schema.ts'
import { NOT_ENDED } from './state-in.ts'

/** The installation that the database belongs to. */
export function* readInstance(): Tx<InstanceRow> {
  const [row] = yield* ask((db) => db.selectFrom('instance').selectAll())
  if (!row) throw new Error('the database does not say which installation it belongs to: its table "instance" is empty')
  return row
}

/** Binds the database to the installation that opens it. No row changes when another process did so first. */
export const bindInstance = question<Pick<InstanceRow, 'id' | 'system' | 'timeline' | 'token'> & { now: number }>((db, p) =>
  db
    .updateTable('instance')
    .set({ bound_at: p.now, system: p.system, timeline: p.timeline, token: p.token })
    .where('id', '=', p.id)
    .where('held_at', 'is', null),
)

/** Holds everything from now on. No row changes when it was held before. */
export const holdInstance = question<{ why: string; now: number }>((db, p) =>
  db
    .updateTable('instance')
    .set((eb) => ({ held_at: p.now, held_why: p.why, bound_at: eb.fn.coalesce('bound_at', eb.val(p.now)) }))
    .where('held_at', 'is', null),
)

/** Adopts the hold that a restore has left. No row changes when another process did so first, or it is not such a hold. */
export const takeUpHold = question<{ now: number }>((db, p) =>
  db.updateTable('instance').set({ bound_at: p.now }).where('held_at', 'is not', null).where('bound_at', 'is', null),
)

/** Begins a new epoch, in which nothing is held. No row changes when another caller did so first. */
export const beginEpoch = question<
  Pick<InstanceRow, 'id' | 'system' | 'timeline' | 'token'> & { epoch: number; held_at: number; now: number }
>((db, p) =>
  db
    .updateTable('instance')
    .set((eb) => ({
      id: p.id,
      epoch: eb('epoch', '+', 1),
      bound_at: p.now,
      system: p.system,
      timeline: p.timeline,
      token: p.token,
      held_at: null,
      held_why: null,
    }))
    .where('epoch', '=', p.epoch)
    .where('held_at', '=', p.held_at),
)

/** Vouches that a promoted database holds the earlier commits. */
export const vouchForTimeline = question<{ id: string; timeline: string }>((db, p) =>
  db.updateTable('instance').set({ timeline: p.timeline }).where('id', '=', p.id).where('held_at', 'is', null),
)

/** The location of a Postgres database: cluster, database and timeline, each null where the service does not report it. */
export function* readPlace(): Tx<Pick<InstanceRow, 'system' | 'timeline'>> {
  const place = sql<Pick<InstanceRow, 'system' | 'timeline'>>`select countersign_system() as system, countersign_timeline() as timeline`
  const [row] = yield* ask((db) => ({ compile: () => place.compile(db) }))
  return row ?? { system: null, timeline: null }
}

/** The row on Postgres, together with the database's current timeline; null where the service does not report it. */
export function* readNow(): Tx<InstanceRow & { current_timeline: string | null }> {
  const now = sql<InstanceRow & { current_timeline: string | null }>`select *, countersign_timeline() as current_timeline from instance`
  const [row] = yield* ask((db) => ({ compile: () => now.compile(db) }))
  if (!row) throw new Error('the database does not say which installation it belongs to: its table "instance" is empty')
  return row
}

/** A row of the record that is known to be committed. */
export interface Mark {
  place: number
  hash: string
}

/** The newest row of the record. */
export const newestMark = question<Record<string, never>, Mark>((db) =>
  db.selectFrom('audit').select(['id as place', 'hash']).orderBy('id', 'desc').limit(lit(1)),
)

/** The row of the record at a place. */
export const markAt = question<{ place: number }, Mark>((db, p) =>
  db.selectFrom('audit').select(['id as place', 'hash']).where('id', '=', p.place),
)

/** True for an action that may start: nothing is held, or a person released this action, and the database is where it was vouched for. */
export const mayStart = (dialect: Dialect) =>
  sql<boolean>`not exists (select 1 from instance
    where instance.held_at > coalesce(action.released_at, 0) or ${dialect.wasPromoted})`

/** The epoch that an attempt starts in. */
export const currentEpoch = sql<number>`(select instance.epoch from instance)`

/** Releases an approved action while everything else is held. No row changes when it is no longer approved. */
export const releaseAction = actionUpdate(['released_at', 'updated_at'], (update) => update.where('state', '=', lit('approved')))

/** Attempts that were executing when everything was held, by id: later attempts belong to this server. */
export const attemptsBefore = question<{ held_at: number; after: string; limit: number }, ActionRow>((db, p) =>
  db
    .selectFrom('action')
    .selectAll()
    // Literals, so that the partial index of exactly these states is used.
    .where(sql<boolean>`state in ('approved', 'executing') and state = 'executing'`)
    .where(sql<boolean>`coalesce(released_at, 0) < ${p.held_at}`)
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(p.limit),
)

interface Open {
  state: 'proposed' | 'approved' | 'executing' | 'outcome_unknown'
  count: number
}

/** Returns open actions that run or would run: approved ones first, then executing ones. */
export const firstToRun = question<{ limit: number }, Pick<ActionRow, 'state' | 'tool' | 'description'>>((db, p) =>
  db
    .selectFrom('action')
    .select(['state', 'tool', 'description'])
    // Literals, so that the partial index of exactly these states is used.
    .where(sql<boolean>`state in ('approved', 'executing')`)
    .where('archived_at', 'is', null)
    .orderBy('state')
    .orderBy('id')
    .limit(p.limit),
)

/** Counts the open actions, by state. */
export const countOpen = (): Tx<Open[]> =>
  ask((db) =>
    db
      .selectFrom('action')
      .select((eb) => ['state', eb.fn.countAll<number>().as('count')])
      .where(sql<boolean>`state in ${NOT_ENDED}`)
      .where('archived_at', 'is', null)
      .groupBy('state')
      .orderBy('state'),
  ) as Tx<Open[]>
