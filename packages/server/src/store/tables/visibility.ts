import { type RawBuilder, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { ask, type Tx } from '../query.ts'

/** A reader who does not see everything. */
export interface Reader {
  /** Id of the principal. */
  id: string
  /** The person, whose agents' requests count as theirs; null for an agent or a service. */
  personId: string | null
  /** The reader sees actions that need one of these roles. */
  roles: readonly string[]
}

type Condition = RawBuilder<boolean>

/** True when the id in `column` is the reader's own, or that of one of their agents. */
const isOwn = ({ id, personId }: Reader, column: string): Condition =>
  personId === null
    ? sql`${sql.ref(column)} = ${id}`
    : sql`${sql.ref(column)} in (select own.id from principal as own where own.person_id = ${personId})`

/** True when the action in `table` needs a role of the reader's. */
const isRouted = ({ roles }: Reader, table: string, dialect: Dialect): Condition =>
  roles.length === 0
    ? sql`1 = 0`
    : sql`(${sql.ref(`${table}.policy`)} like '%"verdict":"ask"%' and ${dialect.listHasAny(sql.ref(`${table}.requires`), 'roles', roles)})`

const hasVoted = (reader: Reader, table: string): Condition =>
  sql`exists (select 1 from vote where vote.action_id = ${sql.ref(`${table}.id`)} and ${isOwn(reader, 'vote.principal_id')})`

/** True when the reader requested the action, or it needs a role of theirs. */
const isAboutThem = (reader: Reader, table: string, dialect: Dialect): Condition =>
  sql`(${isOwn(reader, `${table}.requested_by`)} or ${isRouted(reader, table, dialect)})`

/** True when the reader was invited to the session in `table`. */
const isInvited = ({ id }: Reader, table: string): Condition =>
  sql`exists (select 1 from session_participant as invited where invited.session_id = ${sql.ref(`${table}.id`)} and invited.principal_id = ${id})`

/**
 * True when the reader sees the session in `table`: it is theirs, they were invited, or an action in it is theirs or needs a role of theirs. A
 * conversation is visible as a whole, with all that is said later: a vote in somebody's place, or by a role that was taken away, does not show
 * it.
 */
export const sessionIsVisible = (reader: Reader, table: string, dialect: Dialect): Condition =>
  sql`(${isOwn(reader, `${table}.owner_id`)} or ${isInvited(reader, table)} or exists (select 1 from action as one where one.session_id = ${sql.ref(`${table}.id`)} and ${isAboutThem(reader, 'one', dialect)}))`

/** True when the reader sees the action in `table`: it is about them, they voted on it, or they see its session, which is not deleted. */
export const actionIsVisible = (reader: Reader, table: string, dialect: Dialect): Condition =>
  sql`(${isAboutThem(reader, table, dialect)} or ${hasVoted(reader, table)} or exists (select 1 from session as around where around.id = ${sql.ref(`${table}.session_id`)} and (around.deleted_at is null or ${isOwn(reader, 'around.owner_id')}) and ${sessionIsVisible(reader, 'around', dialect)}))`

export function* seesActionOf(reader: Reader, actionId: string): Tx<boolean> {
  return (yield* visibleAmong(reader, [actionId])).has(actionId)
}

/** Returns the ids of the given actions that the reader sees. */
export function* visibleAmong(reader: Reader, actionIds: readonly string[]): Tx<Set<string>> {
  if (actionIds.length === 0) return new Set()
  const rows = yield* ask((db, dialect) =>
    db
      .selectFrom('action')
      .select('id')
      .where('id', 'in', actionIds)
      .where(actionIsVisible(reader, 'action', dialect)),
  )
  return new Set(rows.map(({ id }) => id))
}

export function* seesSessionOf(reader: Reader, sessionId: string): Tx<boolean> {
  const rows = yield* ask((db, dialect) =>
    db
      .selectFrom('session')
      .select('id')
      .where('id', '=', sessionId)
      .where(sessionIsVisible(reader, 'session', dialect))
      .limit(1),
  )
  return rows.length > 0
}
