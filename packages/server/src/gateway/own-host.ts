import { isIP } from 'node:net'
import { CountersignError } from '@countersign/core'
import type { FastifyRequest } from 'fastify'

const HERE = ['localhost', '127.0.0.1', '[::1]']

export interface OwnHosts {
  publicUrl: string | undefined
  /** Names besides those. */
  hosts: readonly string[]
}

/**
 * Refuses pages whose host name was made to resolve to this server (DNS rebinding), and every page of another origin. IP addresses are
 * accepted, because they cannot be rebound.
 * @throws CountersignError `forbidden` for a Host or an Origin that is not this server's.
 */
export function requireOwnHost({ headers: { host = '', origin } }: FastifyRequest, { publicUrl, hosts }: OwnHosts): void {
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : ''
  const own = [...HERE, ...hosts, ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname])]
  if (!own.includes(name) && isIP(name.replace(/^\[|\]$/g, '')) === 0) {
    if (name === '') throw new CountersignError('forbidden', 'the request names no host: its Host header must be that of this server')
    throw new CountersignError('forbidden', `this server is not ${name}: name it with --public-url or gateway.hosts if it is`)
  }
  if (origin === undefined || origin === publicUrl) return
  if (!URL.canParse(origin) || new URL(origin).host !== host) {
    throw new CountersignError('forbidden', 'pages of other origins are not answered here')
  }
}
