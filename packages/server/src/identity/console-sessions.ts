import { randomBytes } from 'node:crypto'
import type { ConsoleSessionView, Principal } from '@countersign/core'
import type { Logger } from 'pino'
import { recordAudit } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import {
  changeRights,
  consoleSessions,
  keepRights,
  newId,
  principals,
  pushSubscriptions,
  type Store,
  type Tx,
  tellAccess,
} from '../store/index.ts'
import { NOTED_EVERY_MS } from './directory.ts'
import { hashOf } from './keys.ts'
import { requireEnabled, takeProvided } from './people.ts'
import type { Standing } from './standing.ts'

/** A signed-in console gets a new secret this often. */
export const ROTATED_EVERY_MS = 3_600_000
/** Requests in flight when the new secret was first sent back still carry the previous one. */
const EARLIER_GOOD_MS = 60_000

export type SignedInHow = 'local' | 'key' | 'oidc'

/** A person at a console, during one request. */
export interface ConsoleSession {
  id: string
  principal: Principal
  how: SignedInHow
  /** Hashes of the newest secret, and of the one that the request carries: the same, or the one before. */
  newest: string
  held: string
  rotatedAt: number
}

export interface BeginSession {
  principal: Principal
  how: SignedInHow
  /** Hash of the key that was used to sign in: the session ends with it. */
  keyHash?: string
  /** From the sign-in service. */
  idToken?: string | undefined
  /** The secret that the same browser had before: that session ends. */
  replaces?: string | undefined
}

/** Manages the sessions of signed-in consoles. The rows are the truth: a session that one process ends has ended in every process. */
export interface ConsoleSessions {
  /** Signs a person in; returns the secret for the cookie. */
  begin(session: BeginSession): Promise<string>
  /** Returns the session of a secret while it is valid. The answer that brings a new one may be lost: the one before is good until a minute after the new one was first sent back. */
  read(secret: string): Promise<ConsoleSession | undefined>
  /** Returns the current standing of a session's person. Reading it does not count as activity. */
  standing(id: string): Promise<Standing | undefined>
  /** The same within a transaction. @param now The time of the transaction, epoch ms. */
  standingIn(id: string, now: number): Tx<Standing | undefined>
  /** Returns a new secret when it is time for one, and it can be stored. Throws nothing: the request that it is renewed with has ended. */
  renew(session: ConsoleSession): Promise<string | undefined>
  /** Ends a session, or all of its principal's; returns what the sign-in service needs for its own sign-out. */
  end(session: ConsoleSession, everywhere: boolean): Promise<{ idToken: string | undefined }>
  /**
   * Returns a page of a person's open sessions, newest first. A session that is no longer valid appears only as the position of a cursor.
   */
  list(principalId: string, page: { before: string | undefined; limit: number }): Promise<ListedSession[]>
  /** Counts a person's sessions that are valid. @param now The time of the transaction, epoch ms. */
  countIn(principalId: string, now: number): Tx<number>
  /** Ends a session of this person. Returns false when they have no such open session. */
  endOne(principalId: string, id: string): Promise<boolean>
  /** Ends all sessions of this person but one. */
  endOthers(principalId: string, kept: string | undefined): Promise<void>
}

type ListedSession = Omit<ConsoleSessionView, 'isCurrent'> & { isGood: boolean }

export interface ConsoleSessionOptions {
  store: Store
  clock: Clock
  log: Logger
  /** A session ends after this long without a request, and after `maxMs` in any case. */
  limits: { idleMs: number; maxMs: number }
  /** Returns true while this way of signing in is allowed here. */
  accepts(how: SignedInHow): boolean
  /** Returns the principal of a key while the key is valid, and counts this as a use of it. */
  byKeyHash(hash: string): Promise<Principal | undefined>
  /** The same with the expiry of the key, without counting as a use. */
  keyStanding(hash: string, now: number): Tx<Standing | undefined>
}

const ofSession = ({ principal, kind, name, roles, person_id }: consoleSessions.OpenConsoleSession) => ({
  id: principal,
  kind,
  name,
  roles,
  person_id,
})

