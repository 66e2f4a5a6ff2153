import { createHash, randomBytes } from 'node:crypto'
import { CountersignError, durationMs, EMBED_TOKEN_MAX_MS, type EmbedToken, type EmbedTokenBody, type Principal } from '@countersign/core'
import type { z } from 'zod'
import { recordAudit } from '../audit/index.ts'
import { isoTime } from '../gate/index.ts'
import { changeRights, embedTokens, keepRights, keys, newId, type Outbox, principals, type Tx } from '../store/index.ts'
import { hashOf } from './keys.ts'
import { takeProvided, withProvided } from './people.ts'

/** Draws a new random token. Like a key, it is stored only as its SHA-256. */
export const drawToken = (): string => `cse_${randomBytes(32).toString('base64url')}`

/**
 * Returns the person that a host calls by this id: the same one each time, and never somebody who is known in another way.
 * @param serviceId The service that vouches for them. Two services never share a person.
 */
const personOfHost = (serviceId: string, hostId: string): string =>
  `prn_${createHash('sha256').update(`embed\n${serviceId}\n${hostId}`).digest('hex').slice(0, 32)}`

/** The person is new, or their name or roles differ from the stored ones: the token has to be made again with `mayChange`. */
export class PersonChanges extends Error {}

/**
 * Makes a token for one of a host's own people, and stores their current name and roles.
 * @param keyHash Of the host's key in use. It is read again here, so that a key that was just revoked makes nothing.
 * @param mayChange True may store another name or other roles, and waits for everybody who acts by a right. False does neither.
 * @throws CountersignError `forbidden` for every caller but a service's accepted key with the scope `embed`, for roles that the key may not
 * give, and for a disabled person; `invalid_arguments` for a longer life than an hour; PersonChanges.
 */
export function* makeEmbedToken(
  { outbox, keyHash, nowMs, mayChange }: { outbox: Outbox; keyHash: string; nowMs: number; mayChange: boolean },
  { person, roles, expiresIn }: z.output<typeof EmbedTokenBody>,
  token: string,
): Tx<Omit<EmbedToken, 'token'>> {
  const asked = typeof person === 'string' ? { id: person } : person
  // Someone who is disabled at the same moment must not have a token that comes back to life when they are enabled.
  yield* mayChange ? changeRights() : keepRights()
  const key = yield* keys.holderOfKey.first({ hash: keyHash, now: nowMs })
  const given = key ? rolesGivenBy(key) : []
  const missing = roles.find((role) => !given.includes(role))
  if (!key || missing !== undefined) {
    throw new CountersignError('forbidden', `this key may not give the role ${missing}: it gives ${given.join(', ') || 'none'}`)
  }
  const lifeMs = durationMs(expiresIn) ?? 0
  if (lifeMs > EMBED_TOKEN_MAX_MS) {
    throw new CountersignError('invalid_arguments', 'expiresIn: an embed token lives for at most PT1H; make another one before it expires')
  }
  const id = personOfHost(key.id, asked.id)
  const name = plainName(('name' in asked ? asked.name : undefined) ?? asked.id)
  const principal: Principal = { id, kind: 'person', name, roles: [...new Set(roles)].sort(), host: key.id }
  const known = yield* principals.findPrincipal.first({ id })
  if (known && known.disabled_at !== null) {
    throw new CountersignError('forbidden', `${known.name} is disabled here: ask an admin of this server`)
  }
  // Of two who hold rights as they are, neither could change them before the other ends.
  if (!mayChange && !(yield* withProvided(principal)).isAsProvided) throw new PersonChanges()
  yield* takeProvided(outbox, principal, nowMs, key.id)
  const expiresAt = Math.min(nowMs + lifeMs, key.expires_at ?? Number.MAX_SAFE_INTEGER)
  const data = { person: id, name, host: asked.id, roles: principal.roles, keyId: key.key_id, expiresAt: isoTime(expiresAt) }
  yield* recordAudit(outbox, { kind: 'embed_token_made', actor: key.id, data }, nowMs)
  yield* embedTokens.insertToken.run({
    id: newId('emb', nowMs),
    hash: hashOf(token),
    key_id: key.key_id,
    principal_id: id,
    roles: JSON.stringify(principal.roles),
    created_at: nowMs,
    expires_at: expiresAt,
  })
  return { principal, expiresAt: isoTime(expiresAt) }
}

/** @throws CountersignError `forbidden` for a key that makes no tokens. */
function rolesGivenBy({ kind, scopes, embed_roles, accepted_at, name }: keys.KeyHolder): string[] {
  const isEmbed = kind === 'service' && embed_roles !== null && scopes === '["embed"]'
  if (!isEmbed) throw new CountersignError('forbidden', 'only the key of a service with the scope embed makes embed tokens')
  if (accepted_at === null) {
    const how = 'whoever runs the server has to accept it first: countersign key accept <id>'
    throw new CountersignError('forbidden', `this key of ${name} may not make embed tokens yet: ${how}`)
  }
  return JSON.parse(embed_roles)
}

/** Removes characters that are invisible or change the reading direction. */
const plainName = (name: string): string =>
  name
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, 120) || 'somebody without a name'

/** Returns the person of a token, with the token's limits: it decides, and nothing else. */
export function principalOfToken({ token_roles, ...row }: embedTokens.TokenHolder): Principal {
  const carried: string[] = JSON.parse(token_roles)
  const principal = principals.readPrincipal(row)
  return { ...principal, roles: principal.roles.filter((role) => carried.includes(role)), scopes: ['decide'] }
}
