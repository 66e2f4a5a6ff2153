import { checkJson, type JsonValue } from '@countersign/core'
import { parseDocument } from 'yaml'

/** YAML is read a hundred times slower than JSON; the large published documents are JSON. */
const MAX_YAML_BYTES = 8_000_000
/** An alias stands for all of its anchor again, and anchors hold aliases: this bounds what a small text can grow to. */
const MAX_ALIASES = 1_000
const MAX_DEPTH = 200

/**
 * The data of a document or a part of one, in JSON or YAML.
 * @throws Error in plain words with the line: reads on from the file's name.
 */
export function parseText(text: string): JsonValue {
  const value = /^\s*[{[]/.test(text) ? parseJsonText(text) : parseYaml(text)
  if (isDeeper(value, MAX_DEPTH)) throw new Error(`is nested more than ${MAX_DEPTH} levels deep`)
  return value
}

function parseJsonText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    // YAML in flow style begins with a brace too.
    if (text.length > MAX_YAML_BYTES) throw new Error(`is not JSON: ${error instanceof Error ? error.message : String(error)}`)
    return parseYaml(text)
  }
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
  const checked = checkJson(data, { maxBytes: 4 * MAX_YAML_BYTES })
  if (!checked.ok) throw new Error(`cannot be read: ${checked.reason}`)
  return checked.value
}

function isDeeper(value: JsonValue, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false
  return levels === 0 || Object.values(value).some((child) => isDeeper(child, levels - 1))
}
