import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A service that thinks for agents and has no time: it answers every request with 529, as busy providers do. */
export async function startBusyProvider(): Promise<{ url: string }> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(529, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { type: 'overloaded_error', message: 'Everybody is asking at once.' } }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // It lasts as long as whoever started it.
  server.unref()
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
