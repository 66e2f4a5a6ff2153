import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { foldParameter, isHeader } from '@countersign/toolkit/internal'
import type { Parameter } from './parameters.ts'
import { BrokenPart, textOf } from './parts.ts'
import type { Refs } from './refs.ts'

/** The credentials of a call, by their place in the request. */
export interface Credentials {
  headers: Readonly<Record<string, string>>
  query: readonly (readonly [string, string])[]
  cookies: readonly (readonly [string, string])[]
  /** The schemes that the document requires and that have no value. */
  missing: readonly string[]
}

const NOTHING: Credentials = { headers: {}, query: [], cookies: [], missing: [] }

/** Returns the security schemes of a document by name. */
export function securitySchemes(root: JsonObject, refs: Refs): ReadonlyMap<string, JsonObject> {
  const components = isObject(root.components) ? root.components : {}
  const schemes = isObject(components.securitySchemes) ? components.securitySchemes : {}
  const found = new Map<string, JsonObject>()
  for (const [name, scheme] of Object.entries(schemes)) {
    const described = refs.follow(scheme)
    if (isObject(described)) found.set(name, described)
  }
  return found
}

/** Returns the fault of a value that was given for a scheme, in words that follow its name; undefined when the value is valid. */
export function schemeFault(scheme: JsonObject | undefined, value: string, known: readonly string[]): string | undefined {
  if (!scheme) return `is not a security scheme of the document; it has ${known.length === 0 ? 'none: use headers' : known.join(', ')}`
  try {
    const place = placeOf(scheme, value)
    const isSendable = place.in !== 'header' || isHeader(place.name, place.value)
    return isSendable ? undefined : 'cannot be sent in a header (it is not shown here): is there a line break in it?'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * Returns the credentials of one operation: the first of its alternatives that has a value for every scheme. If no alternative is complete,
 * no credentials are sent, and the schemes of the first one are `missing`.
 * @param security Of the operation, or of the document where the operation has none.
 */
export function credentialsOf(
  security: JsonValue | undefined,
  schemes: ReadonlyMap<string, JsonObject>,
  values: Readonly<Record<string, string>>,
): Credentials {
  const ways = (Array.isArray(security) ? security : []).filter(isObject).map((way) => Object.keys(way))
  if (ways.length === 0) return NOTHING
  const given = (name: string): boolean => Object.hasOwn(values, name) && schemes.has(name)
  const way = ways.find((names) => names.length > 0 && names.every(given))
  if (!way) return ways.some((names) => names.length === 0) ? NOTHING : { ...NOTHING, missing: ways[0] ?? [] }
  const all = way.map((name) => placeOf(schemes.get(name) ?? {}, values[name] ?? ''))
  return {
    headers: Object.fromEntries(all.flatMap((place) => (place.in === 'header' ? [[place.name.toLowerCase(), place.value]] : []))),
    query: all.flatMap((place) => (place.in === 'query' ? [[place.name, place.value] as const] : [])),
    cookies: all.flatMap((place) => (place.in === 'cookie' ? [[place.name, place.value] as const] : [])),
    missing: [],
  }
}

/** True for a parameter whose value every call gets from the configured headers or from a credential, whatever an argument says. */
export function isSetBy(
  { headers }: { headers: Readonly<Record<string, string>> },
  credentials: Credentials,
  { in: place, name }: Pick<Parameter, 'in' | 'name'>,
): boolean {
  const isSame = (given: string) => given.toLowerCase() === name.toLowerCase()
  const isPair = ([given]: readonly [string, string]) => given === name
  if (place === 'header') return [...Object.keys(headers), ...Object.keys(credentials.headers)].some(isSame)
  if (place === 'query') return credentials.query.some(([given]) => foldParameter(given) === foldParameter(name))
  return place === 'cookie' && (credentials.cookies.some(isPair) || cookieNames(headers).includes(name))
}

const cookieNames = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    name.toLowerCase() === 'cookie' ? value.split(';').map((pair) => pair.split('=')[0]?.trim() ?? '') : [],
  )

interface SecretPlace {
  in: 'header' | 'query' | 'cookie'
  name: string
  value: string
}

/** @throws BrokenPart for a scheme whose secret has no known place in a request. */
function placeOf(scheme: JsonObject, value: string): SecretPlace {
  const type = textOf(scheme.type)
  if (type === 'apiKey') {
    const place = textOf(scheme.in)
    const name = textOf(scheme.name)
    if (name === undefined || (place !== 'header' && place !== 'query' && place !== 'cookie')) {
      throw new BrokenPart('is an apiKey of which the document does not say where it stands')
    }
    return { in: place, name, value }
  }
  const http = type === 'http' ? textOf(scheme.scheme)?.toLowerCase() : undefined
  const words = type === 'oauth2' || type === 'openIdConnect' || http === 'bearer' ? `Bearer ${value}` : undefined
  if (words !== undefined) return { in: 'header', name: 'authorization', value: words }
  if (http === 'basic' && !value.includes(':')) throw new BrokenPart('is http basic, which takes name:password')
  if (http === 'basic') return { in: 'header', name: 'authorization', value: `Basic ${Buffer.from(value).toString('base64')}` }
  if (http !== undefined) return { in: 'header', name: 'authorization', value: `${textOf(scheme.scheme)} ${value}` }
  throw new BrokenPart(`is of the kind ${type ?? 'none'}, which cannot be filled here`)
}
