import { timingSafeEqual } from 'node:crypto'
import type { CreatedKey, CreateKeyBody, EmbedToken, EmbedTokenBody, Key, Principal } from '@countersign/core'
import type { Logger } from 'pino'
import type { z } from 'zod'
import type { Clock } from '../clock.ts'
import { type Caller, requireStanding } from '../gate/index.ts'
import { changeRights, embedTokens, idempotently, keys, principals, type Store, type Tx } from '../store/index.ts'
import { drawToken, makeEmbedToken, PersonChanges, principalOfToken } from './embed-tokens.ts'
import { acceptKey, createKey, drawKey, hashOf, listKeys, revokeKey } from './keys.ts'
import type { Standing } from './standing.ts'

/** Knows the principals of the server: the holders of its keys and embed tokens, and the person at this machine, who owns the bootstrap key. */
export interface Directory {
  /** Returns the principal of a key or embed token, by its hash; undefined for one that is unknown, expired or revoked. */
  byHash(hash: string): Promise<Principal | undefined>
  /** Returns when a key expired, by its hash, epoch ms; undefined for one that is unknown or revoked, or has not expired. */
  expiredAt(hash: string): Promise<number | undefined>
  /** Returns the current standing of a key's holder, by the key's hash, without counting as a use of it. */
  standing(hash: string): Promise<Standing | undefined>
  /** The same within a transaction. @param now The time of the transaction, epoch ms. */
  standingIn(hash: string, now: number): Tx<Standing | undefined>
  /** The person at this machine, who owns the bootstrap key too: one person has one vote, however they sign in. */
  readonly localPerson: Principal
  /** Creates a key, with its principal where that is new. The same `once` returns the same key again, without its secret. */
  createKey(body: CreateKeyBody, caller: Caller): Promise<CreatedKey>
  listKeys(page: { principalId?: string | undefined; before: string | undefined; limit: number }): Promise<Key[]>
  /** Accepts a key that another person made for the caller, so that its full rights apply. */
  acceptKey(id: string, caller: Caller): Promise<Key>
  /** Revokes a key at once, in every process. */
  revokeKey(id: string, caller: Caller): Promise<Key>
  /** Makes an embed token with the host's key of that hash. The same `once` returns the same answer again, without the token. */
  createEmbedToken(body: z.output<typeof EmbedTokenBody>, keyHash: string, caller: Caller): Promise<EmbedToken>
}

export interface DirectoryOptions {
  store: Store
  clock: Clock
  log: Logger
  savePrincipal(principal: Principal): Promise<void>
  bootstrapKey: string | undefined
  /** The bootstrap key of the MCP client that this process was started for. */
  clientKey: string | undefined
  /** Name of the person at this machine. */
  localName: string
}

const SHOWN_BEFORE =
  'This key was shown once, in the answer to the first request with this Idempotency-Key. If you did not get it, revoke the key and make another one.'

const TOKEN_SHOWN_BEFORE =
  'This token was shown once, in the answer to the first request with this Idempotency-Key. Make another one; this one expires by itself.'

/** Precision of the last use of a key or session: a write for every request would cost more than it is worth. */
export const NOTED_EVERY_MS = 60_000

