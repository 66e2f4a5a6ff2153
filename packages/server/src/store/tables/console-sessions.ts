import type { Kysely } from 'kysely'
import { question } from '../query.ts'
import type { ConsoleSessionRow, PrincipalRow } from './principal-rows.ts'
import type { Schema } from './schema.ts'

type NewSession = Pick<ConsoleSessionRow, 'id' | 'principal_id' | 'hash' | 'how' | 'key_hash' | 'id_token'>

export const insertConsoleSession = question<NewSession & { now: number }>((db, p) =>
  db.insertInto('console_session').values({
    id: p.id,
    principal_id: p.principal_id,
    hash: p.hash,
    earlier_hash: null,
    how: p.how as ConsoleSessionRow['how'],
    key_hash: p.key_hash,
    id_token: p.id_token,
    created_at: p.now,
    seen_at: p.now,
    rotated_at: p.now,
    used_at: p.now,
    ended_at: null,
  } satisfies Schema['console_session']),
)

export type OpenConsoleSession = Pick<ConsoleSessionRow, 'id' | 'hash' | 'how' | 'key_hash' | 'seen_at' | 'rotated_at' | 'used_at'> &
  Pick<PrincipalRow, 'kind' | 'name' | 'roles' | 'person_id'> & { began_at: number; principal: string }

const openSession = (db: Kysely<Schema>) =>
  db
    .selectFrom('console_session as s')
    .innerJoin('principal', 'principal.id', 's.principal_id')
    .select(['s.id', 's.hash', 's.how', 's.key_hash', 's.created_at as began_at', 's.seen_at', 's.rotated_at', 's.used_at'])
    .select(['principal.id as principal', 'principal.kind', 'principal.name', 'principal.roles', 'principal.person_id'])
    .where('s.ended_at', 'is', null)
    .where('principal.disabled_at', 'is', null)

/**
 * The session whose cookie holds a secret, or held it before the last change, with its principal; undefined once it has ended, or the
 * principal is disabled.
 */
export const findConsoleSession = question<{ hash: string }, OpenConsoleSession>((db, p) =>
  openSession(db).where((eb) => eb.or([eb('s.hash', '=', p.hash), eb('s.earlier_hash', '=', p.hash)])),
)

/** The same session by its id. */
export const readConsoleSession = question<{ id: string }, OpenConsoleSession>((db, p) => openSession(db).where('s.id', '=', p.id))

export const idTokenOf = question<{ id: string }, { id_token: string | null }>((db, p) =>
  db.selectFrom('console_session').select('id_token').where('id', '=', p.id),
)

/** Records activity. No row changes when activity was recorded since `before`. */
export const touchConsoleSession = question<{ id: string; before: number; now: number }>((db, p) =>
  db.updateTable('console_session').set({ seen_at: p.now }).where('id', '=', p.id).where('seen_at', '<=', p.before),
)

/** Records that the newest secret was sent back, which ends the one before. No row changes when that was recorded, or there is a newer one. */
export const noteSecretUsed = question<{ id: string; hash: string; now: number }>((db, p) =>
  db.updateTable('console_session').set({ used_at: p.now }).where('id', '=', p.id).where('hash', '=', p.hash).where('used_at', 'is', null),
)

/**
 * Gives a session a new secret beside the one that its browser sent, `held`. No row changes when another request did, when `from` was
 * sent back after all, or when the session has ended.
 * @param newest The newest secret as it was when the request began.
 */
export const rotateConsoleSession = question<{ id: string; newest: string; held: string; to: string; now: number }>((db, p) =>
  db
    .updateTable('console_session')
    .set({ hash: p.to, earlier_hash: p.held, rotated_at: p.now, used_at: null })
    .where('id', '=', p.id)
    .where('hash', '=', p.newest)
    .where((eb) => eb.or([eb('hash', '=', p.held), eb('used_at', 'is', null)]))
    .where('ended_at', 'is', null),
)

export const endConsoleSession = question<{ id: string; now: number }>((db, p) =>
  db.updateTable('console_session').set({ ended_at: p.now, id_token: null }).where('id', '=', p.id).where('ended_at', 'is', null),
)

export type ListedConsoleSession = Pick<ConsoleSessionRow, 'id' | 'how' | 'key_hash' | 'created_at' | 'seen_at'>

/** The open sessions of a principal that were active after `seenAfter` and began after `beganAfter`, newest first. */
export const listConsoleSessions = question<
  { principal_id: string; seenAfter: number; beganAfter: number; before: string; limit: number },
  ListedConsoleSession
>((db, p) =>
  db
    .selectFrom('console_session')
    .select(['id', 'how', 'key_hash', 'created_at', 'seen_at'])
    .where('principal_id', '=', p.principal_id)
    .where('ended_at', 'is', null)
    .where('seen_at', '>=', p.seenAfter)
    .where('created_at', '>=', p.beganAfter)
    .where('id', '<', p.before)
    .orderBy('id', 'desc')
    .limit(p.limit),
)

/** Ends one session of a principal. No row changes when it is not theirs, or has ended. */
export const endOwnConsoleSession = question<{ id: string; principal_id: string; now: number }>((db, p) =>
  db
    .updateTable('console_session')
    .set({ ended_at: p.now, id_token: null })
    .where('id', '=', p.id)
    .where('principal_id', '=', p.principal_id)
    .where('ended_at', 'is', null),
)

/** Ends every session of a principal but `kept`. */
export const endOtherConsoleSessions = question<{ principal_id: string; kept: string; now: number }>((db, p) =>
  db
    .updateTable('console_session')
    .set({ ended_at: p.now, id_token: null })
    .where('principal_id', '=', p.principal_id)
    .where('id', '!=', p.kept)
    .where('ended_at', 'is', null),
)

/** Ends every session of a principal. */
export const endConsoleSessions = question<{ principal_id: string; now: number }>((db, p) =>
  db
    .updateTable('console_session')
    .set({ ended_at: p.now, id_token: null })
    .where('principal_id', '=', p.principal_id)
    .where('ended_at', 'is', null),
)

/** Consumes an answer of the sign-in service. No row changes when any process used it before. */
export const useSignIn = question<{ state_hash: string; now: number }>((db, p) =>
  db
    .insertInto('used_sign_in')
    .values({ state_hash: p.state_hash, used_at: p.now } satisfies Schema['used_sign_in'])
    .onConflict((conflict) => conflict.doNothing()),
)

/** Deletes used answers that have expired anyway. */
export const forgetSignIns = question<{ before: number }>((db, p) => db.deleteFrom('used_sign_in').where('used_at', '<', p.before))
