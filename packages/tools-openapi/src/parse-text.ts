import type { JsonValue } from '@countersign/core'
import { parseDocument, type YAMLParseError } from 'yaml'

/** The maximum size of YAML. It is parsed a hundred times slower than JSON, and the large published documents are JSON. */
const MAX_YAML_BYTES = 8_000_000
/**
 * The maximum number of aliases. An alias repeats its whole anchor, and anchors may contain aliases, so a small text could expand without
 * bound.
 */
const MAX_ALIASES = 1_000
const MAX_DEPTH = 200
/** The maximum number of flaws that are reported per file. */
const MAX_NOTES = 5
const MAX_VALUES = 1_000_000

/**
 * Parses a document or a part of one, in JSON or YAML.
 * @param note Gets each harmless flaw, in words that continue after the file's name.
 * @throws Error in plain words with the line, which continue after the file's name.
 */
export function parseText(text: string, note: (words: string) => void): JsonValue {
  return /^\s*[{[]/.test(text) ? parseJsonText(text, note) : parseYaml(text, note)
}

function parseJsonText(text: string, note: (words: string) => void): JsonValue {
  let value: JsonValue
  try {
    value = JSON.parse(text) as JsonValue
  } catch (error) {
    // YAML in flow style begins with a brace too.
    if (text.length > MAX_YAML_BYTES) throw new Error(`is not JSON: ${error instanceof Error ? error.message : String(error)}`)
    return parseYaml(text, note)
  }
  if (isDeeper(value, MAX_DEPTH)) throw new Error(`is nested more than ${MAX_DEPTH} levels deep`)
  return value
}

function parseYaml(text: string, note: (words: string) => void): JsonValue {
  if (Buffer.byteLength(text) > MAX_YAML_BYTES) throw new Error(`is YAML of more than ${MAX_YAML_BYTES / 1_000_000} MB: give it as JSON`)
  const document = parseDocument(text, { prettyErrors: true, merge: true })
  // JSON parsers silently use the last of two equal keys. YAML is read the same way, so that a duplicate key does not reject a whole
  // document.
  const repeated = document.errors.filter(({ code }) => code === 'DUPLICATE_KEY')
  const wrong = document.errors.find((error) => !repeated.includes(error))
  if (wrong) throw new Error(`is not YAML or JSON${lineOf(wrong)}: ${wrong.message.split(/ at line \d|\n/)[0]}`)
  for (const error of repeated.slice(0, MAX_NOTES)) note(`has a key twice${lineOf(error)}: the last one counts`)
  let data: unknown
  try {
    data = document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    throw new Error(`cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  return plainOf(data, { left: MAX_VALUES }, 0)
}

const lineOf = ({ linePos }: YAMLParseError): string => (linePos === undefined ? '' : `, line ${linePos[0].line}`)

/** Returns a copy without shared parts: aliases are expanded, within bounds. */
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
