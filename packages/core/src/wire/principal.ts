import { z } from 'zod'

export const PrincipalKind = z.enum(['person', 'agent', 'service'])
export type PrincipalKind = z.infer<typeof PrincipalKind>

/** What a key may be limited to; without any limit it may do all that its principal may. Reading is always part of it. */
export const KeyScope = z.enum(['propose', 'decide', 'manage'])
export type KeyScope = z.infer<typeof KeyScope>

/** Who acts. Only persons decide. */
export const Principal = z.object({
  id: z.string(),
  kind: PrincipalKind,
  name: z.string(),
  roles: z.array(z.string()),
  /** An agent or a service: the id of the person who owns it, where one does. See {@link personOf}. */
  personId: z.string().optional(),
  /** Of the key in use, where it is limited. */
  scopes: z.array(KeyScope).optional(),
})
export type Principal = z.infer<typeof Principal>

/**
 * The id of the person behind a principal: their own, or that of the owner of an agent or a service; null where nobody owns it. Rules
 * about people ("not the requester", "one vote each") compare this: a person with several keys and agents is one person.
 */
export const personOf = ({ id, kind, personId }: Pick<Principal, 'id' | 'kind' | 'personId'>): string | null =>
  kind === 'person' ? id : (personId ?? null)

const PrintableName = z.string().trim().min(1).max(120)

export const CreateKeyBody = z.strictObject({
  name: PrintableName,
  kind: PrincipalKind,
  roles: z.array(z.string().min(1).max(64)).max(32).default([]),
})
export type CreateKeyBody = z.infer<typeof CreateKeyBody>

/** `key` is the secret itself; it is in this one answer and nowhere else. */
export const CreatedKey = z.object({ id: z.string(), key: z.string(), principal: Principal, createdAt: z.string() })
export type CreatedKey = z.infer<typeof CreatedKey>
