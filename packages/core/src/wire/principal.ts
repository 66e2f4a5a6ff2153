import { z } from 'zod'

export const PrincipalKind = z.enum(['person', 'agent', 'service'])
export type PrincipalKind = z.infer<typeof PrincipalKind>

/** Who acts. Only persons decide. */
export const Principal = z.object({ id: z.string(), kind: PrincipalKind, name: z.string(), roles: z.array(z.string()) })
export type Principal = z.infer<typeof Principal>

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
