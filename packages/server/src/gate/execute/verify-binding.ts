import type { ActionErrorView, JsonObject, Tool } from '@countersign/core'
import type { ActionRow } from '../../store/index.ts'
import type { GateDeps } from '../gate.ts'
import { definitionHashOf, digestOf } from '../propose/digest.ts'

/** Returns the tool of an action while both are what was decided, and otherwise why the action must not be sent. */
export type VerifiedBinding = { tool: Tool } | { fault: { kind: string; message: string } }

export function verifyBinding({ tools }: Pick<GateDeps, 'tools'>, row: ActionRow): VerifiedBinding {
  const tool = tools.byName(row.tool)
  if (!tool) return { fault: { kind: 'tool_missing', message: `the tool ${row.tool} is no longer configured` } }
  if (tool.credential !== row.credential) {
    return { fault: { kind: 'credential_changed', message: `${row.tool} would be carried out with other rights than were approved` } }
  }
  if (definitionHashOf(tool) !== row.definition_hash) {
    return { fault: { kind: 'tool_changed', message: `the tool ${row.tool} changed since this was decided` } }
  }
  // The bytes that were decided are the bytes that are sent: recomputed from what is stored, with the tool as it is now.
  if (digestOf({ ...row, tool: tool.name, destination: tool.destination, credential: tool.credential }) !== row.digest) {
    return { fault: { kind: 'digest_mismatch', message: 'the action is not what was approved' } }
  }
  return { tool }
}

/**
 * Runs the tool's own check once more, just before anything is sent. The hash of the definition covers the schema, but not what the code of the
 * check refuses, which a release may have tightened after people decided.
 * @returns The error of arguments that the check refuses now; undefined when it accepts them.
 */
export function refusedNow({ log }: Pick<GateDeps, 'log'>, tool: Tool, row: ActionRow, args: JsonObject): ActionErrorView | undefined {
  try {
    // A copy: code that changes what it checks must not change what is sent. What the check would make of it is not sent either.
    const checked = tool.check(structuredClone(args))
    if (checked.ok) return undefined
    const why = checked.issues[0]?.message ?? 'they do not fit'
    const message = `${tool.name} does not take these arguments any more, so it was not carried out: ${why}`
    return { kind: 'tool_changed', message, retryable: false }
  } catch (error) {
    log.error({ actionId: row.id, tool: tool.name, error }, 'tool.prepare_failed')
    const message = `${tool.name} is broken: the arguments could not be checked, so it was not carried out`
    return { kind: 'broken', message, retryable: true }
  }
}

/**
 * Returns true when the server may send the same attempt again by itself: the target runs a repeat under the same key once, or the tool
 * changes nothing.
 */
export const mayResend = ({ idempotent, effect }: Tool): boolean => idempotent || effect === 'read'
