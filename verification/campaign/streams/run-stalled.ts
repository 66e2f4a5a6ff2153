import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { ApiClient } from '../../testing/api-client.ts'

export interface StalledOptions {
  server: ApiClient
  /** Headers of a person who may decide. */
  headers: Record<string, string>
  /** How many readers take nothing. Default 200. */
  sockets?: number
  /** How many messages of 90 KB are posted meanwhile. Default 200. */
  messages?: number
  /** Memory of the server's process, in bytes. */
  memoryOf(): number
}

export interface StalledReport {
  sockets: number
  /** Bytes posted to each of them. */
  saidBytes: number
  /** The highest growth of the server's memory until all was posted. */
  grewBytes: number
  /** Of the same posts, with and without the stalled readers. */
  postMs: Record<'alone' | 'among', { p50: number; p99: number }>
  /** From a post to its event at a reader that keeps up. */
  eventMs: Record<'alone' | 'among', { p50: number; p99: number }>
}

const TEXT = 'x'.repeat(90_000)

/**
 * Readers that open a stream and then take nothing, half of them from the beginning of a long log and half from now on, while others go on.
 * The configuration is that of `streamsSetup`.
 */
export async function runStalled({ server, headers, sockets = 200, messages = 200, memoryOf }: StalledOptions): Promise<StalledReport> {
  // The same once before, so that the heap has the size that this work needs.
  await sayAll(server, messages, () => undefined)
  const alone = await sayAll(server, messages, () => undefined)
  const { id, path } = await waitingSession(server)
  const stalled: Socket[] = []
  const before = memoryOf()
  let highest = before
  try {
    const open = async (count: number) => {
      stalled.push(...(await Promise.all(Array.from({ length: count }, () => stall(new URL(path, server.url), headers)))))
    }
    await open(sockets / 2)
    const among = await sayAll(server, messages, () => (highest = Math.max(highest, memoryOf())), id)
    await open(sockets / 2)
    for (let i = 0; i < 20; i++) {
      await server.post(`/api/sessions/${id}/messages`, { content: TEXT })
      highest = Math.max(highest, memoryOf())
    }
    return {
      sockets,
      saidBytes: (messages + 20) * TEXT.length,
      grewBytes: highest - before,
      postMs: { alone: alone.postMs, among: among.postMs },
      eventMs: { alone: alone.eventMs, among: among.eventMs },
    }
  } finally {
    for (const socket of stalled) socket.destroy()
  }
}

/** A run that waits for a person: what is posted now is queued, and nothing but its event happens. */
async function waitingSession(server: ApiClient): Promise<{ id: string; path: string }> {
  const { id } = await server.post('/api/sessions', {})
  const path = `/api/sessions/${id}/events`
  using watching = await server.stream(path)
  await server.post(`/api/sessions/${id}/messages`, { content: 'go' })
  await watching.next('session_status', (data) => data.pendingApprovals.length === 2)
  return { id, path }
}

/** Posts messages one after the other, and has a reader that keeps up see each. */
async function sayAll(server: ApiClient, messages: number, onPosted: () => void, session?: string) {
  const id = session ?? (await waitingSession(server)).id
  using reader = await server.stream(`/api/sessions/${id}/events`)
  const posts: number[] = []
  const events: number[] = []
  for (let i = 0; i < messages; i++) {
    const start = performance.now()
    const { messageId } = await server.post(`/api/sessions/${id}/messages`, { content: TEXT })
    posts.push(performance.now() - start)
    await reader.next('message', ({ message }) => message.id === messageId)
    events.push(performance.now() - start)
    onPosted()
  }
  return { postMs: quantiles(posts), eventMs: quantiles(events) }
}

const quantiles = (times: number[]) => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}

/** A reader that hears that its stream is open and then takes nothing more. */
async function stall(url: URL, headers: Record<string, string>): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const lines = [
    `GET ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  await once(socket, 'readable')
  socket.pause()
  return socket
}
