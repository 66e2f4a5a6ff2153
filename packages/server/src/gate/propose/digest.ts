import { hash } from 'node:crypto'
import { canonicalJson, type JsonValue, type Tool } from '@countersign/core'
import { toolDefinitionHash } from '@countersign/toolkit/internal'
import type { ActionRow } from '../../store/index.ts'

const hashes = new WeakMap<Tool, string>()

/** The hash of what a tool is; hashing a schema anew for each call would cost more than storing the action. */
export function definitionHashOf(tool: Tool): string {
  const known = hashes.get(tool) ?? toolDefinitionHash(tool)
  hashes.set(tool, known)
  return known
}

/** The facts to which a decision is bound. */
export type Bound = Pick<ActionRow, 'tool' | 'definition_hash' | 'arguments' | 'destination' | 'credential' | 'precondition'>

/**
 * The digest that a decision is bound to: SHA-256 over the canonical JSON of what will be sent and where, with whose rights, and what the
 * target was when it was shown. Computed again from the stored bytes when the action starts.
 */
export function digestOf({ tool, definition_hash, arguments: args, destination, credential, precondition }: Bound): string {
  // In the order of canonical JSON, which then has nothing to sort.
  return sha256({
    arguments: args,
    // Left out when there is none, so that digests from before this field existed stay the same.
    ...(credential !== 'none' && { credential }),
    definition: definition_hash,
    destination,
    ...(precondition !== null && { precondition }),
    tool,
  })
}

/** The precondition as a decision is bound to it: a hash, so that it has a fixed length. */
export const preconditionOf = (value: JsonValue): string => sha256(value)

const sha256 = (value: JsonValue): string => `sha256:${hash('sha256', canonicalJson(value), 'hex')}`
