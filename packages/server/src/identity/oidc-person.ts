import { createHash } from 'node:crypto'
import type { Principal } from '@countersign/core'
import type { OidcSettings } from '../config/index.ts'

/** These decide, see everything or make agents work: a group of that name at the sign-in service does not give them by itself. */
const OUR_ROLES = ['admin', 'approver', 'viewer', 'member', 'agent']
const MAX_GROUPS = 200

/** What a sign-in service says of somebody. */
export type Claims = Readonly<Record<string, unknown>> & { sub: string }

/**
 * The person whom a sign-in service vouches for: the same one for the same issuer and subject, whatever their name or address is by then.
 * Their groups are roles under the group's own name; our own roles come from the configured mapping only.
 */
export function personFrom(claims: Claims, { issuer, groupsClaim, roles, everyone }: OidcSettings): Principal {
  const groups = groupsOf(claims[groupsClaim])
  const mapped = groups.flatMap((group) => (Object.hasOwn(roles, group) ? (roles[group] ?? []) : []))
  const named = groups.filter((group) => !OUR_ROLES.includes(group))
  return {
    id: `prn_${createHash('sha256').update(`${issuer}\n${claims.sub}`).digest('hex').slice(0, 32)}`,
    kind: 'person',
    name: nameOf(claims),
    roles: [...new Set([...everyone, ...mapped, ...named])].sort(),
  }
}

const groupsOf = (claim: unknown): string[] =>
  (Array.isArray(claim) ? claim : [claim])
    .filter((group): group is string => typeof group === 'string' && group.length > 0 && group.length <= 64)
    .slice(0, MAX_GROUPS)

/** A name that people read: without what is invisible or turns the reading direction. */
function nameOf({ name, preferred_username, email, sub }: Claims): string {
  for (const candidate of [name, preferred_username, email, sub]) {
    if (typeof candidate !== 'string') continue
    const plain = candidate.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim()
    if (plain !== '') return plain.slice(0, 120)
  }
  return 'somebody without a name'
}
