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
 * A cookie of ours: no script reads it, no other site sends it. Behind https its name says so (`__Host-`), and browsers then take it from
 * no other host and from no plain connection.
 * @param publicUrl Where browsers find the console, when that is not simply where it listens.
 */
export function createCookie(what: string, publicUrl: string | undefined): Cookie {
  // Cookies are per host, not per port: the port in the name keeps two servers on one machine apart. Several servers behind one address
  // are one to the browser.
  const nameOf = (request: FastifyRequest): string => {
    const name = publicUrl === undefined ? `${what}_${request.socket.localPort ?? 0}` : what
    return isHttps(request, publicUrl) ? `__Host-${name}` : name
  }
  const attributes = (request: FastifyRequest) =>
    ({ httpOnly: true, sameSite: 'strict', path: '/', secure: isHttps(request, publicUrl) }) as const
  return {
    read: (request) => request.cookies[nameOf(request)],
    set: (request, reply, value, maxAge) => void reply.setCookie(nameOf(request), value, { ...attributes(request), maxAge }),
    clear: (request, reply) => void reply.clearCookie(nameOf(request), attributes(request)),
  }
}
