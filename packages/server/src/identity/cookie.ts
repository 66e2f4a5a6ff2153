import type { FastifyReply, FastifyRequest } from 'fastify'

/** Sets, reads and clears one cookie of the console. */
export interface Cookie {
  read(request: FastifyRequest): string | undefined
  set(request: FastifyRequest, reply: FastifyReply, value: string, maxAgeSeconds: number): void
  clear(request: FastifyRequest, reply: FastifyReply): void
}

/** Returns true when the browser's connection is https, to this server or to the proxy before it. */
export const isHttps = (request: FastifyRequest, publicUrl: string | undefined): boolean =>
  publicUrl === undefined ? request.protocol === 'https' : publicUrl.startsWith('https:')

/**
 * Returns true when the requesting page has an https address, so that a cookie reaches this host and port alone. Cookies ignore ports: over
 * plain http, every server on the same host would receive them.
 */
export const takesCookies = (request: FastifyRequest, publicUrl: string | undefined): boolean =>
  isHttps(request, publicUrl) && (request.headers.origin?.startsWith('https:') ?? true)

/**
 * Creates a cookie for https alone: no script reads it, no other site sends it, and because of its name (`__Host-`) browsers accept it from
 * no other host and from no plain connection.
 * @param publicUrl Where browsers find the console, when that differs from where it listens.
 */
export function createCookie(what: string, publicUrl: string | undefined): Cookie {
  // The port in the name separates two servers that one proxy serves at different ports. Several servers behind one address are one server
  // to the browser.
  const nameOf = (request: FastifyRequest): string =>
    `__Host-${publicUrl === undefined ? `${what}_${request.socket.localPort ?? 0}` : what}`
  const ATTRIBUTES = { httpOnly: true, sameSite: 'strict', path: '/', secure: true } as const
  return {
    read: (request) => (takesCookies(request, publicUrl) ? request.cookies[nameOf(request)] : undefined),
    set: (request, reply, value, maxAge) => void reply.setCookie(nameOf(request), value, { ...ATTRIBUTES, maxAge }),
    clear: (request, reply) => void reply.clearCookie(nameOf(request), ATTRIBUTES),
  }
}
