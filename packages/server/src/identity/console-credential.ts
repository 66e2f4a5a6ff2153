import type { Cookie } from './cookie.ts'
import { createCookie, takesCookies } from './cookie.ts'

/** The header in which the console sends its secret over plain http, and in which the server returns a new one. */
export const CONSOLE_HEADER = 'countersign-console'

/**
 * Carries the credential of a signed-in console. Over https: a `__Host-` cookie. Over plain http: a header with a secret that the page
 * keeps in the storage of its own origin, because a cookie would also be sent to every other port of the host, and one of these may be the
 * agent's development server. A cookie is never accepted over plain http.
 * @param publicUrl Where browsers find the console, when that differs from where it listens.
 */
export function createConsoleCredential(publicUrl: string | undefined): Cookie {
  const cookie = createCookie('countersign', publicUrl)
  return {
    read(request) {
      const sent = request.headers[CONSOLE_HEADER]
      return typeof sent === 'string' ? sent : cookie.read(request)
    },
    set(request, reply, secret, maxAgeSeconds) {
      if (request.headers[CONSOLE_HEADER] === undefined && takesCookies(request, publicUrl)) {
        cookie.set(request, reply, secret, maxAgeSeconds)
      } else {
        reply.header(CONSOLE_HEADER, secret)
      }
    },
    clear(request, reply) {
      if (takesCookies(request, publicUrl)) cookie.clear(request, reply)
    },
  }
}
