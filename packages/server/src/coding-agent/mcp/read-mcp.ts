import type { JsonObject, JsonValue } from '@countersign/core'
import { riskByName } from '@countersign/toolkit/internal'
import { isSensitive } from '../sensitive-names.ts'
import { readAddress } from '../web/read-address.ts'

/** The risks of a call of an MCP tool, read from its name and arguments. They are stored with the call, so that policy can match them. */
export interface McpReading {
  /**
   * False when the name of the tool may be that of two servers: then `server` is empty, so that no rule for a server matches. False also for
   * every tool of Cursor, where `server` is `cursor`.
   */
  understood: boolean
  unclear: string[]
  /** The risks of the call, in words. A server's claims about its own tools lower none of them. */
  risks: string[]
}

const PREFIX = 'mcp__'
const PLAIN = /^[A-Za-z0-9._-]+$/

/**
 * Reads `mcp__server__tool`. If a server or tool has `__` in its own name, the text may name a tool of either of two servers: then `server`
 * is empty, and `name` is the whole text. Undefined for any other tool.
 */
export function readMcpName(hostTool: string): { server: string; name: string } | undefined {
  if (!hostTool.startsWith(PREFIX)) return undefined
  const whole = hostTool.slice(PREFIX.length)
  const places = [...whole].flatMap((_, at) => (at > 0 && whole.startsWith('__', at) && at + 2 < whole.length ? [at] : []))
  const [at] = places
  if (at === undefined) return undefined
  return places.length === 1 ? { server: whole.slice(0, at), name: whole.slice(at + 2) } : { server: '', name: whole }
}

/** No hook of Cursor that asks names the server: a tool of another server may have the same name. */
export const isServerNamed = (host: JsonValue | undefined): boolean => host !== 'cursor'

/** @param tool The host, and what {@link readMcpName} returned. */
export function readMcpCall(
  { host, server, name }: { host: JsonValue | undefined; server: string; name: string },
  input: JsonObject,
): McpReading {
  const unclear = [
    ...(isServerNamed(host) ? [] : ['Cursor does not say which server has this tool']),
    ...(isServerNamed(host) && server === '' ? [`“${name}” may be a tool of two servers`] : []),
    ...(server !== '' && !(PLAIN.test(server) && PLAIN.test(name)) ? ['its name has other signs than letters, digits, ., - and _'] : []),
  ]
  const byName = riskByName({ name, effect: 'write' })
  const risks = [...(byName ? [byName.reason] : []), ...risksIn(input)]
  return {
    understood: unclear.length === 0,
    unclear,
    risks: risks.length <= MAX_RISKS ? risks : [...risks.slice(0, MAX_RISKS), 'and more'],
  }
}

const MAX_RISKS = 8
const MAX_NAME = 60
const ADDRESS = /^\s*[a-z][a-z0-9+.-]*:\/\//i
const ADDRESS_NAME = /(^|[_-])(ur[il]|href)s?$|[a-z]Ur[il]s?$/i

/** Returns the risks of all addresses and file names in the arguments. */
function risksIn(input: JsonObject): string[] {
  const risks = new Set<string>()
  function look(value: JsonValue, argument: string, name: string) {
    if (Array.isArray(value)) for (const one of value) look(one, argument, name)
    else if (typeof value === 'object' && value !== null) for (const [key, one] of Object.entries(value)) look(one, argument, key)
    else if (typeof value === 'string')
      for (const risk of risksOfText(value, name)) risks.add(`its argument ${argument.slice(0, MAX_NAME)} ${risk}`)
  }
  for (const [argument, value] of Object.entries(input)) look(value, argument, argument)
  return [...risks]
}

function risksOfText(text: string, name: string): string[] {
  if (!ADDRESS.test(text) && !ADDRESS_NAME.test(name)) return isSensitive(text) ? ['names a file that usually holds secrets'] : []
  const { understood, risks } = readAddress(text)
  return understood ? risks : ['has an address that programs may read differently', ...risks]
}
