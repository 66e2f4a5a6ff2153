import type { JsonObject, JsonSchema, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { inputSchemaOf } from './input-schema.ts'
import { proseLine, textOf } from './parts.ts'
import type { Refs } from './refs.ts'
import type { RequestBody } from './request-body.ts'

const FILE: JsonSchema = {
  type: 'object',
  description: 'A file.',
  properties: {
    base64: { type: 'string', contentEncoding: 'base64', description: 'Its content' },
    filename: { type: 'string', maxLength: 200 },
    contentType: { type: 'string', maxLength: 100, description: 'For example image/png' },
  },
  required: ['base64'],
  additionalProperties: false,
}

/** The schema of the argument `body`, and its members that are files. */
export interface BodySchema {
  schema: JsonSchema
  files: ReadonlySet<string>
}

/** @throws BrokenPart */
export function bodySchemaOf(body: RequestBody, refs: Refs): BodySchema {
  const described: JsonSchema = body.description === undefined ? {} : { description: proseLine(body.description, 400) }
  if (body.kind === 'bytes') {
    return {
      schema: { type: 'string', contentEncoding: 'base64', description: `The bytes (${body.mediaType}) in base64` },
      files: new Set(),
    }
  }
  if (body.kind === 'text') return { schema: { type: 'string', description: `As ${body.mediaType}`, ...described }, files: new Set() }
  const schema: JsonSchema = { ...described, ...inputSchemaOf(body.schema, refs) }
  if (body.kind === 'json') return { schema, files: new Set() }
  const object: JsonSchema = schema.type === undefined ? { type: 'object', ...schema } : schema
  if (body.kind === 'form' || !isObject(object.properties)) return { schema: object, files: new Set() }
  const files = fileMembers(body, refs)
  const properties = Object.fromEntries(
    Object.entries(object.properties).map(([name, member]): [string, JsonValue] => {
      if (!files.has(name)) return [name, member]
      return [name, isObject(member) && member.type === 'array' ? { type: 'array', items: FILE } : FILE]
    }),
  )
  return { schema: { ...object, properties }, files: new Set([...files].filter((name) => Object.hasOwn(properties, name))) }
}

function fileMembers({ schema, encoding }: RequestBody, refs: Refs): Set<string> {
  return new Set(
    Object.entries(membersOf(schema, refs)).flatMap(([name, member]) => {
      const described = refs.follow(member)
      const items = isObject(described) && described.type === 'array' ? refs.follow(described.items) : described
      return isObject(items) && isFile(items, encoding[name]) ? [name] : []
    }),
  )
}

/** Returns the members of an object schema, including those of its `allOf` parts. @param seen The parts already visited. */
function membersOf(schema: JsonValue, refs: Refs, seen = new Set<JsonValue>()): JsonObject {
  const described = refs.follow(schema)
  if (!isObject(described) || seen.has(described)) return {}
  seen.add(described)
  const parts = Array.isArray(described.allOf) ? described.allOf.map((part) => membersOf(part, refs, seen)) : []
  return Object.assign({}, ...parts, isObject(described.properties) ? described.properties : {})
}

function isFile({ type, format, contentEncoding, contentMediaType }: JsonObject, rule: JsonValue | undefined): boolean {
  if (type === 'file' || format === 'binary') return true
  if (type !== undefined && type !== 'string') return false
  if (contentEncoding !== undefined) return false
  const told = isObject(rule) ? textOf(rule.contentType) : undefined
  const types = [textOf(contentMediaType), told].filter((text) => text !== undefined)
  return types.some((text) => /^(image|audio|video|font)\/|^application\/(octet-stream|pdf|zip|gzip)/i.test(text))
}
