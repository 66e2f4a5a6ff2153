import { z } from 'zod'
import { Principal } from './principal.ts'

/** A person, by id, or everybody with a role. */
export const AssignTo = z.union([z.strictObject({ person: z.string().max(100) }), z.strictObject({ role: z.string().max(100) })])
export type AssignTo = z.infer<typeof AssignTo>

/**
 * Who should decide; null for nobody in particular. `was` is the assignment as the caller saw it: when there is another one by now, nothing
 * changes.
 */
export const AssignBody = z.strictObject({ to: AssignTo.nullable(), was: AssignTo.nullable().optional() })
export type AssignBody = z.infer<typeof AssignBody>

const assigned = { by: Principal, at: z.string() }

/** Who should decide about an action, and who said so. It is advice: everybody who may decide still may, and nobody else. */
export const Assignment = z.union([z.object({ person: Principal, ...assigned }), z.object({ role: z.string(), ...assigned })])
export type Assignment = z.infer<typeof Assignment>
