import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { outgoingFetch } from './fetch.ts'
import { openNetwork } from './network.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

test('an abort ends an answer that goes on and on, however long ago its request was made', async () => {
  const closed = Promise.withResolvers<void>()
  const server = createServer((_request, response) => {
    response.on('close', closed.resolve).write('a')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = new AbortController()
  const { body } = await outgoingFetch(openNetwork(), origin)(origin, { signal: stop.signal })
  const reader = body?.getReader()
  await reader?.read()
  // By then nothing of the request is needed any more but its abort.
  for (let i = 0; i < 5; i++) {
    await setImmediate()
    collectGarbage()
  }
  const ended = expect(reader?.read()).rejects.toThrow('terminated')
  stop.abort()
  await ended
  await closed.promise
  server.close()
})
