import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../../verification/testing/free-port.ts'
import { requireFreePort } from './require-free-port.ts'

test('a port that is free stays free: until the server listens, a connection is refused and not answered', async () => {
  const at = { host: '127.0.0.1', port: await freePort() }
  await requireFreePort(at)
  await expect(fetch(`http://127.0.0.1:${at.port}/readyz`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  const next = createServer().listen(at)
  await once(next, 'listening')
  await expect(requireFreePort(at)).rejects.toThrow(`port ${at.port} is in use`)
  next.close()
})
