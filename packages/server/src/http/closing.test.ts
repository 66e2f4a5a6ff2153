import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { rawRequest } from '../../../../verification/testing/raw-request.ts'
import { createApp, type HttpDeps } from './app.ts'

test('a request that arrives while the server closes is refused with a problem document, and to a gateway with 403', async () => {
  // Nothing behind the first hooks is reached.
  const parts = {
    log: pino({ level: 'silent' }),
    trustedProxies: [],
    consoleDir: undefined,
    publicUrl: undefined,
    corsOrigins: [],
    refusals: { note: () => undefined, flush: async () => undefined },
    tools: { all: () => [], onChange: () => undefined },
    agents: new Map(),
    gateway: { graceSeconds: 30 },
    clock: { nowMs: () => 0, after: () => () => undefined },
    isStopping: () => true,
  }
  const app = await createApp(parts as unknown as HttpDeps)
  await app.close()
  // Connections that were kept reach the routes of a closed application for a moment: these stay.
  const server = createServer((request, response) => app.routing(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const expected: [string, string, number, string][] = [
    ['GET', '/api/actions', 503, 'not_ready'],
    ['POST', '/api/actions', 503, 'not_ready'],
    ['GET', '/nowhere', 503, 'not_ready'],
    ['GET', '/ext-authz/orders', 403, 'forbidden'],
    ['POST', '/ext-authz/orders', 403, 'forbidden'],
  ]
  for (const [method, path, status, code] of expected) {
    const answer = await rawRequest(url, { method, path })
    expect([answer.status, answer.headers['content-type'], JSON.parse(answer.text).code], path).toEqual([
      status,
      'application/problem+json',
      code,
    ])
    expect(answer.headers.connection).toBe('close')
  }
  server.close()
  await once(server, 'close')
})
