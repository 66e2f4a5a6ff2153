import { AsyncLocalStorage } from 'node:async_hooks'
import { type Network, outgoingFetch } from '@countersign/toolkit'
import { readRetryAfter } from '@countersign/toolkit/internal'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { MAX_MESSAGE_BYTES } from './limits.ts'

/** The minimum pause before reconnecting, so that a server that asks for an immediate retry does not cause a loop. */
const MIN_RETURN_MS = 500
const MAX_RETURN_MS = 30_000

/** The pauses that servers asked for, by the error of the call that was answered so. The SDK's errors have no headers. */
const asked = new WeakMap<object, number>()

/** Returns how long the server asked not to be called again, in milliseconds; undefined when it did not. */
export const askedPauseMs = (error: unknown): number | undefined => (error instanceof Error ? asked.get(error) : undefined)

/** The errors of requests whose connection stood. */
const late = new WeakSet<object>()

/** Returns true for the error of a request that may have arrived: errors of encryption and of the way there come late, too. */
export const mayHaveArrived = (error: unknown): boolean => error instanceof Error && late.has(error)

/** The answer to the message that is being sent. */
const answered = new AsyncLocalStorage<{ askedMs?: number | undefined }>()

export interface HttpServer {
  url: string
  headers: Readonly<Record<string, string>>
}

/**
 * Returns the transport of one connection over Streamable HTTP. It uses the outbound network: no redirects, and only addresses that the
 * configuration names.
 */
export function httpTransport({ url, headers }: HttpServer, network: Network): StreamableHTTPClientTransport {
  // A request that waits for the rest of such a message fails only when the connection closes.
  const onTooLarge = () => void transport.close()
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    async fetch(input, init) {
      let isConnected = false
      const fetch = outgoingFetch(network, new URL(url).origin, () => {
        isConnected = true
      })
      const response = await fetch(input, init).catch((error: unknown) => {
        if (isConnected && error instanceof Error) late.add(error)
        throw error
      })
      const { status, headers } = response
      const answer = answered.getStore()
      if (answer && (status === 429 || status === 503)) answer.askedMs = readRetryAfter(Object.fromEntries(headers), Date.now())
      return bounded(response, onTooLarge)
    },
    // Otherwise the SDK would follow a 307 within the same origin and send the call again.
    requestInit: { headers, redirect: 'manual' },
    reconnectionOptions: {
      // About three minutes, longer than a server takes to be deployed. Later changes are found by listing the tools again.
      maxRetries: 10,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: MAX_RETURN_MS,
      reconnectionDelayGrowFactor: 2,
    },
    reconnectionScheduler: (reconnect, delayMs) => {
      const timer = setTimeout(reconnect, Math.min(Math.max(delayMs, MIN_RETURN_MS), MAX_RETURN_MS))
      return () => clearTimeout(timer)
    },
  })
  const send = transport.send.bind(transport)
  transport.send = async (...message) => {
    const answer: { askedMs?: number | undefined } = {}
    try {
      await answered.run(answer, () => send(...message))
    } catch (error) {
      if (error instanceof Error && answer.askedMs !== undefined) asked.set(error, answer.askedMs)
      throw error
    }
  }
  return transport
}

/**
 * Returns the response, which fails at a message that is too large. A stream of events may be endless, so each event is measured on its
 * own.
 */
function bounded(response: Response, onTooLarge: () => void): Response {
  if (!response.body) return response
  const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
  let bytes = 0
  let wasLineEnd = false
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes > MAX_MESSAGE_BYTES) {
        controller.error(new Error(`it sent a message of more than ${MAX_MESSAGE_BYTES} bytes`))
        onTooLarge()
        return
      }
      if (isStream) {
        const end = lastEventEnd(chunk, wasLineEnd)
        if (end >= 0) bytes = chunk.length - end
        wasLineEnd = isLineEnd(chunk.at(-1))
      }
      controller.enqueue(chunk)
    },
  })
  return new Response(response.body.pipeThrough(count), {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  })
}

/** Returns the position after the last complete event in the chunk (after an empty line); -1 when no event ends in it. */
function lastEventEnd(chunk: Uint8Array, wasLineEnd: boolean): number {
  for (let at = chunk.length - 1; at >= 0; at--) {
    if (!isLineEnd(chunk[at])) continue
    const before = at === 0 ? wasLineEnd : isLineEnd(chunk[at - 1])
    // CR LF is one line end, so its LF alone does not make an empty line.
    if (before && !(chunk[at] === 10 && chunk[at - 1] === 13)) return at + 1
    if (chunk[at] === 10 && chunk[at - 1] === 13 && at >= 2 && chunk[at - 2] === 10) return at + 1
  }
  return -1
}

const isLineEnd = (byte: number | undefined): boolean => byte === 10 || byte === 13
