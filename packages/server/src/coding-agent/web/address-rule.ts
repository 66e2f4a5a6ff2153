import { posix } from 'node:path'
import type { JsonObject } from '@countersign/core'
import { aroundOf, isAlikeAround } from '../around-call.ts'
import { type AddressReading, isPlainAddress } from './read-address.ts'

/** The reading that `work` added to the arguments; empty for a call of an older version. */
const readingOf = ({ address }: JsonObject): Partial<AddressReading> => (address ?? {}) as Partial<AddressReading>

const DATA = ['body', 'data', 'form', 'json']

/** The method of a request; the fetchers of most hosts have no other than GET. */
export function methodOf({ options }: JsonObject): string {
  const { method } = options as JsonObject
  if (typeof method === 'string' && method !== '') return method.toUpperCase()
  return DATA.some((name) => Object.hasOwn(options as JsonObject, name)) ? 'POST' : 'GET'
}

/** True for a request that a condition of a grant may cover: it only asks for an address that every program reads alike. */
export const mayCoverAddress = (args: JsonObject): boolean => methodOf(args) === 'GET' && isPlainAddress(readingOf(args))

const isEqualTo = (name: string, value: unknown): string => `args.${name} == ${JSON.stringify(value)}`

/** A grant from a request to one host is for that host alone, whatever its condition says. */
export function boundHost(args: JsonObject): string {
  const { scheme, host, port } = readingOf(args)
  return Object.entries({ scheme, host, port })
    .map(([name, value]) => isEqualTo(`address.${name}`, value ?? null))
    .join(' && ')
}

/**
 * The narrowest condition for requests like the first of these: this address, with any words of the model about what to do with the
 * answer. Where others asked the same host for other paths, the folder that all of them are in; the query stays.
 * @param calls The arguments of calls of one tool that needed approval and were not declined.
 */
export function addressRule(calls: readonly JsonObject[]): string | undefined {
  const [first] = calls
  const around = first && mayCoverAddress(first) ? aroundOf(first) : undefined
  if (!first || !around) return undefined
  const { scheme, host, port, query } = readingOf(first)
  const isAlike = (call: JsonObject): boolean => {
    const other = readingOf(call)
    return other.scheme === scheme && other.host === host && other.port === port && other.query === query
  }
  const alike = calls.filter((call) => mayCoverAddress(call) && isAlikeAround(call, first) && isAlike(call))
  const paths = [...new Set(alike.map((call) => readingOf(call).path ?? ''))]
  if (paths.length < 2) return [...around, isEqualTo('url', first.url)].join(' && ')
  return [
    ...around,
    boundHost(first),
    isEqualTo('address.query', query),
    `args.address.path.startsWith(${JSON.stringify(sharedFolder(paths))})`,
  ].join(' && ')
}

/** The folder that all paths are in, with a slash at its end. */
function sharedFolder(paths: readonly string[]): string {
  const [folder = [], ...others] = paths.map((path) => posix.dirname(`${path}x`).split('/'))
  const shared = folder.filter((_, at) => others.every((other) => folder.slice(0, at + 1).every((name, place) => other[place] === name)))
  return `${shared.join('/')}/`.replace('//', '/')
}
