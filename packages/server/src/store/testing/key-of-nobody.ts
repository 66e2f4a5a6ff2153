import type { Tx } from '../query.ts'
import { insertKey } from '../tables/keys.ts'

/** Writes a key whose principal does not exist: the database refuses it. */
export const keyOfNobody = (): Tx<void> =>
  insertKey.run({
    id: 'key_1',
    principal_id: 'nobody',
    name: 'nobody',
    hash: 'h',
    created_by: null,
    roles: null,
    scopes: null,
    expires_at: null,
    accepted_at: null,
    embed_roles: null,
    now: 1,
  })
