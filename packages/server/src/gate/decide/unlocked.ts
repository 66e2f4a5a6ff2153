import { CountersignError, canonicalJson, type JsonObject, type Tool } from '@countersign/core'
import { isObject } from '@countersign/core/text'

/**
 * Refuses an edit of an argument that the program which runs the call decides by itself: its schema says `readOnly`. The program is told
 * of a change to its own input only, so the record would show a call that did not run.
 * @throws CountersignError `invalid_arguments` with `issues`.
 */
export function requireUnlocked({ name, isHostRun, inputSchema }: Tool, before: JsonObject, edited: JsonObject): void {
  const { properties } = inputSchema
  if (isHostRun !== true || !isObject(properties)) return
  const locked = Object.entries(properties).flatMap(([field, schema]) => (isObject(schema) && schema.readOnly === true ? [field] : []))
  const issues = locked
    .filter((field) => edited[field] !== undefined && canonicalJson(edited[field]) !== canonicalJson(before[field] ?? null))
    .map((field) => ({
      path: `/${field}`,
      message: `${field} cannot be edited: the program that runs this call decides it, and would run the call as before. Decline the call and tell the agent what to do instead`,
    }))
  if (issues.length > 0) throw new CountersignError('invalid_arguments', `${name}: ${issues[0]?.message}`, { issues })
}
