import type { FastifyReply, FastifyRequest } from 'fastify'

/** Sets, reads and clears one cookie of the console. */
export interface Cookie {
  read(request: FastifyRequest): string | undefined
  set(request: FastifyRequest, reply: FastifyReply, value: string, maxAgeSeconds: number): void
  clear(request: FastifyRequest, reply: FastifyReply): void
}

/** True when the browser speaks https with us, itself or with the proxy before us. */
export const isHttps = (request: FastifyRequest, publicUrl: string | undefined): boolean =>
  publicUrl === undefined ? request.protocol === 'https' : publicUrl.startsWith('https:')

/**
 * True when the page that asks has an https address, so that a cookie reaches this host and port alone. Cookies know no ports: over plain
 * http, every server on the same host would be sent them.
 */
export const takesCookies = (request: FastifyRequest, publicUrl: string | undefined): boolean =>
  isHttps(request, publicUrl) && (request.headers.origin?.startsWith('https:') ?? true)

/**
 * A cookie of ours, for https alone: no script reads it, no other site sends it, and by its name (`__Host-`) browsers take it from no other
 * host and from no plain connection.
 * @param publicUrl Where browsers find the console, when that is not simply where it listens.
 */
export function createCookie(what: string, publicUrl: string | undefined): Cookie {
  // The port in the name keeps two servers apart that one proxy serves at different ports. Several servers behind one address are one to
  // the browser.
  const nameOf = (request: FastifyRequest): string =>
    `__Host-${publicUrl === undefined ? `${what}_${request.socket.localPort ?? 0}` : what}`
  const ATTRIBUTES = { httpOnly: true, sameSite: 'strict', path: '/', secure: true } as const
  return {
    read: (request) => (takesCookies(request, publicUrl) ? request.cookies[nameOf(request)] : undefined),
    set: (request, reply, value, maxAge) => void reply.setCookie(nameOf(request), value, { ...ATTRIBUTES, maxAge }),
    clear: (request, reply) => void reply.clearCookie(nameOf(request), ATTRIBUTES),
  }
}
