import type { JsonValue } from '@countersign/client'

/** The part of JSON Schema that the form supports. Anything else is edited as JSON. */
export type Schema = {
  type?: string | string[]
  title?: string
  description?: string
  enum?: JsonValue[]
  const?: JsonValue
  default?: JsonValue
  readOnly?: boolean
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  format?: string
}

export type FieldKind = 'locked' | 'choice' | 'text' | 'number' | 'switch' | 'object' | 'list' | 'json'

const LONG_TEXT = 80

/**
 * How a value of this schema is edited.
 * @example
 * fieldKind({ type: 'integer', minimum: 1 }) // 'number'
 */
export function fieldKind(schema: Schema): FieldKind {
  if (schema.const !== undefined || schema.readOnly) return 'locked'
  if (schema.enum && schema.enum.length > 0 && schema.enum.every((value) => typeof value !== 'object' || value === null)) return 'choice'
  switch (schema.type) {
    case 'string':
      return 'text'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'switch'
    case 'object':
      return schema.properties ? 'object' : 'json'
    case 'array':
      return schema.items && !Array.isArray(schema.items) ? 'list' : 'json'
    default:
      return 'json'
  }
}

/** Returns the initial value of a new entry, of the type that the schema requires. */
export function emptyValue(schema: Schema): JsonValue {
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  switch (fieldKind(schema)) {
    case 'choice':
      return schema.enum?.[0] ?? null
    case 'text':
      return ''
    case 'number':
      return schema.minimum ?? 0
    case 'switch':
      return false
    case 'list':
      return []
    case 'object':
      return Object.fromEntries((schema.required ?? []).map((name) => [name, emptyValue(schema.properties?.[name] ?? {})]))
    default:
      return null
  }
}

/** Returns true for a text that needs more than one line. */
export const isLongText = (value: string, { maxLength = 0 }: Schema): boolean =>
  /[\r\n]/.test(value) || value.length > LONG_TEXT || maxLength > 1_000
