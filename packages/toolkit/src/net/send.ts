import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Network } from './network.ts'
import { http } from './node-http.ts'

/** More than any service sends, and little enough to bear from one that means ill. */
const MAX_HEADER_BYTES = 16 * 1024

export interface OutgoingRequest {
  method: string
  url: URL
  /** The origin that the configuration wrote down for this caller: only there may a private address be. */
  own: string | undefined
  headers: Readonly<Record<string, string>>
  body?: string | Uint8Array | undefined
  signal: AbortSignal
  /** Called when the connection stands, before the request goes out on it. */
  onConnected?(): void
}

/**
 * Sends one request, once, over a connection of its own to an address that was just checked, and resolves with the head of the answer.
 * Every request of the server that a configuration or a model can steer is sent here. No redirect is followed: a 3xx is the answer.
 * @throws RefusedAddress before anything is sent; an error for a status below 200, such as an upgrade that nobody asked for; what the resolver, the connection and the abort signal throw.
 */
export async function send(
  network: Network,
  { url, own, method, headers, body, signal, onConnected }: OutgoingRequest,
): Promise<IncomingMessage> {
  const addresses = await orAborted(network.admit(url, own), signal)
  const pinned: LookupFunction = (_hostname, { all }, answer) => {
    const [first] = addresses
    if (all || first === undefined) answer(null, addresses)
    else answer(null, first.address, first.family)
  }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const isEncrypted = url.protocol === 'https:'
  const begin = isEncrypted ? requestHttps : http.request
  const request = begin(url, {
    method,
    headers: {
      'accept-encoding': 'identity',
      ...headers,
      // Node sends the body of a DELETE without its length, and the receiver takes the body for the next request.
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    },
    // No kept connection: one that the service is just closing would turn a definite failure into an unknown outcome, and the name of
    // one was checked long ago.
    agent: false,
    lookup: pinned,
    maxHeaderSize: MAX_HEADER_BYTES,
    signal,
  })
  if (onConnected) request.on('socket', (socket) => socket.once(isEncrypted ? 'secureConnect' : 'connect', onConnected))
  const refuse = (socket: Duplex) => {
    socket.destroy()
    reject(invalidStatus())
  }
  request
    .on('response', (response) => ((response.statusCode ?? 0) < 200 ? refuse(response.socket) : resolve(response)))
    // Without a listener Node closes the connection and says nothing, and even the abort signal would not end the wait.
    .on('upgrade', (_response, socket) => refuse(socket))
    .on('error', reject)
  request.end(body)
  return promise
}

/** An answer that is none: nobody asked to switch protocols, and what comes before an answer never ends a request. With the parser's code. */
const invalidStatus = () => Object.assign(new Error('the status is below 200'), { code: 'HPE_INVALID_STATUS' })

/** A resolver cannot be stopped, but nobody has to wait for it. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
