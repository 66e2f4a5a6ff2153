import type { FastifyInstance } from 'fastify'
import { isHttps } from '../identity/cookie.ts'

/** Browser features that no page of the console uses. */
const FEATURES = [
  'accelerometer',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'usb',
]

/** Headers of every answer, including streams. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy': FEATURES.map((feature) => `${feature}=()`).join(', '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Headers of answers that are not pages: shown by itself in a browser, such an answer loads and runs nothing. */
const NO_PAGE = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const YEAR_SECONDS = 31_536_000

/** Sets the headers on every answer that goes through the framework. @param publicUrl Where browsers find the console. */
export function addSecurityHeaders(app: FastifyInstance, publicUrl: string | undefined): void {
  app.addHook('onSend', async (request, reply) => {
    reply.headers(SECURITY_HEADERS)
    if (!reply.hasHeader('content-security-policy')) reply.header('content-security-policy', NO_PAGE)
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
    // On a plain connection the browser would ignore it, or it would lock out installations without a certificate.
    if (isHttps(request, publicUrl)) reply.header('strict-transport-security', `max-age=${YEAR_SECONDS}`)
  })
}
