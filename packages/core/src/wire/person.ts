import { z } from 'zod'
import { ConsoleSessionView } from './console-session.ts'
import { Delegation } from './delegation.ts'
import { Grant } from './grant.ts'
import { Key, Principal } from './principal.ts'

/** A person with everything that they can act with: what ends when they are disabled. For admins. */
export const PersonDetails = z.object({
  id: z.string(),
  name: z.string(),
  roles: z.array(z.string()),
  /** The roles that the sign-in service gave; only the service can take those away. Null for somebody who has never used one. */
  providedRoles: z.array(z.string()).nullable(),
  /** True of people whose roles come from the server itself: the one at its machine, and the bootstrap key. */
  hasFixedRoles: z.boolean(),
  disabledAt: z.string().nullable(),
  disabledBy: Principal.nullable(),
  createdAt: z.string(),
  /** Their own keys and those of their agents and services that were not revoked. Like all lists here: the newest 200. */
  keys: z.array(Key),
  /** The agents and services that they own. */
  agents: z.array(Principal),
  consoleSessions: z.array(ConsoleSessionView.omit({ isCurrent: true })),
  /** Their grants that are in force. */
  grants: z.array(Grant),
  /** The delegations from them and to them that are in force. */
  delegations: z.array(Delegation),
})
export type PersonDetails = z.infer<typeof PersonDetails>

/** A sign-in service can give somebody 200 groups, and more roles by the configured mapping. */
const Roles = z.array(z.string().min(1).max(64)).max(1_000)

export const ChangePersonBody = z.strictObject({
  /** All roles that the person has from then on. */
  roles: Roles,
  /** The roles that you saw, in any order. If they changed since, the answer is an error. */
  was: Roles.optional(),
})
export type ChangePersonBody = z.infer<typeof ChangePersonBody>
