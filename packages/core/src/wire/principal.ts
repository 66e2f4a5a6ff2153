import { z } from 'zod'
import { Duration } from './duration.ts'

export const PrincipalKind = z.enum(['person', 'agent', 'service'])
export type PrincipalKind = z.infer<typeof PrincipalKind>

/**
 * The limits of a key; without any it may do everything that its principal may. Reading is always included. `embed` is only for the key of a
 * service, alone, and is never implied: it makes short-lived tokens for people of that service.
 */
export const KeyScope = z.enum(['propose', 'decide', 'manage', 'embed'])
export type KeyScope = z.infer<typeof KeyScope>

/** An actor. Only persons decide. */
export const Principal = z.object({
  id: z.string(),
  kind: PrincipalKind,
  name: z.string(),
  roles: z.array(z.string()),
  /** An agent or a service: the id of the person who owns it, where one does. See {@link personOf}. */
  personId: z.string().optional(),
  /** An agent: the name that its keys prove, and that policy and grants go by. Absent on agents from before names were kept. */
  agent: z.string().optional(),
  /** Of the key in use, where it is limited. */
  scopes: z.array(KeyScope).optional(),
  /** The key in use was made by somebody else for this person, who has not accepted it. Until then it only reads. */
  unaccepted: z.literal(true).optional(),
  /** A person that only embed tokens identify: the id of the service that vouches for them. */
  host: z.string().optional(),
})
export type Principal = z.infer<typeof Principal>

/**
 * The id of the person behind a principal: their own, or that of the owner of an agent or a service; null where nobody owns it. Rules
 * about people ("not the requester", "one vote each") compare this: a person with several keys and agents is one person.
 */
export const personOf = ({ id, kind, personId }: Pick<Principal, 'id' | 'kind' | 'personId'>): string | null =>
  kind === 'person' ? id : (personId ?? null)

const PrintableName = z.string().trim().min(1).max(120)
const Role = z.string().min(1).max(64)

/**
 * A key for somebody new, or with `principal` a further one of somebody who is there. Of an agent or a service, `person` is the person who
 * owns it: default who makes the key, null for nobody. Of a person, `person` is that person, the same as `principal`.
 */
export const CreateKeyBody = z.strictObject({
  name: PrintableName,
  kind: PrincipalKind,
  /** The roles of a new principal. For an existing one: those of its roles that the key carries. Default: all that it has at the time of use. */
  roles: z.array(Role).max(32).optional(),
  /** The uses of the key besides reading. Default: everything that its principal may do. */
  scopes: z.array(KeyScope).max(3).optional(),
  /** Of a key with the scope `embed`: the roles that its tokens may carry. */
  embedRoles: z.array(Role).max(32).optional(),
  /** When left out it is good until it is revoked. */
  expiresIn: Duration.optional(),
  person: z.string().max(100).nullable().optional(),
  principal: z.string().max(100).optional(),
  /** Of an agent: the name that policy and grants know it by. Default: `name`. An agent keeps the first name that it is given. */
  agent: PrintableName.optional(),
})
export type CreateKeyBody = z.infer<typeof CreateKeyBody>

/** A key. The key itself is only in the answer that made it. */
export const Key = z.object({
  id: z.string(),
  name: z.string(),
  principal: Principal,
  /** The roles that it was made for: it carries those of them that its principal still has. Null for all that its principal has. */
  roles: z.array(z.string()).nullable(),
  scopes: z.array(KeyScope).nullable(),
  /** The roles that its embed tokens may carry; null for a key that makes none. */
  embedRoles: z.array(z.string()).nullable(),
  /** Null for a key made by the command line, which needs access to the data folder. */
  createdBy: Principal.nullable(),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  /** To the minute. */
  lastUsedAt: z.string().nullable(),
  revokedAt: z.string().nullable(),
  /**
   * When it was accepted. Null for a person's key that somebody else made, and for one with the scope `embed` that was made over the API:
   * it only reads until its person, or whoever runs the server, accepts it.
   */
  acceptedAt: z.string().nullable(),
})
export type Key = z.infer<typeof Key>

export const KeyList = z.object({ items: z.array(Key), nextCursor: z.string().nullable() })
export type KeyList = z.infer<typeof KeyList>

/**
 * `key` is the secret itself. It is in the first answer and nowhere else: a repeat with the same Idempotency-Key has null there, and
 * `message` says so.
 */
export const CreatedKey = z.object({
  id: z.string(),
  key: z.string().nullable(),
  message: z.string().optional(),
  /** Null for a key that its person has to accept first, because somebody else made it. It only reads until then. */
  acceptedAt: z.string().nullable(),
  principal: Principal,
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
})
export type CreatedKey = z.infer<typeof CreatedKey>
