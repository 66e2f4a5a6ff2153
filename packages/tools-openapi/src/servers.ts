import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/toolkit/internal'
import { BrokenPart, textOf } from './parts.ts'

/** Where calls go, and whether the configuration itself says so. */
export interface BaseAddress {
  url: URL
  /** The origin where a private address is fine: only one that a person wrote down. */
  own: string | undefined
}

/**
 * Where an operation is called: at its own first server, its path's, the document's.
 * @param address Where the document was read from; a relative server is meant from there.
 * @throws BrokenPart in words that say what to write instead.
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
  // Who can change what is read from the network could otherwise send our credentials wherever they like.
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

/** Why calls cannot go there, in words that follow the address; undefined when they can. */
export function baseFault(url: URL): string | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'is not an http:// or https:// address'
  if (url.username !== '' || url.password !== '') return 'holds a name or password: it is shown'
  return url.search !== '' || url.hash !== '' || url.pathname.includes('//') ? 'does not end with a host or a path' : undefined
}
