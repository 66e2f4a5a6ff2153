import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Place } from './adapter.ts'
import type { Call } from './script.ts'

/** Where a tool that runs in a server program makes its effect: a POST of the call, answered with the result. */
export async function receiveEffects({ effect }: Place): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    response.end(await effect(JSON.parse(await text(request)) as Call))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the loopback gave no port')
  return { url: `http://127.0.0.1:${address.port}/`, close: () => void server.close() }
}
