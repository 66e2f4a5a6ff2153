import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { BrokenPart, textOf } from './parts.ts'

/** The base URL of calls, and whether the configuration names it. */
export interface BaseAddress {
  url: URL
  /** The origin whose address may be private, because a person wrote it down. */
  own: string | undefined
}

/**
 * Returns the base URL of an operation: the first server of the operation, of its path, or of the document.
 * @param address The address that the document was read from, which a relative server refers to.
 * @throws BrokenPart in words that say what to configure instead.
 */
export function serverOf(lists: readonly (JsonValue | undefined)[], address: URL): BaseAddress {
  const list = lists.find((servers) => Array.isArray(servers) && servers.length > 0)
  const server = Array.isArray(list) ? list[0] : undefined
  const written = isObject(server) ? textOf(server.url) : undefined
  if (!isObject(server) || written === undefined) throw new BrokenPart('has no server in its document: say where calls go with baseUrl')
  const text = fillVariables(written, server)
  const isRemote = address.protocol !== 'file:'
  const url = URL.canParse(text) ? new URL(text) : isRemote && URL.canParse(text, address) ? new URL(text, address) : undefined
  if (!url) throw new BrokenPart(`has the server ${text}, which is no whole address: say where calls go with baseUrl`)
  const fault = baseFault(url)
  if (fault !== undefined) throw new BrokenPart(`has the server ${text}, which ${fault}: say where calls go with baseUrl`)
  // Otherwise anybody who can change a document on the network could direct the credentials to another server.
  if (isRemote && url.origin !== address.origin) {
    throw new BrokenPart(`is called at ${url.origin}, which is not where its document is from: write baseUrl if that is right`)
  }
  return { url, own: isRemote ? address.origin : undefined }
}

function fillVariables(text: string, { variables }: JsonObject): string {
  return text.replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = isObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined
    const value = isObject(variable) ? variable.default : undefined
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new BrokenPart(`has the server ${text}, whose variable ${whole} has no default: say where calls go with baseUrl`)
    }
    return String(value)
  })
}

/** Returns why calls cannot be made to a base URL, in words that follow it; undefined when they can. */
export function baseFault(url: URL): string | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'is not an http:// or https:// address'
  if (url.username !== '' || url.password !== '') return 'holds a name or password: it is shown'
  return url.search !== '' || url.hash !== '' || url.pathname.includes('//') ? 'does not end with a host or a path' : undefined
}
