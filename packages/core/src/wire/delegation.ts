import { z } from 'zod'
import { Duration, durationMs } from './duration.ts'
import { PageQuery } from './page.ts'
import { Principal } from './principal.ts'

const MAX_DELEGATION_MS = 90 * 86_400_000

export const DelegationBody = z.strictObject({
  /** The person who shall vote in the other's place. */
  to: z.string().min(1).max(100),
  /** The person who delegates; default oneself. Only an admin names another. */
  from: z.string().min(1).max(100).optional(),
  /** For how long, from now: at most `P90D`. */
  expiresIn: Duration.refine((text) => (durationMs(text) ?? 0) <= MAX_DELEGATION_MS, 'a delegation ends after 90 days at most: P90D'),
  reason: z.string().trim().max(500).optional(),
})
export type DelegationBody = z.infer<typeof DelegationBody>

/** A person who may vote for another, until a time. */
export const Delegation = z.object({
  id: z.string(),
  from: Principal,
  to: Principal,
  reason: z.string().nullable(),
  madeBy: Principal,
  state: z.enum(['standing', 'over', 'revoked']),
  expiresAt: z.string(),
  revokedAt: z.string().nullable(),
  revokedBy: Principal.nullable(),
  createdAt: z.string(),
})
export type Delegation = z.infer<typeof Delegation>

/** A person who can be chosen. */
export const Person = z.object({
  id: z.string(),
  name: z.string(),
  /** For admins. */
  roles: z.array(z.string()).optional(),
  /** For admins; everybody else is not told of disabled people. Null for who is not disabled. */
  disabledAt: z.string().nullable().optional(),
})
export type Person = z.infer<typeof Person>

export const PeopleQuery = PageQuery.extend({
  q: z.string().max(100).optional().describe('A part of the id or name, in any case.'),
})

export const PersonList = z.object({ items: z.array(Person), nextCursor: z.string().nullable() })

export const DelegationList = z.object({ items: z.array(Delegation), nextCursor: z.string().nullable() })
