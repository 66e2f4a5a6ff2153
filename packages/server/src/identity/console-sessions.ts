import { randomBytes } from 'node:crypto'
import type { ConsoleSessionView, Principal } from '@countersign/core'
import type { Logger } from 'pino'
import { recordAudit } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { consoleSessions, newId, principals, type Store, tellAccess } from '../store/index.ts'
import { NOTED_EVERY_MS } from './directory.ts'
import { hashOf } from './keys.ts'
import { requireEnabled, takeProvided } from './people.ts'
import type { Standing } from './standing.ts'

/** Whoever signed in gets another secret this often. */
export const ROTATED_EVERY_MS = 3_600_000
/** Requests that were under way when the secret changed still carry the one before. */
const EARLIER_GOOD_MS = 60_000

export type SignedInHow = 'local' | 'key' | 'oidc'

/** Somebody at a console, for as long as the request that asked. */
export interface ConsoleSession {
  id: string
  principal: Principal
  how: SignedInHow
  /** Of the secret that is good from now on. */
  hash: string
  rotatedAt: number
}

export interface BeginSession {
  principal: Principal
  how: SignedInHow
  /** Of the key that was signed in with: the session ends with it. */
  keyHash?: string
  /** Of the sign-in service. */
  idToken?: string | undefined
  /** The secret that the same browser had before: that session is over. */
  replaces?: string | undefined
}

/** Who is signed in at a console. The rows are the truth: what ends in one process has ended in all of them. */
export interface ConsoleSessions {
  /** Signs somebody in; answers the secret for the cookie. */
  begin(session: BeginSession): Promise<string>
  /** The session of a secret, while it is good. */
  read(secret: string): Promise<ConsoleSession | undefined>
  /** How somebody who came in with a session stands by now. Asking is no sign of life of theirs. */
  standing(id: string): Promise<Standing | undefined>
  /** A new secret when it is time for one. */
  renew(session: ConsoleSession): Promise<string | undefined>
  /** Ends a session, or all of its principal's; answers what the sign-in service wants back. */
  end(session: ConsoleSession, everywhere: boolean): Promise<{ idToken: string | undefined }>
  /** A page of a person's open sessions, newest first. One that is not good any more is in it only as the place of a cursor. */
  list(principalId: string, page: { before: string | undefined; limit: number }): Promise<ListedSession[]>
  /** Ends a session of this person. False where they have no such session open. */
  endOne(principalId: string, id: string): Promise<boolean>
  /** Ends all sessions of this person but one. */
  endOthers(principalId: string, kept: string | undefined): Promise<void>
}

type ListedSession = Omit<ConsoleSessionView, 'isCurrent'> & { isGood: boolean }

export interface ConsoleSessionOptions {
  store: Store
  clock: Clock
  log: Logger
  /** Without a request for so long a session is over; and after `maxMs` in any case. */
  limits: { idleMs: number; maxMs: number }
  /** True while people may be signed in that way here. */
  accepts(how: SignedInHow): boolean
  /** The principal of a key, while that is good; it counts as used. */
  byKeyHash(hash: string): Promise<Principal | undefined>
  /** The same with the end of the key, without using it. */
  keyStanding(hash: string): Promise<Standing | undefined>
}

const ofSession = ({ principal, kind, name, roles, person_id }: consoleSessions.OpenConsoleSession) => ({
  id: principal,
  kind,
  name,
  roles,
  person_id,
})

