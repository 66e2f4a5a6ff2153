import { createHash } from 'node:crypto'
import type { Principal } from '@countersign/core'
import type { OidcSettings } from '../config/index.ts'

/** Roles that decide, see everything or start agents: a group of that name at the sign-in service does not give them by itself. */
const OUR_ROLES = ['admin', 'approver', 'viewer', 'member', 'agent']
const MAX_GROUPS = 200
/** As long as a role can be in a policy. */
const MAX_ROLE_LENGTH = 64

/** The claims of a sign-in service about a person. */
export type Claims = Readonly<Record<string, unknown>> & { sub: string }

/**
 * Returns the ids that a person may have: one for each spelling of the issuer. The setting counts first, because people are stored under it;
 * a sign-in service accepts its own name with and without a slash at the end alone.
 * @param own The name that the service gives itself: it was compared with the setting.
 */
export function personIdsOf(sub: string, issuer: string, own: string): [string, ...string[]] {
  const spellings = [issuer, own].flatMap((one) => [one, one.endsWith('/') ? one.slice(0, -1) : `${one}/`])
  const [first = issuer, ...others] = new Set(spellings)
  const idOf = (one: string) => `prn_${createHash('sha256').update(`${one}\n${sub}`).digest('hex').slice(0, 32)}`
  return [idOf(first), ...others.map(idOf)]
}

/**
 * Returns the person that a sign-in service identifies. Their groups are roles under the group's own name; built-in roles come from the
 * configured mapping only. All groups are looked up there, whatever their length and number. Those that become roles are chosen in sorted
 * order, so that they are the same ones when the service lists the groups in another order.
 * @returns `leftOut`: the groups that gave no role because they are too long or too many.
 * @param id The same one for the same issuer and subject, even when their name or address changes: see {@link personIdsOf}.
 */
export function personFrom(id: string, claims: Claims, { groupsClaim, roles, everyone }: Omit<OidcSettings, 'issuer'>): Provided {
  const groups = groupsOf(claims[groupsClaim])
  const isMapped = (group: string) => Object.hasOwn(roles, group)
  const mapped = groups.filter(isMapped).flatMap((group) => roles[group] ?? [])
  const ownNames = groups.filter((group) => !OUR_ROLES.includes(group))
  const named = new Set(ownNames.filter((group) => group.length <= MAX_ROLE_LENGTH).slice(0, MAX_GROUPS))
  return {
    person: { id, kind: 'person', name: nameOf(claims), roles: [...new Set([...everyone, ...mapped, ...named])].sort() },
    leftOut: ownNames.filter((group) => !named.has(group) && !isMapped(group)),
  }
}

interface Provided {
  person: Principal
  leftOut: readonly string[]
}

const groupsOf = (claim: unknown): string[] => {
  const listed: unknown[] = Array.isArray(claim) ? claim : [claim]
  return [...new Set(listed.filter((group) => typeof group === 'string' && group !== ''))].sort() as string[]
}

/**
 * Returns a readable name: without characters that are invisible or change the reading direction. An address that the service has not
 * verified may be somebody else's, so it is no name.
 */
function nameOf({ name, preferred_username, email, email_verified, sub }: Claims): string {
  const isUnverified = email_verified === false || email_verified === 'false'
  for (const candidate of [name, preferred_username, isUnverified ? undefined : email, sub]) {
    if (typeof candidate !== 'string') continue
    const plain = candidate.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim()
    if (plain !== '') return plain.slice(0, 120)
  }
  return 'somebody without a name'
}
