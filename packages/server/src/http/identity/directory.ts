import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { CreatedKey, CreateKeyBody, Principal } from '@countersign/core'
import type { Clock } from '../../clock.ts'
import { doOnce, newId, type OnceKey, principals, type Store } from '../../store/index.ts'
import { openSecret } from './secret.ts'

/** Who the server knows: the key of the environment, the keys it gave out, the person at this machine. */
export interface Directory {
  /** The principal of a key, or undefined for one nobody gave out. */
  byKey(key: string): Promise<Principal | undefined>
  byId(principalId: string): Promise<Principal | undefined>
  /** The person at this machine, for loopback without a sign-in service. */
  readonly localPerson: Principal
  /** Makes a principal and its key. The same `once` answers the same key again. */
  createKey(body: CreateKeyBody, once: OnceKey | undefined): Promise<CreatedKey>
}

export interface DirectoryOptions {
  store: Store
  clock: Clock
  savePrincipal(principal: Principal): Promise<void>
  bootstrapKey: string | undefined
  /** Name of the person at this machine. */
  localName: string
}

const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest()

export async function openDirectory({ store, clock, savePrincipal, bootstrapKey, localName }: DirectoryOptions): Promise<Directory> {
  const localPerson: Principal = { id: 'prn_local', kind: 'person', name: localName, roles: ['admin', 'approver'] }
  const bootstrap: Principal = { id: 'prn_bootstrap', kind: 'person', name: 'Bootstrap key', roles: ['admin', 'approver'] }
  const bootstrapHash = bootstrapKey === undefined ? undefined : hashOf(bootstrapKey)
  for (const principal of [localPerson, bootstrap]) await savePrincipal(principal)
  const secret = await openSecret(store, 'key_secret')
  return {
    localPerson,
    async byKey(key) {
      const hash = hashOf(key)
      if (bootstrapHash && timingSafeEqual(hash, bootstrapHash)) return bootstrap
      const row = await store.read(() => principals.principalOfKey.first({ hash: hash.toString('hex') }))
      return row && principals.readPrincipal(row)
    },
    async byId(principalId) {
      if (principalId === bootstrap.id && !bootstrapHash) return undefined
      const row = await store.read(() => principals.findPrincipal.first({ id: principalId }))
      return row && principals.readPrincipal(row)
    },
    async createKey(body, once) {
      const now = clock.nowMs()
      // No key is ever stored. With an Idempotency-Key it follows from that and our own secret, so that a repeat can be answered the same.
      const bytes = once ? createHmac('sha256', secret).update(`${once.scope} ${once.key}`).digest() : randomBytes(32)
      const key = `cs_${bytes.toString('base64url')}`
      const made = await store.transact(() =>
        doOnce(once, now, function* () {
          const id = newId('key', now)
          const principal: Principal = { id: newId('prn', now), kind: body.kind, name: body.name, roles: body.roles }
          yield* principals.savePrincipal(principal, now)
          yield* principals.insertKey.run({
            id,
            principal_id: principal.id,
            name: body.name,
            hash: hashOf(key).toString('hex'),
            created_by: null,
            roles: null,
            scopes: null,
            expires_at: null,
            now,
          })
          return { id, principal, createdAt: new Date(now).toISOString() }
        }),
      )
      return { key, ...made }
    },
  }
}
