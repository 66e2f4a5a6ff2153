import type { JsonObject, JsonValue } from '@countersign/core'

/** Keywords whose value is data, not schema: a `$ref` in there is somebody's text. */
export const DATA_KEYWORDS: ReadonlySet<string> = new Set(['default', 'enum', 'const', 'examples'])

/** Keywords that hold schemas by name. The names mean nothing: a property may be called `default` or `pattern`. */
export const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

/** The parts of a schema that are schemas themselves or may be referred to as such, each with its place below it. */
export function* innerSchemas(schema: JsonObject): Iterable<[place: string, inner: JsonValue]> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === null || typeof value !== 'object' || DATA_KEYWORDS.has(keyword)) continue
    if (!Array.isArray(value) && !NAMED_SCHEMAS.has(keyword)) yield [keyword, value]
    else for (const [name, inner] of Object.entries(value)) yield [`${keyword}/${name}`, inner]
  }
}
