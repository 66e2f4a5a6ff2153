import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as a receiver of webhooks sees it. */
export interface ReceivedEvent {
  path: string
  headers: IncomingHttpHeaders
  /** The bytes that were signed. */
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any
}

/** A loopback receiver of webhooks. */
export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** In the order of arrival. */
  readonly events: readonly ReceivedEvent[]
  /** `<type> <state>` of each, and in `ids` their headers `webhook-id`. */
  types(): string[]
  ids(): string[]
}

/** @param answer How each request is answered; `nth` counts from 1. Default: 204. */
export async function startReceiver(
  answer: (response: ServerResponse, event: ReceivedEvent, nth: number) => unknown = (response) => response.writeHead(204).end(),
  port = 0,
): Promise<Receiver> {
  const events: ReceivedEvent[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const event = { path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) }
    events.push(event)
    await answer(response, event, events.length)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const bound = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${bound}/hook`,
    port: bound,
    events,
    types: () => events.map(({ body }) => [body.type, body.data.state].filter(Boolean).join(' ')),
    ids: () => events.map(({ headers }) => String(headers['webhook-id'])),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
