import fc from 'fast-check'

/** As much of JSON Schema as the server's own document uses. */
export interface DrawnSchema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: DrawnSchema[]
  oneOf?: DrawnSchema[]
  properties?: Record<string, DrawnSchema>
  required?: string[]
  additionalProperties?: DrawnSchema | boolean
  items?: DrawnSchema
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  minimum?: number
  maximum?: number
}

const anyJson = fc.jsonValue({ maxDepth: 2 })

/**
 * Values that fit a schema, small ones mostly.
 * @param resolve Finds what a `$ref` stands for.
 */
export function valuesOf(schema: DrawnSchema, resolve: (ref: string) => DrawnSchema, depth = 0): fc.Arbitrary<unknown> {
  const of = (inner: DrawnSchema) => valuesOf(inner, resolve, depth + 1)
  if (schema.$ref !== undefined) return of(resolve(schema.$ref))
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const either = schema.anyOf ?? schema.oneOf
  if (either) return fc.oneof(...either.map(of))
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => of({ ...schema, type })))
  switch (schema.type) {
    case 'string':
      return textOf(schema)
    case 'integer':
    case 'number': {
      const min = Math.max(schema.minimum ?? -100, -100)
      return fc.integer({ min, max: Math.max(Math.min(schema.maximum ?? 1_000, 1_000), min) })
    }
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array': {
      const minLength = schema.minItems ?? 0
      return fc.array(of(schema.items ?? {}), { minLength, maxLength: Math.max(minLength, Math.min(schema.maxItems ?? 2, 2)) })
    }
    case 'object': {
      if (depth > 6) return fc.constant({})
      const { properties, required = [], additionalProperties } = schema
      if (!properties)
        return fc.dictionary(fc.string({ maxLength: 5 }), of(additionalProperties === true ? {} : additionalProperties || {}), {
          maxKeys: 3,
        })
      return fc.record(Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, of(inner)])), { requiredKeys: required })
    }
    default:
      return anyJson
  }
}

function textOf({ minLength = 0, maxLength = 30, pattern }: DrawnSchema): fc.Arbitrary<string> {
  const short = fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 30)), unit: 'binary' })
  if (pattern === undefined) return short
  const times = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString())
  return fc.oneof(times, fc.constantFrom('PT5M', 'P1D', '/', '"1"'), short)
}
