import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { rawRequest } from '../../../../verification/testing/raw-request.ts'
import { createUnconnectedApp } from '../../../../verification/testing/unconnected-app.ts'

/** Connections that were kept reach the routes of a closed application for a moment: these stay. */
async function openClosing() {
  const app = await createUnconnectedApp({ isStopping: () => true })
  await app.close()
  const server = createServer((request, response) => app.routing(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('a request that arrives while the server closes is refused with a problem document, and to a gateway with 403', async () => {
  const { server, url } = await openClosing()
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

test('an EventSource that reconnects while the server closes gets no answer, because it would never try again after a 503', async () => {
  const { server, url } = await openClosing()
  const headers = { accept: 'text/event-stream' }
  await expect(fetch(`${url}/api/events`, { headers })).rejects.toThrow('fetch failed')
  // A client that posts a message gets 503, and a gateway gets a refusal.
  expect((await fetch(`${url}/api/chat`, { method: 'POST', headers })).status).toBe(503)
  expect((await fetch(`${url}/ext-authz/api/events`, { headers })).status).toBe(403)
  server.close()
  await once(server, 'close')
})
