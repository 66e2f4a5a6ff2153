import { CountersignError, canonicalJson, type JsonObject, type Tool } from '@countersign/core'
import { isObject } from '@countersign/core/text'

/**
 * Refuses an edit of values that the program running the call decides by itself. That program is told of a change to its own input only, so the
 * record would show a call that did not run.
 * @throws CountersignError `invalid_arguments` with `issues`.
 */
export function refuseHostDecided(tool: Tool, before: JsonObject, edited: JsonObject): void {
  const { properties } = tool.inputSchema
  if (tool.isHostRun !== true || !isObject(properties)) return
  const whole = Object.entries(properties)
    .filter(([field, schema]) => isObject(schema) && schema.readOnly === true && edited[field] !== undefined)
    .filter(([field]) => canonicalJson(edited[field] ?? null) !== canonicalJson(before[field] ?? null))
    .map(([field]) => issueAt(field, field))
  const decided = tool.hostDecides?.(before) ?? {}
  const parts = Object.entries(tool.hostDecides?.(edited) ?? {})
    .filter(([field, value]) => canonicalJson(value) !== canonicalJson(decided[field] ?? null))
    .map(([field]) => issueAt(field, `the folder in ${field}`))
  const issues = [...whole, ...parts]
  if (issues.length > 0) throw new CountersignError('invalid_arguments', `${tool.name}: ${issues[0]?.message}`, { issues })
}

const issueAt = (field: string, what: string) => ({
  path: `/${field}`,
  message: `${what} cannot be edited: the program that runs this call decides it, and would run the call as before. Decline the call and tell the agent what to do instead`,
})
