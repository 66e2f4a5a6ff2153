import { createParameterNames } from '@countersign/toolkit/internal'

/** A request target as the server behind a gateway reads it: the path is decoded, and so are the parameters. */
export interface Target {
  path: string
  /** A name may be there more than once. */
  parameters: Record<string, string[]>
}

/** The characters that RFC 3986 allows in a path, except `;`: some servers cut a segment there. */
const PATH = /^\/(?:[A-Za-z0-9\-._~!$&'()*+,=:@/]|%[0-9A-Fa-f]{2})*$/
/** The same for a query. Some servers divide parameters at `;`. Browsers leave brackets and bars as they are. */
const QUERY = /^(?:[A-Za-z0-9\-._~!$&'()*+,=:@/?[\]|]|%[0-9A-Fa-f]{2})*$/

const UNRESERVED = /[A-Za-z0-9\-._~]/

/**
 * Reads a request target that every server reads in the same way. So the server behind the gateway gets the target that the card shows.
 * @param url Path and query as they were sent.
 * @returns The reason of the refusal as a sentence where servers differ: dot segments, empty segments, letters and slashes in disguise, two
 * names of one parameter.
 */
export function readTarget(url: string): { target: Target } | { refused: string } {
  const at = url.indexOf('?')
  const [path, query] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
  const refused = whyNotPath(path) ?? (QUERY.test(query) ? undefined : 'the query has characters that servers read in different ways')
  if (refused !== undefined) return { refused }
  const decoded = decode(path)
  if (decoded === undefined || decode(query) === undefined) return { refused: 'the address is not UTF-8' }
  const parameters = new Map<string, string[]>()
  // URLSearchParams leaves out one question mark at the start: a second one begins the name of a parameter.
  for (const [name, value] of new URLSearchParams(`?${query}`)) parameters.set(name, [...(parameters.get(name) ?? []), value])
  if (parameters.has('__proto__')) return { refused: 'no parameter is called __proto__' }
  const names = createParameterNames()
  for (const name of parameters.keys()) {
    const other = names.like(name)
    if (other !== undefined) return { refused: `servers may read the parameters ${other} and ${name} as one` }
    names.add(name)
  }
  return { target: { path: decoded, parameters: Object.fromEntries(parameters) } }
}

function whyNotPath(path: string): string | undefined {
  if (!PATH.test(path)) return 'the path has characters that servers read in different ways'
  const segments = path.slice(1).split('/')
  if (segments.slice(0, -1).includes('')) return 'the path has an empty segment (//), which some servers leave out'
  if (segments.includes('.') || segments.includes('..')) return 'the path has a dot segment, which servers resolve'
  for (const [triplet = '', hex = ''] of path.matchAll(/%(..)/g)) {
    const code = Number.parseInt(hex, 16)
    const character = String.fromCharCode(code)
    if (code < 0x20 || code === 0x7f) return `the path has the control character ${triplet}`
    if ('/\\%;'.includes(character)) return `the path hides the character ${character} as ${triplet}`
    if (UNRESERVED.test(character)) return `the path hides the character ${character} as ${triplet}, which needs no encoding`
  }
  return undefined
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