/** Nobody has as many sessions. */
const MOST_COUNTED = 10_000
/** Sorts after every id. */
const LAST_ID = '~'
const SECRET = /^[\w-]{43}$/

export function createConsoleSessions({
  store,
  clock,
  log,
  limits,
  accepts,
  byKeyHash,
  keyStanding,
}: ConsoleSessionOptions): ConsoleSessions {
  const find = (secret: string) => store.read(() => consoleSessions.findConsoleSession.first({ hash: hashOf(secret) }))

  function noteSeen(id: string, seenAt: number, now: number): void {
    if (now - seenAt < NOTED_EVERY_MS) return
    const noted = store.transact(() => consoleSessions.touchConsoleSession.run({ id, before: now - NOTED_EVERY_MS, now }))
    noted.catch((error: unknown) => log.warn({ error, session: id }, 'identity.last_used_write_failed'))
  }

  function noteUsed(id: string, hash: string, now: number): void {
    const noted = store.transact(() => consoleSessions.noteSecretUsed.run({ id, hash, now }))
    noted.catch((error: unknown) => log.warn({ error, session: id }, 'identity.secret_used_write_failed'))
  }

  /** Returns when a session expires without further activity. */
  const endOf = ({ seen_at, began_at }: consoleSessions.OpenConsoleSession): number =>
    Math.min(seen_at + limits.idleMs, began_at + limits.maxMs) + 1

  function* standingIn(id: string, now: number): Tx<Standing | undefined> {
    const found = yield* consoleSessions.readConsoleSession.first({ id })
    const endsAt = found && endOf(found)
    if (!found || endsAt === undefined || now >= endsAt || !accepts(found.how)) return undefined
    if (found.key_hash === null) return { principal: principals.readPrincipal(ofSession(found)), endsAt }
    const key = yield* keyStanding(found.key_hash, now)
    return key && { ...key, endsAt: Math.min(endsAt, key.endsAt ?? endsAt) }
  }

  function* listIn(principalId: string, page: { before: string; limit: number }, now: number): Tx<ListedSession[]> {
    const place = { seenAfter: now - limits.idleMs, beganAfter: now - limits.maxMs, ...page }
    const listed: ListedSession[] = []
    for (const row of yield* consoleSessions.listConsoleSessions.all({ principal_id: principalId, ...place })) {
      const { id, how, key_hash, created_at, seen_at } = row
      // Looking at a session is no use of its key.
      const key = key_hash === null ? undefined : yield* keyStanding(key_hash, now)
      const endsAt = Math.min(seen_at + limits.idleMs, created_at + limits.maxMs, key?.endsAt ?? Number.POSITIVE_INFINITY)
      listed.push({
        id,
        how,
        createdAt: new Date(created_at).toISOString(),
        seenAt: new Date(seen_at).toISOString(),
        endsAt: new Date(endsAt).toISOString(),
        isGood: accepts(how) && (key_hash === null || key !== undefined),
      })
    }
    return listed
  }

  return {
    async begin({ principal, how, keyHash = null, idToken = null, replaces }) {
      const now = clock.nowMs()
      const secret = randomBytes(32).toString('base64url')
      const id = newId('con', now)
      const earlier = replaces !== undefined && SECRET.test(replaces) ? await find(replaces) : undefined
      await store.transact(function* (outbox) {
        // A person who is disabled at this moment must not have a sign-in that comes back to life when they are enabled.
        yield* how === 'oidc' ? changeRights() : keepRights()
        yield* requireEnabled(principal.id)
        yield* recordAudit(outbox, { kind: 'signed_in', actor: principal.id, data: { session: id, how } }, now)
        if (how === 'oidc') yield* takeProvided(outbox, principal, now)
        if (earlier) {
          yield* consoleSessions.endConsoleSession.run({ id: earlier.id, now })
          yield* pushSubscriptions.deleteOfSession.run({ console_session_id: earlier.id })
          tellAccess(outbox, earlier.principal)
        }
        const hash = hashOf(secret)
        yield* consoleSessions.insertConsoleSession.run({
          id,
          principal_id: principal.id,
          hash,
          how,
          key_hash: keyHash,
          id_token: idToken,
          now,
        })
      })
      return secret
    },

    async read(secret) {
      if (!SECRET.test(secret)) return undefined
      const found = await find(secret)
      if (!found) return undefined
      const now = clock.nowMs()
      const held = hashOf(secret)
      const isOver = held !== found.hash && found.used_at !== null && now - found.used_at > EARLIER_GOOD_MS
      if (now >= endOf(found) || isOver || !accepts(found.how)) return undefined
      // A session has the same limits as its key.
      const principal = found.key_hash === null ? principals.readPrincipal(ofSession(found)) : await byKeyHash(found.key_hash)
      if (!principal) return undefined
      noteSeen(found.id, found.seen_at, now)
      if (held === found.hash && found.used_at === null) noteUsed(found.id, held, now)
      return { id: found.id, how: found.how, newest: found.hash, held, rotatedAt: found.rotated_at, principal }
    },

    standing: (id) => store.read(() => standingIn(id, clock.nowMs())),
    standingIn,

    async renew({ id, newest, held, rotatedAt }) {
      const now = clock.nowMs()
      if (now - rotatedAt < ROTATED_EVERY_MS) return undefined
      const secret = randomBytes(32).toString('base64url')
      const stored = store.transact(() => consoleSessions.rotateConsoleSession.change({ id, newest, held, to: hashOf(secret), now }))
      // The answer says what the route did, and that may be committed: an error here would deny it.
      const changed = await stored.catch((error: unknown) => log.warn({ error, session: id }, 'identity.renew_failed'))
      return changed === 1 ? secret : undefined
    },

    async end({ id, principal }, everywhere) {
      const now = clock.nowMs()
      return store.transact(function* (outbox) {
        yield* changeRights()
        yield* recordAudit(outbox, { kind: 'signed_out', actor: principal.id, data: { session: id, everywhere } }, now)
        const row = yield* consoleSessions.idTokenOf.first({ id })
        if (everywhere) {
          yield* consoleSessions.endConsoleSessions.run({ principal_id: principal.id, now })
          yield* pushSubscriptions.deleteOthers.run({ principal_id: principal.id, kept: '' })
        } else {
          yield* consoleSessions.endConsoleSession.run({ id, now })
          yield* pushSubscriptions.deleteOfSession.run({ console_session_id: id })
        }
        tellAccess(outbox, principal.id)
        return { idToken: row?.id_token ?? undefined }
      })
    },

    list: (principalId, { before = LAST_ID, limit }) => store.read(() => listIn(principalId, { before, limit }, clock.nowMs())),

    *countIn(principalId, now) {
      return (yield* listIn(principalId, { before: LAST_ID, limit: MOST_COUNTED }, now)).filter(({ isGood }) => isGood).length
    },

    async endOne(principalId, id) {
      const now = clock.nowMs()
      return store.transact(function* (outbox) {
        yield* changeRights()
        const ended = yield* consoleSessions.endOwnConsoleSession.change({ id, principal_id: principalId, now })
        if (ended === 0) return false
        yield* pushSubscriptions.deleteOfSession.run({ console_session_id: id })
        yield* recordAudit(outbox, { kind: 'signed_out', actor: principalId, data: { session: id, everywhere: false } }, now)
        tellAccess(outbox, principalId)
        return true
      })
    },

    async endOthers(principalId, kept = '') {
      const now = clock.nowMs()
      await store.transact(function* (outbox) {
        yield* changeRights()
        yield* recordAudit(outbox, { kind: 'signed_out', actor: principalId, data: { everywhere: true, kept: kept || null } }, now)
        yield* consoleSessions.endOtherConsoleSessions.run({ principal_id: principalId, kept, now })
        yield* pushSubscriptions.deleteOthers.run({ principal_id: principalId, kept })
        tellAccess(outbox, principalId)
      })
    },
  }
}
