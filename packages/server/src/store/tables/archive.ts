import { hasEnded } from '@countersign/core'
import { sql } from 'kysely'
import { lit, question } from '../query.ts'
import type { ActionRow } from './action-rows.ts'
import type { Schema } from './schema.ts'
import type { ArchiveFileRow, EventRow, SessionRow } from './session-rows.ts'
import { NOT_ENDED } from './state-in.ts'

/** A session as it was read: every later change affects one of these fields. */
export type SettledSession = Pick<SessionRow, 'id' | 'last_seq' | 'archived_seq' | 'updated_at'>

/**
 * Sessions with events in the log, without open work and without changes since `before`, by id: no run, no unfinished action, no queued
 * message.
 */
export const settledSessions = question<{ after: string; before: number; limit: number }, SettledSession>((db, p) =>
  db
    .selectFrom('session')
    .select(['id', 'last_seq', 'archived_seq', 'updated_at'])
    .where('id', '>', p.after)
    .where('updated_at', '<', p.before)
    .where((eb) => eb('last_seq', '>', eb.ref('archived_seq')))
    .where(sql<boolean>`not exists (select 1 from run where run.session_id = session.id and run.state = 'open')`)
    .where(sql<boolean>`not exists (select 1 from action where action.session_id = session.id and action.state in ${NOT_ENDED})`)
    .where(sql<boolean>`not exists (select 1 from message where message.session_id = session.id and message.queued > 0)`)
    .orderBy('id')
    .limit(p.limit),
)

/** Rows of the log before `before` that belong to no session, in order: the events of outside agents' actions. */
export const rowsOfNoSession = question<{ after: number; before: number; limit: number }, EventRow>((db, p) =>
  db
    .selectFrom('event')
    .selectAll()
    .where('session_id', 'is', null)
    .where('id', '>', p.after)
    .where('created_at', '<', p.before)
    .orderBy('id')
    .limit(p.limit),
)

/** A row of the log that belongs to no session. */
export const rowAlone = question<{ id: number }, EventRow>((db, p) =>
  db.selectFrom('event').selectAll().where('session_id', 'is', null).where('id', '=', p.id),
)

/** True when an action has not changed since `before` and needs nothing more. */
export const isSettledSince = (row: ActionRow | undefined, before: number): row is ActionRow =>
  row !== undefined && row.updated_at < before && hasEnded(row.state)

/** Records that the events of a session up to `to` are archived. No row changes when the session has changed since it was read. */
export const moveSession = question<
  { id: string; to: number; now: number } & Pick<SettledSession, 'archived_seq' | 'last_seq' | 'updated_at'>
>((db, p) =>
  db
    .updateTable('session')
    .set({ archived_seq: p.to, archived_at: p.now })
    .where('id', '=', p.id)
    .where('archived_seq', '=', p.archived_seq)
    .where('last_seq', '=', p.last_seq)
    .where('updated_at', '=', p.updated_at),
)

/** Deletes rows of a session from the log: those that end after `from` and not after `to`. */
export const deleteSessionRows = question<{ session_id: string; from: number; to: number }>((db, p) =>
  db.deleteFrom('event').where('session_id', '=', p.session_id).where('last_seq', '>', p.from).where('last_seq', '<=', p.to),
)

export const deleteRow = question<{ id: number }>((db, p) => db.deleteFrom('event').where('id', '=', p.id))

/** Closes the actions of a session for good. */
export const archiveActionsOf = question<{ session_id: string; now: number }>((db, p) =>
  db
    .updateTable('action')
    .set({ archived_at: p.now, reusable_until: null })
    .where('session_id', '=', p.session_id)
    .where('archived_at', 'is', null),
)

/** Closes an action without a session for good. No row changes when the action was changed or redacted since it was read. */
export const archiveAction = question<Pick<ActionRow, 'id' | 'updated_at' | 'redacted_at'> & { now: number }>((db, p) =>
  db
    .updateTable('action')
    .set((eb) => ({ archived_at: eb.fn.coalesce('archived_at', sql<number>`${p.now}`) }))
    .where('id', '=', p.id)
    .where('updated_at', '=', p.updated_at)
    // A redaction does not count as a change: `updated_at` stays as it is.
    .where(sql<boolean>`redacted_at is not distinct from ${p.redacted_at}`),
)

export const insertFile = question<Pick<ArchiveFileRow, 'number' | 'folder' | 'name'> & { now: number }>((db, p) =>
  db.insertInto('archive_file').values({
    number: p.number,
    folder: p.folder,
    name: p.name,
    sha256: null,
    head: null,
    bytes: null,
    row_count: null,
    last_event: null,
    created_at: p.now,
  } satisfies Schema['archive_file']),
)

/** Records that a file is complete. No row changes when another run deleted it as a leftover. */
export const finishFile = question<{
  number: number
  name: string
  sha256: string
  head: string
  bytes: number
  row_count: number
  last_event: number
}>((db, p) =>
  db
    .updateTable('archive_file')
    .set({ sha256: p.sha256, head: p.head, bytes: p.bytes, row_count: p.row_count, last_event: p.last_event })
    .where('number', '=', p.number)
    .where('name', '=', p.name)
    .where('sha256', 'is', null),
)

/** Deletes the row of an unfinished file. */
export const forgetFile = question<{ number: number; name: string }>((db, p) =>
  db.deleteFrom('archive_file').where('number', '=', p.number).where('name', '=', p.name).where('sha256', 'is', null),
)

/** All files, in order. */
export const listFiles = question<Record<string, never>, ArchiveFileRow>((db) =>
  db.selectFrom('archive_file').selectAll().orderBy('number').limit(lit(1_000_000)),
)

export const countRowsOf = question<{ session_id: string; after: number }, { count: number }>((db, p) =>
  db
    .selectFrom('event')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('session_id', '=', p.session_id)
    .where('last_seq', '>', p.after),
)
