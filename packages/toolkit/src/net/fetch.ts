import type { IncomingMessage } from 'node:http'
import { bodyOf, isCompressed, WITHOUT_BODY } from './body-of.ts'
import { type Network, RefusedAddress } from './network.ts'
import { send } from './send.ts'

/**
 * A `fetch` for libraries that take one, on {@link send}: no redirect is followed, no connection kept, no compression asked for.
 * @param own The origin that the configuration wrote down for this caller.
 * @param onConnected Called when the connection stands, before the request goes out on it: an error before that means that nothing was sent.
 * @throws TypeError `fetch failed` with the cause, as the global one; a RefusedAddress is a cause too.
 * @example
 * createOpenAI({ apiKey, baseURL, fetch: outgoingFetch(network, new URL(baseURL).origin) })
 */
export const outgoingFetch =
  (network: Network, own: string | undefined, onConnected: () => void = () => {}): typeof globalThis.fetch =>
  async (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    // The global class would tell a name and password of the address in its error.
    if (URL.canParse(url) && new URL(url).username !== '')
      throw failed(new RefusedAddress('an address with a name or password is not called'))
    const request = new Request(input, init)
    // The caller's own: that of `request` stops following it once `request` is collected, which is long before a long answer ends.
    const signal = init?.signal ?? (input instanceof Request ? input.signal : request.signal)
    try {
      const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined
      const { method } = request
      const headers = Object.fromEntries(request.headers)
      const response = await send(network, { method, url: new URL(url), own, headers, body, signal, onConnected })
      return toResponse(response)
    } catch (error) {
      signal.throwIfAborted()
      throw failed(error)
    }
  }

const failed = (cause: unknown) => new TypeError('fetch failed', { cause })

function toResponse(message: IncomingMessage): Response {
  const status = message.statusCode ?? 0
  const headers = new Headers()
  for (let at = 0; at + 1 < message.rawHeaders.length; at += 2)
    headers.append(message.rawHeaders[at] ?? '', message.rawHeaders[at + 1] ?? '')
  // As the global one, which leaves the name of the coding in place and takes the length away.
  if (isCompressed(message)) headers.delete('content-length')
  const chunks: AsyncIterator<Uint8Array> = bodyOf(message)[Symbol.asyncIterator]()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          controller.error(new TypeError('terminated', { cause: error }))
        }
      },
      cancel: () => {
        message.destroy()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(WITHOUT_BODY.has(status) ? null : body, { status, statusText: message.statusMessage ?? '', headers })
}
