import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'

/** Keeps everything of this process waiting, as a busy machine does. */
function pause(ms: number): void {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs);
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a server of a test closes no idle connection: a request after a pause of the whole process is answered', async () => {
  // Shorter than the default, for a short pause. It is announced in the first answer.
  const server = createServer({ keepAliveTimeout: 3_000, keepAliveTimeoutBuffer: 0 }, (_request, response) => response.end('Here.'))
  const url = await listen(server)
  const ask = async () => (await fetch(url)).text()
  expect([await ask(), await ask()]).toEqual(['Here.', 'Here.'])
  pause(3_200)
  expect(await ask()).toBe('Here.')
  expect(server.keepAliveTimeout).toBe(0)
})
