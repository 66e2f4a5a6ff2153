import type { JsonValue } from '@countersign/core'
import { parseDocument } from 'yaml'

/** YAML is read a hundred times slower than JSON; the large published documents are JSON. */
const MAX_YAML_BYTES = 8_000_000
/** An alias stands for all of its anchor again, and anchors hold aliases: this bounds what a small text can grow to. */
const MAX_ALIASES = 1_000
const MAX_DEPTH = 200
const MAX_VALUES = 1_000_000

/**
 * The data of a document or a part of one, in JSON or YAML.
 * @throws Error in plain words with the line: reads on from the file's name.
 */
export function parseText(text: string): JsonValue {
  return /^\s*[{[]/.test(text) ? parseJsonText(text) : parseYaml(text)
}

function parseJsonText(text: string): JsonValue {
  let value: JsonValue
  try {
    value = JSON.parse(text) as JsonValue
  } catch (error) {
    // YAML in flow style begins with a brace too.
    if (text.length > MAX_YAML_BYTES) throw new Error(`is not JSON: ${error instanceof Error ? error.message : String(error)}`)
    return parseYaml(text)
  }
  if (isDeeper(value, MAX_DEPTH)) throw new Error(`is nested more than ${MAX_DEPTH} levels deep`)
  return value
}

function parseYaml(text: string): JsonValue {
  if (Buffer.byteLength(text) > MAX_YAML_BYTES) throw new Error(`is YAML of more than ${MAX_YAML_BYTES / 1_000_000} MB: give it as JSON`)
  const document = parseDocument(text, { prettyErrors: true, merge: true })
  const [wrong] = document.errors
  if (wrong) {
    const line = wrong.linePos?.[0].line
    throw new Error(`is not YAML or JSON${line === undefined ? '' : `, line ${line}`}: ${wrong.message.split(/ at line \d|\n/)[0]}`)
  }
  let data: unknown
  try {
    data = document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    throw new Error(`cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  return plainOf(data, { left: MAX_VALUES }, 0)
}

/** A copy that shares nothing with itself: aliases are written out, as far as that stays bounded. */
function plainOf(value: unknown, budget: { left: number }, depth: number): JsonValue {
  if (budget.left-- <= 0) throw new Error('grows too large: its aliases stand for too much')
  if (depth > MAX_DEPTH) throw new Error(`is nested more than ${MAX_DEPTH} levels deep`)
  if (Array.isArray(value)) return value.map((entry) => plainOf(entry, budget, depth + 1))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, plainOf(child, budget, depth + 1)]))
  }
  if (typeof value === 'string' || typeof value === 'boolean') return value
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

function isDeeper(value: JsonValue, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false
  return levels === 0 || Object.values(value).some((child) => isDeeper(child, levels - 1))
}
