import { CountersignError, type CreateKeyBody, type Principal } from '@countersign/core'
import { embedTokens, keys, type Outbox, type Tx, tellAccess } from '../store/index.ts'

/** Roles that no host gives to anybody. */
const NEVER_GIVEN = ['admin', 'member', 'agent', 'monitor']

/** Every key of a service is looked at. */
const MOST_KEYS = 1_000

/**
 * Returns the roles that the tokens of a new key may carry; null for a key that makes no tokens. A service that vouches for people does
 * nothing else: with another key it could decide, in the name of its people, about what it proposed itself.
 * @throws CountersignError `invalid_arguments`
 */
export function* embedRolesOf({ kind, scopes, embedRoles }: CreateKeyBody, holder: Principal | undefined): Tx<string[] | null> {
  const isEmbed = scopes?.includes('embed') ?? false
  if (isEmbed) {
    if (kind !== 'service') throw refused('only the key of a service can have the scope embed')
    if (scopes?.length !== 1) throw refused('a key with the scope embed has no other scope')
    if (embedRoles === undefined) throw refused('name the roles that its tokens may carry in embedRoles')
    const never = embedRoles.find((role) => NEVER_GIVEN.includes(role))
    if (never !== undefined) throw refused(`no embed token can carry the role ${never}`)
  } else if (embedRoles !== undefined) {
    throw refused('embedRoles is for a key with the scope embed')
  }
  const others = holder?.kind === 'service' ? yield* keys.listKeys({ principalId: holder.id, before: undefined, limit: MOST_KEYS }) : []
  if (others.some((other) => (other.embed_roles !== null) !== isEmbed)) {
    throw refused(`${holder?.name} has keys of the other kind: a service that makes embed tokens does nothing else`)
  }
  return isEmbed ? [...new Set(embedRoles)].sort() : null
}

const refused = (why: string) => new CountersignError('invalid_arguments', why)

/** Ends every token that a key made. */
export function* endTokensOfKey(outbox: Outbox, keyId: string): Tx<void> {
  for (const { principal_id } of yield* embedTokens.peopleOfKey.all({ key_id: keyId })) tellAccess(outbox, principal_id)
  yield* embedTokens.endTokensOfKey.run({ key_id: keyId })
}
