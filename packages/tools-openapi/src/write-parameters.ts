import { type JsonObject, type JsonValue, ToolError } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { asText, type Finding, member, pathValueFault } from '@countersign/toolkit/internal'
import type { Parameter, Style } from './parameters.ts'
import { BrokenPart } from './parts.ts'

/** A part of a path: percent-encoded fixed text, or the name of a parameter. */
export type PathPart = string | { name: string }

/** Matches a valid header value: visible ASCII, with spaces only between other characters. */
const PLAIN = /^(?! )[\x20-\x7e]*(?<! )$/
const DELIMITERS = { spaceDelimited: '%20', pipeDelimited: '%7C', tabDelimited: '%09' } as const

/**
 * Parses a path such as `/repos/{owner}/{repo}`.
 * @throws BrokenPart for a path that cannot be called as written.
 */
export function readPath(path: string): PathPart[] {
  if (!path.startsWith('/')) throw new BrokenPart('has a path that does not start with a slash')
  if (/[?#]/.test(path)) throw new BrokenPart('has a path with a query or a fragment in it, which no parameter can fill')
  const parts = path.split(/\{([^{}]*)\}/).map((text, index): PathPart => (index % 2 === 1 ? { name: text } : encodeLiteral(text)))
  if (parts.some((part) => typeof part === 'string' && /[{}]/.test(part))) throw new BrokenPart('has a path with a lone brace')
  const sample = parts.map((part) => (typeof part === 'string' ? part : 'x')).join('')
  if (sample.startsWith('//')) throw new BrokenPart('has a path that begins with two slashes')
  if (new URL(`http://host${sample}`).pathname !== sample)
    throw new BrokenPart('has a path with a dot segment or a badly encoded character')
  return parts.filter((part) => part !== '')
}

const encodeLiteral = (text: string): string =>
  text.replaceAll(/[^A-Za-z0-9\-._~!$&'()*+,;=:@%/{}]/g, (character) => encodeURIComponent(character))

/**
 * Returns the faults of arguments that do not fit their place in the request, in words that follow the name.
 * @param mayChange False for an operation that only reads.
 */
export function parameterFindings(parameters: readonly Parameter[], args: JsonObject, mayChange: boolean): Finding[] {
  return parameters.flatMap((parameter) => {
    const value = member(args, parameter.argument)
    if (value === undefined) return []
    const words = faultOf(parameter, value) ?? (mayChange ? unsentFault(parameter, value) : undefined)
    return words === undefined ? [] : [{ path: [parameter.argument], words }]
  })
}

function faultOf(parameter: Parameter, value: JsonValue): string | undefined {
  if (parameter.in === 'path') {
    const pieces = piecesOf(parameter, value)
    if (pieces.length === 0) return 'must not be empty: it is part of a path'
    // The dot that separates entries cannot be encoded.
    const isSplit = parameter.style === 'label' && parameter.explode && typeof value === 'object' && !parameter.isJson
    if (isSplit && pieces.some((piece) => asText(piece).includes('.'))) return 'must have entries without dots: it is part of a path'
    return pieces
      .flatMap(segmentsOf)
      .map(pathValueFault)
      .find((fault) => fault !== undefined)
  }
  if (parameter.in === 'query') return splitFault(parameter, value)
  if (parameter.in === 'header') {
    // Headers are not encoded, so a comma in an entry would split it.
    const isSplit =
      typeof value === 'object' && !parameter.isJson && piecesOf(parameter, value).some((piece) => /,|^\s|\s$/.test(asText(piece)))
    if (isSplit) return 'must have entries without commas: it is sent as a list in a header'
    return PLAIN.test(headerText(parameter, value)) ? undefined : 'must be plain text on one line: it is sent as a header'
  }
  if (parameter.in === 'cookie' && typeof value === 'object') return 'must be text, a number or true/false: it is sent in a cookie'
  return undefined
}

/**
 * Returns why a value would be left out of the request: the card would show it, and `DELETE /tasks` without the empty list of ids deletes
 * all of them.
 */
function unsentFault({ in: place, style, isJson }: Parameter, value: JsonValue): string | undefined {
  if (place === 'path' || isJson) return undefined
  if (isNothing(value)) return `must not be ${value === null ? 'null' : 'empty'}: it would not be sent`
  return style === 'deepObject' && holdsEmpty(value) ? 'must not hold an empty list or object: it would not be sent' : undefined
}

const holdsEmpty = (value: JsonValue): boolean =>
  value !== null && typeof value === 'object' && (isNothing(value) || Object.values(value).some(holdsEmpty))

/**
 * Returns the segments of a value. A slash in a value is sent as `%2F` (RFC 6570, simple expansion), but some services decode it before
 * routing. Each segment therefore has to be valid on its own: no dots, not empty, no slash in another spelling.
 */
const segmentsOf = (piece: JsonValue): JsonValue[] => (typeof piece === 'string' ? piece.split('/') : [piece])

/** Returns the values that a parameter consists of. */
function piecesOf({ isJson }: Pick<Parameter, 'isJson'>, value: JsonValue): JsonValue[] {
  if (isJson) return [JSON.stringify(value)]
  if (Array.isArray(value)) return value.map(plain)
  return isObject(value) ? Object.entries(value).flatMap(([key, child]) => [key, plain(child)]) : [value]
}

/** Returns a value that no style can express (a list in a list) as JSON. */
const plain = (value: JsonValue): JsonValue => (value !== null && typeof value === 'object' ? JSON.stringify(value) : value)

/** Returns the path of a call. @throws ToolError `broken` for an invalid argument, which the check of arguments refuses earlier. */
export function writePath(parts: readonly PathPart[], parameters: readonly Parameter[], args: JsonObject): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part
      const parameter = parameters.find(({ name, in: place }) => place === 'path' && name === part.name)
      const value = parameter && member(args, parameter.argument)
      if (!parameter || value === undefined || faultOf(parameter, value) !== undefined) {
        throw new ToolError('broken', `A value cannot stand in the path for {${part.name}}. Nothing was sent.`)
      }
      return pathText(parameter, value)
    })
    .join('')
}

function pathText(parameter: Parameter, value: JsonValue): string {
  const { style, explode, name } = parameter
  const encode = (piece: JsonValue) => encodeURIComponent(asText(piece))
  if (parameter.isManySegments && typeof value === 'string') return value.split('/').map(encode).join('/')
  const pieces = piecesOf(parameter, value).map(encode)
  const pairs =
    isObject(value) && !parameter.isJson ? Object.entries(value).map(([key, child]) => `${encode(key)}=${encode(plain(child))}`) : undefined
  const separator = style === 'label' ? '.' : style === 'matrix' ? ';' : ','
  const isMany = typeof value === 'object' && !parameter.isJson
  if (style === 'matrix') {
    if (!explode || !isMany) return `;${encode(name)}=${pieces.join(',')}`
    return (pairs ?? pieces.map((piece) => `${encode(name)}=${piece}`)).map((pair) => `;${pair}`).join('')
  }
  const text = explode ? (pairs ?? pieces).join(separator) : pieces.join(',')
  return style === 'label' ? `.${text}` : text
}

/** Returns the query of a call, without the question mark. */
export function writeQuery(parameters: readonly Parameter[], args: JsonObject): string[] {
  return parameters.flatMap((parameter) => {
    const value = member(args, parameter.argument)
    return parameter.in !== 'query' || value === undefined ? [] : writePairs(parameter, value)
  })
}

/** The properties that decide how the pairs of a query or a form are written. */
export type PairStyle = Pick<Parameter, 'name' | 'style' | 'explode' | 'allowReserved' | 'isJson'>

const SEPARATORS: Partial<Record<Style, [text: string, words: string]>> = {
  spaceDelimited: [' ', 'spaces'],
  pipeDelimited: ['|', 'the sign |'],
  tabDelimited: ['\t', 'tabs'],
}

/** Returns why a list cannot be written in its style: its separator is encoded, so it would look the same as one inside an entry. */
export function splitFault(style: Omit<PairStyle, 'name' | 'allowReserved'>, value: JsonValue): string | undefined {
  const [separator, words] = SEPARATORS[style.style] ?? []
  if (separator === undefined || style.explode || style.isJson || value === null || typeof value !== 'object') return undefined
  const isSplit = piecesOf(style, value).some((piece) => asText(piece).includes(separator))
  return isSplit ? `must have entries without ${words}: it is sent as a list joined by them` : undefined
}

/** Returns the pairs `name=value` of a value, percent-encoded. */
export function writePairs({ name, style, explode, allowReserved, isJson }: PairStyle, value: JsonValue): string[] {
  const encode = (piece: JsonValue) => (allowReserved ? encodeReserved(asText(piece)) : encodeURIComponent(asText(piece)))
  // A comma inside a piece is encoded, because commas separate the pieces.
  const encodeListed = (piece: JsonValue) => encode(piece).replaceAll(',', '%2C')
  const pair = (key: string, piece: JsonValue) => `${encodeURIComponent(key)}=${encode(piece)}`
  if (isJson) return [pair(name, JSON.stringify(value))]
  if (value === null) return []
  if (style === 'deepObject' && typeof value === 'object') return deepPairs(name, value).map(([key, piece]) => pair(key, piece))
  if (Array.isArray(value)) {
    if (explode) return value.map((entry) => pair(name, plain(entry)))
    return value.length === 0
      ? []
      : [`${encodeURIComponent(name)}=${value.map((entry) => encodeListed(plain(entry))).join(delimiterOf(style))}`]
  }
  if (!isObject(value)) return [pair(name, value)]
  const members = Object.entries(value)
  if (explode) return members.map(([key, child]) => pair(key, plain(child)))
  if (members.length === 0) return []
  return [
    `${encodeURIComponent(name)}=${members.flatMap(([key, child]) => [encodeListed(key), encodeListed(plain(child))]).join(delimiterOf(style))}`,
  ]
}

const delimiterOf = (style: string): string => (Object.hasOwn(DELIMITERS, style) ? DELIMITERS[style as keyof typeof DELIMITERS] : ',')

/**
 * Returns the pairs of a deep object. Below the first level, which the standard leaves open, they are written the same way:
 * `filter[size][0]=5`.
 */
function deepPairs(name: string, value: JsonValue): [string, JsonValue][] {
  if (value === null || typeof value !== 'object') return [[name, value]]
  return Object.entries(value).flatMap(([key, child]) => deepPairs(`${name}[${key}]`, child))
}

/** Percent-encodes a value, except for reserved characters that cannot end it. */
const encodeReserved = (text: string): string =>
  encodeURIComponent(text).replaceAll(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/g, (code) => decodeURIComponent(code))

const headerText = ({ isJson, explode }: Parameter, value: JsonValue): string => {
  if (isJson) return JSON.stringify(value)
  if (Array.isArray(value)) return value.map((entry) => asText(plain(entry))).join(',')
  if (!isObject(value)) return asText(value)
  return Object.entries(value)
    .map(([key, child]) => `${key}${explode ? '=' : ','}${asText(plain(child))}`)
    .join(',')
}

/** True for a value that can only be expressed by leaving it out. */
const isNothing = (value: JsonValue): boolean => value === null || (typeof value === 'object' && Object.keys(value).length === 0)

/** Returns the headers and cookies of a call that come from arguments. */
export function writeHeaders(parameters: readonly Parameter[], args: JsonObject): { headers: Record<string, string>; cookies: string[] } {
  const headers: Record<string, string> = {}
  const cookies: string[] = []
  for (const parameter of parameters) {
    const value = member(args, parameter.argument)
    if (value === undefined || (isNothing(value) && !parameter.isJson)) continue
    if (parameter.in === 'header') headers[parameter.name.toLowerCase()] = headerText(parameter, value)
    if (parameter.in === 'cookie') cookies.push(`${parameter.name}=${encodeURIComponent(asText(value))}`)
  }
  return { headers, cookies }
}
