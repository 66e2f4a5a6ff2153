import { z } from 'zod'
import { Principal } from './principal.ts'

/** A person, by id, or everybody with a role. */
export const AssignTo = z.union([z.strictObject({ person: z.string().max(100) }), z.strictObject({ role: z.string().max(100) })])
export type AssignTo = z.infer<typeof AssignTo>

/**
 * Assigns an action to a person or a role; `to: null` removes the assignment. With `was`, the assignment that the caller saw, the request
 * fails with 409 if the action is assigned differently by now.
 */
export const AssignBody = z.strictObject({ to: AssignTo.nullable(), was: AssignTo.nullable().optional() })
export type AssignBody = z.infer<typeof AssignBody>

const assigned = { by: Principal, at: z.string() }

/** The person or role that should decide about an action, and the person who assigned it. It does not change who may decide. */
export const Assignment = z.union([z.object({ person: Principal, ...assigned }), z.object({ role: z.string(), ...assigned })])
export type Assignment = z.infer<typeof Assignment>
