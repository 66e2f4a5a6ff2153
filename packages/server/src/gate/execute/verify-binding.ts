import type { Tool } from '@countersign/core'
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
 * Returns true when the server may send the same attempt again by itself: the target runs a repeat under the same key once, or the tool
 * changes nothing.
 */
export const mayResend = ({ idempotent, effect }: Tool): boolean => idempotent || effect === 'read'
