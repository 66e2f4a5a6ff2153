import { createHash } from 'node:crypto'
import { CountersignError, canonicalJson, type JsonObject, type RegisterToolBody } from '@countersign/core'
import { openJsonSchema } from '@countersign/toolkit'
import { costFault, openPatternBudget, type PatternBudget, readsResult, readWords } from '@countersign/toolkit/internal'

/** The largest definition of one tool, as canonical JSON. */
const MAX_BYTES = 32_000

/** The definition of a tool that its agent registers. */
export type Definition = Pick<RegisterToolBody, 'effect' | 'describe' | 'risk'> & {
  name: string
  description: string
  input: JsonObject
}

export interface HashedDefinition {
  definition: Definition
  /** Canonical JSON. */
  text: string
  /** SHA-256 (hex). */
  hash: string
}

/**
 * Checks a registration without keeping anything of it.
 * @throws CountersignError `bad_request`, `too_large`.
 */
export function readDefinition(body: RegisterToolBody, patterns: PatternBudget = openPatternBudget()): HashedDefinition {
  const { name, description = '', input, effect, describe, risk } = body
  const definition: Definition = {
    ...{ name, description, effect },
    input: JSON.parse(JSON.stringify(input)),
    ...(describe !== undefined && { describe }),
    ...(risk !== undefined && { risk }),
  }
  const text = canonicalJson(definition as unknown as JsonObject)
  if (Buffer.byteLength(text) > MAX_BYTES) {
    throw new CountersignError('too_large', `the tool ${name} is larger than ${MAX_BYTES} bytes: shorten its schema`)
  }
  const costs = costFault(definition.input, patterns)
  if (costs !== undefined) throw new CountersignError('bad_request', `input ${costs}`)
  refuse('input', () => openJsonSchema(definition.input))
  if (describe !== undefined && refuse('describe', () => readsResult(readWords(describe)))) {
    throw new CountersignError('bad_request', 'describe cannot use {result.…}: nothing has run when people read it')
  }
  return { definition, text, hash: createHash('sha256').update(text).digest('hex') }
}

function refuse<T>(member: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new CountersignError('bad_request', `${member} ${error instanceof Error ? error.message : 'cannot be read'}`)
  }
}
