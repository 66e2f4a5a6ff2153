import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { requireOwnHost } from './own-host.ts'

const asked = (host: string) => requireOwnHost({ headers: { host } } as FastifyRequest, { publicUrl: undefined, hosts: [] })

test('a request that names no host, or a host that is none, is refused with that as the reason', () => {
  expect(() => asked('')).toThrow('the request names no host')
  expect(() => asked('a b')).toThrow('the request names no host')
  expect(() => asked('rebound.example')).toThrow('this server is not rebound.example: name it with --public-url')
  expect(() => asked('localhost:4319')).not.toThrow()
})