export async function openDirectory({
  store,
  clock,
  log,
  savePrincipal,
  bootstrapKey,
  clientKey,
  localName,
}: DirectoryOptions): Promise<Directory> {
  const localPerson: Principal = { id: 'prn_local', kind: 'person', name: localName, roles: ['admin', 'approver'] }
  // The same id after every start, so that the client keeps its own actions.
  const client: Principal = { id: 'prn_mcp_client', kind: 'agent', name: 'MCP client', roles: ['agent'], personId: localPerson.id }
  for (const principal of [localPerson, ...(clientKey === undefined ? [] : [client])]) await savePrincipal(principal)
  const held = [
    ...(bootstrapKey === undefined ? [] : [{ hash: Buffer.from(hashOf(bootstrapKey), 'hex'), principal: localPerson }]),
    ...(clientKey === undefined ? [] : [{ hash: Buffer.from(hashOf(clientKey), 'hex'), principal: client }]),
  ]

  /** Returns the principal of a key that is known to this process and not to the store. */
  const holderHere = (hash: string): Principal | undefined =>
    held.find((one) => timingSafeEqual(Buffer.from(hash, 'hex'), one.hash))?.principal

  function* isDisabled({ id, personId = id }: Principal): Tx<boolean> {
    for (const one of new Set([id, personId])) {
      const row = yield* principals.findPrincipal.first({ id: one })
      if (row && row.disabled_at !== null) return true
    }
    return false
  }

  function noteUse({ key_id: id, last_used_at }: keys.KeyHolder, now: number): void {
    if (last_used_at !== null && now - last_used_at < NOTED_EVERY_MS) return
    const noted = store.transact(() => keys.touchKey.run({ id, before: now - NOTED_EVERY_MS, now }))
    noted.catch((error: unknown) => log.warn({ error, key: id }, 'identity.last_used_write_failed'))
  }

  const holderOf = (hash: string, now: number) => keys.holderOfKey.first({ hash, now })

  function* tokenHolder(hash: string, now: number): Tx<Standing | undefined> {
    const holder = yield* embedTokens.holderOfToken.first({ hash, now })
    return holder && { principal: principalOfToken(holder), endsAt: holder.expires_at }
  }

  async function byHash(hash: string): Promise<Principal | undefined> {
    const here = holderHere(hash)
    if (here) return (await store.read(() => isDisabled(here))) ? undefined : here
    const now = clock.nowMs()
    const holder = await store.read(() => holderOf(hash, now))
    if (!holder) return (await store.read(() => tokenHolder(hash, now)))?.principal
    noteUse(holder, now)
    return keys.principalOf(holder)
  }

  function* standingIn(hash: string, now: number): Tx<Standing | undefined> {
    const here = holderHere(hash)
    if (here) return (yield* isDisabled(here)) ? undefined : { principal: here }
    const holder = yield* holderOf(hash, now)
    if (!holder) return yield* tokenHolder(hash, now)
    return { principal: keys.principalOf(holder), endsAt: holder.expires_at ?? undefined }
  }

  return {
    localPerson,
    byHash,
    async expiredAt(hash) {
      return (await store.read(() => keys.expiredKey.first({ hash, now: clock.nowMs() })))?.expires_at ?? undefined
    },
    standing: (hash) => store.read(() => standingIn(hash, clock.nowMs())),
    standingIn,
    async createKey(body, caller) {
      const { principal, once } = caller
      const now = clock.nowMs()
      return store.transact(function* (outbox) {
        // The answer is stored for repeats, so the key itself is left out.
        let key: string | null = null
        const made = yield* idempotently(once, now, function* () {
          yield* requireStanding(caller, now)
          const drawn = drawKey()
          const created = yield* createKey({ outbox, by: principal, nowMs: now }, body, drawn)
          key = drawn
          return created
        })
        return key === null ? { key, message: SHOWN_BEFORE, ...made } : { key, ...made }
      })
    },
    acceptKey(id, caller) {
      const now = clock.nowMs()
      return store.transact(function* (outbox) {
        yield* requireStanding(caller, now)
        return yield* acceptKey(outbox, id, caller.principal, now)
      })
    },
    listKeys: (page) => store.read(() => listKeys(page)),
    async createEmbedToken(body, keyHash, { once }) {
      const nowMs = clock.nowMs()
      const make = (mayChange: boolean): Promise<EmbedToken> =>
        store.transact(function* (outbox) {
          let token: string | null = null
          const made = yield* idempotently(once, nowMs, function* () {
            const drawn = drawToken()
            const created = yield* makeEmbedToken({ outbox, keyHash, nowMs, mayChange }, body, drawn)
            token = drawn
            return created
          })
          return token === null ? { token, message: TOKEN_SHOWN_BEFORE, ...made } : { token, ...made }
        })
      return make(false).catch((error) => {
        if (error instanceof PersonChanges) return make(true)
        throw error
      })
    },
    revokeKey(id, caller) {
      const now = clock.nowMs()
      return store.transact(function* (outbox) {
        yield* changeRights()
        yield* requireStanding(caller, now)
        return yield* revokeKey(outbox, id, caller.principal, now)
      })
    },
  }
}
