import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

/** The server that receives a client's messages. */
export interface BridgeTarget {
  /** `http://127.0.0.1:4319/mcp`. */
  url: URL
  key: string
  /** Called with messages that are of no use to the client. */
  complain(message: string): void
}

/** The pauses before the stream of notices is opened again. A server that is being upgraded may be away for minutes. */
const FIRST_RETURN_MS = 1_000
const LAST_RETURN_MS = 30_000

/** Options for tests. */
interface BridgeOptions {
  /** Default: standard input and output. */
  client?: Transport
  firstReturnMs?: number
}

/** A client on standard input and output, connected to `/mcp` of a server. */
export interface Bridge {
  /** Resolves when the client is gone. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

/** A request that has no answer yet. */
interface Pending {
  hangUp: AbortController
  isInitialize: boolean
}

/**
 * Passes every message on unchanged, and the answers back. It decides nothing and stores nothing: the server knows the state of every call,
 * so that neither end loses anything with this process.
 */
export async function openBridge(
  { url, key, complain }: BridgeTarget,
  { client = new StdioServerTransport(), firstReturnMs = FIRST_RETURN_MS }: BridgeOptions = {},
): Promise<Bridge> {
  const server = serverTransport({ url, key }, firstReturnMs, () => {
    // What changed while nothing could be told is not told on a new stream, and after a restart the tools may be others.
    client.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }).catch(() => close())
  })
  const pending = new Map<string | number, Pending>()
  const ended = Promise.withResolvers<void>()

  function answer(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) {
      const asked = pending.get(message.id)
      pending.delete(message.id)
      // The request was cancelled meanwhile: its answer is not needed.
      if (!asked) return
      if (asked.isInitialize && 'result' in message) server.setProtocolVersion(String(message.result.protocolVersion))
    }
    client.send(message).catch(() => close())
  }

  function fail(id: string | number, why: string): void {
    if (!pending.delete(id)) return
    const message = `Countersign at ${url.origin} ${why}`
    client.send({ jsonrpc: '2.0', id, error: { code: -32_000, message } }).catch(() => close())
  }

  async function pass(message: JSONRPCMessage): Promise<void> {
    const cancelled = idOfCancelled(message)
    if (cancelled !== undefined) {
      const asked = pending.get(cancelled)
      pending.delete(cancelled)
      // In the older protocol versions, which have sessions, only the message cancels the call: closing the connection ends only the wait.
      if (server.sessionId !== undefined) await server.send(message).catch(() => undefined)
      asked?.hangUp.abort()
      return
    }
    if (!('method' in message) || !('id' in message)) return server.send(message)
    const { id, method } = message
    const hangUp = new AbortController()
    pending.set(id, { hangUp, isInitialize: method === 'initialize' })
    const lost = () => fail(id, noAnswer('the connection was lost', method))
    await server
      .send(message, { requestSignal: hangUp.signal, onRequestStreamEnd: lost })
      .catch((error: unknown) => fail(id, whyNot(error, method)))
  }

  async function close(): Promise<void> {
    for (const { hangUp } of pending.values()) hangUp.abort()
    pending.clear()
    await Promise.allSettled([client.close(), server.close()])
    ended.resolve()
  }

  client.onmessage = (message) => void pass(message).catch((error: unknown) => complain(`${url.origin} ${whyNot(error)}`))
  client.onclose = () => void close()
  server.onmessage = answer
  await server.start()
  await client.start()
  return { ended: ended.promise, close }
}

/**
 * Returns the transport to the server. The stream of notices that clients of the older protocol versions listen to is opened again for as
 * long as the client is there: requests go on to work without it, so nobody would notice that it is gone.
 * @param onReopened Called whenever the stream was opened again.
 */
function serverTransport(
  { url, key }: Pick<BridgeTarget, 'url' | 'key'>,
  firstReturnMs: number,
  onReopened: () => void,
): StreamableHTTPClientTransport {
  let streams = 0
  return new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    async fetch(input, init) {
      const response = await fetch(input, init)
      if (init?.method === 'GET' && response.ok && streams++ > 0) onReopened()
      return response
    },
    reconnectionOptions: {
      maxRetries: Number.MAX_SAFE_INTEGER,
      initialReconnectionDelay: firstReturnMs,
      maxReconnectionDelay: LAST_RETURN_MS,
      reconnectionDelayGrowFactor: 1.5,
    },
    // The pause that the server asks for does not grow by itself.
    reconnectionScheduler: (reconnect, delayMs, attempts) => {
      const timer = setTimeout(reconnect, Math.min(Math.max(delayMs, firstReturnMs * 1.5 ** attempts), LAST_RETURN_MS))
      return () => clearTimeout(timer)
    },
  })
}

function idOfCancelled(message: JSONRPCMessage): string | number | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const id: unknown = message.params?.requestId
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

const noAnswer = (why: string, method: string | undefined): string =>
  method === 'tools/call'
    ? `did not answer: ${why}. A call that it had taken is not lost: once the server is back, the same call finds it.`
    : `did not answer: ${why}. Start it, or correct --server.`

/** Returns the words of a refusal's problem document, or why there was no answer. */
function whyNot(error: unknown, method?: string): string {
  const text = error instanceof Error ? error.message : String(error)
  const detail = /"detail":("(?:[^"\\]|\\.)*")/.exec(text)?.[1]
  if (detail !== undefined) return `refused this: ${JSON.parse(detail)}.`
  // The words of `fetch` itself are "fetch failed" for all causes.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
  return noAnswer(cause || text, method)
}
