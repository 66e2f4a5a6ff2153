import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../../verification/testing/free-port.ts'
import { createPortHold } from './port-hold.ts'

test('a held port answers that the server is not ready, and is free at once when it is given up, whoever is connected', async () => {
  const at = { host: '127.0.0.1', port: await freePort() }
  const hold = createPortHold(at)
  await hold.take()
  const response = await fetch(`http://127.0.0.1:${at.port}/readyz`, { method: 'POST', body: 'x'.repeat(1_000) })
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  const silent = connect(at)
  await once(silent, 'connect')
  silent.on('error', () => undefined)
  await hold[Symbol.asyncDispose]()
  const next = createServer().listen(at)
  await once(next, 'listening')
  next.close()
})
