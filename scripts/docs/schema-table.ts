import type { FieldTexts } from './docstrings.ts'

/** The parts of JSON Schema that the tables show. */
export interface JsonSchema {
  $ref?: string
  $defs?: Record<string, JsonSchema>
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  default?: unknown
  format?: string
  pattern?: string
  description?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: JsonSchema | boolean
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
}

export interface Field {
  path: string
  type: string
  isRequired: boolean
  fallback: string
  text: string
}

/** Every field of a schema with its path: `agents.<name>.model`, `rules[].match.tool`. */
export function fieldsOf(schema: JsonSchema, textsOf: (keys: readonly string[]) => FieldTexts, path = ''): Field[] {
  const at = (step: string) => (path === '' || step.startsWith('[') ? `${path}${step}` : `${path}.${step}`)
  const fields: Field[] = []
  const { properties = {}, required = [], additionalProperties, items } = schema
  const texts = textsOf(Object.keys(properties))
  for (const [name, field] of Object.entries(properties)) {
    fields.push({
      path: at(name),
      type: typeOf(field),
      isRequired: required.includes(name),
      fallback: fallbackOf(field),
      text: texts.get(name) || field.description || '',
    })
    fields.push(...fieldsOf(field, textsOf, at(name)))
  }
  if (typeof additionalProperties === 'object') fields.push(...fieldsOf(additionalProperties, textsOf, at('<name>')))
  if (items) fields.push(...fieldsOf(items, textsOf, at('[]')))
  const options = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return [...fields, ...fieldsOfAny(options.map((option) => fieldsOf(option, textsOf, path)))]
}

/** The fields of alternatives, each once. A field is required only if every alternative with fields requires it. */
function fieldsOfAny(alternatives: readonly Field[][]): Field[] {
  const withFields = alternatives.filter((fields) => fields.length > 0)
  const paths = [...new Set(withFields.flat().map(({ path }) => path))]
  return paths.flatMap((path) => {
    const found = withFields.flatMap((fields) => fields.find((field) => field.path === path) ?? [])
    const [first] = found
    if (!first) return []
    const isRequired = found.length === withFields.length && found.every((field) => field.isRequired)
    return { ...first, isRequired, type: [...new Set(found.map(({ type }) => type))].join(' or ') }
  })
}

/** An empty list or object as the default says no more than that the field may be left out. */
function fallbackOf({ default: value }: JsonSchema): string {
  if (value === undefined || value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)) return ''
  return `\`${JSON.stringify(value)}\``
}

/** A type in words: `string, at most 200 characters`, `list of string`, `"read" or "write"`, `integer, 1 to 100`. */
export function typeOf(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return schema.$ref.includes('__schema') ? 'any JSON' : (schema.$ref.split('/').at(-1) ?? '')
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map((one) => `\`${String(one)}\``).join(', ')
  const options = schema.anyOf ?? schema.oneOf
  if (options) return [...new Set(options.map(typeOf))].join(' or ')
  if (schema.allOf) return schema.allOf.map(typeOf).join(' and ')
  if (schema.type === 'array')
    return `list of ${typeOf(schema.items ?? {})}${schema.maxItems === undefined ? '' : `, at most ${schema.maxItems}`}`
  if (schema.type === 'object') {
    const { additionalProperties: values, properties } = schema
    if (properties && Object.keys(properties).length > 0) return 'object'
    return typeof values === 'object' && Object.keys(values).length > 0 ? `map of ${typeOf(values)}` : 'object'
  }
  const name = Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'any')
  return [name, rangeOf(schema)].filter((part) => part !== '').join(', ')
}

const FIRST_UNSAFE = Number.MAX_SAFE_INTEGER

function rangeOf({ minimum, maximum, exclusiveMinimum, maxLength }: JsonSchema): string {
  if (maxLength !== undefined) return `at most ${maxLength} characters`
  const least = minimum ?? (exclusiveMinimum === undefined ? undefined : exclusiveMinimum + 1)
  const most = maximum === undefined || maximum >= FIRST_UNSAFE ? undefined : maximum
  if (least !== undefined && Math.abs(least) < FIRST_UNSAFE && most !== undefined) return `${least} to ${most}`
  if (most !== undefined) return `at most ${most}`
  return least !== undefined && Math.abs(least) < FIRST_UNSAFE ? `at least ${least}` : ''
}

/** Formats a text for a table cell: one line, with `|` and `<` escaped for Markdown and Vue. */
export const cell = (text: string): string => escapeHtml(text.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|'))

/** Text outside `code` with `<`, `{{` and `*` as they are meant. */
export const escapeHtml = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;').replaceAll('*', '\\*')))
    .join('')

export function fieldTable(fields: readonly Field[]): string {
  const rows = fields.map(({ path, type, isRequired, fallback, text }) => {
    const about = [text, isRequired ? 'Required.' : '', fallback === '' ? '' : `Default ${fallback}.`].filter((part) => part !== '')
    return `| \`${path}\` | ${cell(type)} | ${cell(about.join(' '))} |`
  })
  return ['| field | type | what it does |', '|---|---|---|', ...rows].join('\n')
}