/** Behind every id. */
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

  /** When a session is over, unless somebody is seen until then. */
  const endOf = ({ seen_at, began_at }: consoleSessions.OpenConsoleSession): number =>
    Math.min(seen_at + limits.idleMs, began_at + limits.maxMs) + 1

  return {
    async begin({ principal, how, keyHash = null, idToken = null, replaces }) {
      const now = clock.nowMs()
      const secret = randomBytes(32).toString('base64url')
      const id = newId('con', now)
      const earlier = replaces !== undefined && SECRET.test(replaces) ? await find(replaces) : undefined
      await store.transact(function* (outbox) {
        yield* requireEnabled(principal.id)
        yield* recordAudit(outbox, { kind: 'signed_in', actor: principal.id, data: { session: id, how } }, now)
        if (how === 'oidc') yield* takeProvided(outbox, principal, now)
        if (earlier) {
          yield* consoleSessions.endConsoleSession.run({ id: earlier.id, now })
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
      const isEarlier = found.hash !== hashOf(secret)
      if (now >= endOf(found) || (isEarlier && now - found.rotated_at > EARLIER_GOOD_MS) || !accepts(found.how)) return undefined
      // What the key is limited to, its session is.
      const principal = found.key_hash === null ? principals.readPrincipal(ofSession(found)) : await byKeyHash(found.key_hash)
      if (!principal) return undefined
      noteSeen(found.id, found.seen_at, now)
      return { id: found.id, how: found.how, hash: found.hash, rotatedAt: found.rotated_at, principal }
    },

    async standing(id) {
      const found = await store.read(() => consoleSessions.readConsoleSession.first({ id }))
      const endsAt = found && endOf(found)
      if (!found || endsAt === undefined || clock.nowMs() >= endsAt || !accepts(found.how)) return undefined
      if (found.key_hash === null) return { principal: principals.readPrincipal(ofSession(found)), endsAt }
      const key = await keyStanding(found.key_hash)
      return key && { ...key, endsAt: Math.min(endsAt, key.endsAt ?? endsAt) }
    },

    async renew({ id, hash, rotatedAt }) {
      const now = clock.nowMs()
      if (now - rotatedAt < ROTATED_EVERY_MS) return undefined
      const secret = randomBytes(32).toString('base64url')
      const changed = await store.transact(() => consoleSessions.rotateConsoleSession.change({ id, from: hash, to: hashOf(secret), now }))
      return changed === 1 ? secret : undefined
    },

    async end({ id, principal }, everywhere) {
      const now = clock.nowMs()
      return store.transact(function* (outbox) {
        yield* recordAudit(outbox, { kind: 'signed_out', actor: principal.id, data: { session: id, everywhere } }, now)
        const row = yield* consoleSessions.idTokenOf.first({ id })
        if (everywhere) yield* consoleSessions.endConsoleSessions.run({ principal_id: principal.id, now })
        else yield* consoleSessions.endConsoleSession.run({ id, now })
        tellAccess(outbox, principal.id)
        return { idToken: row?.id_token ?? undefined }
      })
    },

    async list(principalId, { before = LAST_ID, limit }) {
      const now = clock.nowMs()
      const place = { seenAfter: now - limits.idleMs, beganAfter: now - limits.maxMs, before, limit }
      const rows = await store.read(() => consoleSessions.listConsoleSessions.all({ principal_id: principalId, ...place }))
      return Promise.all(
        rows.map(async ({ id, how, key_hash, created_at, seen_at }) => ({
          id,
          how,
          createdAt: new Date(created_at).toISOString(),
          seenAt: new Date(seen_at).toISOString(),
          endsAt: new Date(Math.min(seen_at + limits.idleMs, created_at + limits.maxMs)).toISOString(),
          isGood: accepts(how) && (key_hash === null || (await byKeyHash(key_hash)) !== undefined),
        })),
      )
    },

    async endOne(principalId, id) {
      const now = clock.nowMs()
      return store.transact(function* (outbox) {
        const ended = yield* consoleSessions.endOwnConsoleSession.change({ id, principal_id: principalId, now })
        if (ended === 0) return false
        yield* recordAudit(outbox, { kind: 'signed_out', actor: principalId, data: { session: id, everywhere: false } }, now)
        return true
      })
    },

    async endOthers(principalId, kept = '') {
      const now = clock.nowMs()
      await store.transact(function* (outbox) {
        yield* recordAudit(outbox, { kind: 'signed_out', actor: principalId, data: { everywhere: true, kept: kept || null } }, now)
        yield* consoleSessions.endOtherConsoleSessions.run({ principal_id: principalId, kept, now })
      })
    },
  }
}
