import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { OVERRIDE_HEADERS } from '@countersign/toolkit/internal'
import { BrokenPart, objectAt, textOf } from './parts.ts'
import type { Refs } from './refs.ts'

export type Place = 'path' | 'query' | 'header' | 'cookie'
/** `tabDelimited` is Swagger 2.0's `tsv`, which later versions do not have. */
export type Style = 'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'tabDelimited' | 'deepObject'

/** One parameter of an operation, with the format of its value. */
export interface Parameter {
  /** Its name among the arguments. */
  argument: string
  /** Its name in the request. */
  name: string
  in: Place
  isRequired: boolean
  style: Style
  explode: boolean
  /** Reserved characters are not encoded. */
  allowReserved: boolean
  /** The value is always written as JSON. */
  isJson: boolean
  /** The value may contain slashes, as a path below a path. */
  isManySegments: boolean
  schema: JsonValue
  description: string | undefined
}

const STYLES: Record<Place, readonly Style[]> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'tabDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}

/** Headers that a document may list but that are not parameters, because the call sets them itself. */
const OWN_HEADERS = new Set(
  'accept authorization connection content-length content-type cookie host idempotency-key te trailer transfer-encoding upgrade'.split(' '),
)

/** The argument names that every provider accepts. */
const ARGUMENT = /^[A-Za-z0-9_.-]{1,64}$/

/**
 * Returns the parameters of an operation, its own before those of its path.
 * @throws BrokenPart for a required parameter that cannot be sent.
 */
export function readParameters(pathItem: JsonObject, operation: JsonObject, refs: Refs): Parameter[] {
  const found = new Map<string, Parameter>()
  for (const [list, place] of [
    [operation.parameters, 'parameters'],
    [pathItem.parameters, 'the parameters of its path'],
  ] as const) {
    if (list === undefined || list === null) continue
    if (!Array.isArray(list)) throw new BrokenPart(`has ${place} that are not a list`)
    for (const [index, entry] of list.entries()) {
      const parameter = readParameter(objectAt(refs.follow(entry), `${place}[${index}]`), refs)
      if (!parameter) continue
      const key = `${parameter.in} ${parameter.name}`
      if (!found.has(key)) found.set(key, parameter)
    }
  }
  return [...found.values()]
}

/** Returns the parameter for a placeholder in a path that the document does not describe. */
export const undescribed = (name: string): Parameter => ({
  argument: cleaned(name),
  name,
  in: 'path',
  isRequired: true,
  style: 'simple',
  explode: false,
  allowReserved: false,
  isJson: false,
  isManySegments: false,
  schema: { type: 'string' },
  description: undefined,
})

function readParameter(entry: JsonObject, refs: Refs): Parameter | undefined {
  const name = textOf(entry.name)
  if (name === undefined || name === '') throw new BrokenPart('has a parameter without a name')
  const place = textOf(entry.in)
  if (place === undefined || !Object.hasOwn(STYLES, place)) {
    throw new BrokenPart(
      `has the parameter ${name} in ${JSON.stringify(entry.in ?? null)}, which is none of path, query, header and cookie`,
    )
  }
  const where = place as Place
  if (where === 'header' && OWN_HEADERS.has(name.toLowerCase())) return undefined
  const isRequired = where === 'path' || entry.required === true
  if (where === 'header' && OVERRIDE_HEADERS.includes(name.toLowerCase())) {
    if (!isRequired) return undefined
    throw new BrokenPart(`requires the header ${name}, which could make it another request than its card shows`)
  }
  const style = (textOf(entry.style) ?? STYLES[where][0]) as Style
  if (!STYLES[where].includes(style)) throw new BrokenPart(`has the parameter ${name} with the style ${style}, which is none in ${where}`)
  const content = contentOf(entry, name, refs)
  return {
    argument: name,
    name,
    in: where,
    isRequired,
    style,
    explode: typeof entry.explode === 'boolean' ? entry.explode : style === 'form' || style === 'deepObject',
    allowReserved: entry.allowReserved === true,
    isJson: content !== undefined && isJsonType(content.type),
    isManySegments: entry['x-multi-segment'] === true,
    schema: content ? content.schema : (entry.schema ?? {}),
    description: textOf(entry.description),
  }
}

function contentOf({ content }: JsonObject, name: string, refs: Refs): { type: string; schema: JsonValue } | undefined {
  if (!isObject(content)) return undefined
  const [[type, media] = ['', null]] = Object.entries(content)
  if (!isJsonType(type) && !/^text\//i.test(type))
    throw new BrokenPart(`has the parameter ${name} as ${type || 'nothing'}, which cannot be written here`)
  const described = refs.follow(media)
  return { type, schema: isObject(described) && described.schema !== undefined ? described.schema : {} }
}

/** `application/json`, `application/vnd.api+json; charset=utf-8`, `application/*`. */
export const isJsonType = (type: string): boolean => /^(application\/(\*|json)|\*\/\*|[\w.-]+\/[\w.+-]*\+?json)\s*(;|$)/i.test(type.trim())

/**
 * Names the arguments after the parameters. If two parameters share a name, or one is called `body`, their place is put before the name.
 */
export function named(parameters: readonly Parameter[]): Parameter[] {
  const wanted = parameters.map(({ name }) => (ARGUMENT.test(name) ? name : cleaned(name)))
  const uses = new Map<string, number>([['body', 1]])
  for (const name of wanted) uses.set(name, (uses.get(name) ?? 0) + 1)
  const given = parameters.map((parameter, index) => {
    const name = wanted[index] ?? parameter.name
    return uses.get(name) === 1 ? name : `${parameter.in}_${name}`.slice(0, 64)
  })
  return parameters.map((parameter, index) => {
    const argument = given[index] ?? parameter.name
    return {
      ...parameter,
      argument: given.indexOf(argument) === index && argument !== 'body' ? argument : `${argument.slice(0, 60)}_${index}`,
    }
  })
}

const cleaned = (name: string): string =>
  name
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 64) || 'value'
