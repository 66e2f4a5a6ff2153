import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { nowMs } from './engine.ts'
import { forkServer } from './fork-server.ts'
import { statsOf } from './stats.ts'
import type { Commits, Memory, Question } from './subscribers-process.ts'

const KEY = 'the-key-of-the-benchmarks'
/** Open and closed again first, so that the code of a stream is loaded and compiled. */
const WARM_UP_STREAMS = 200
/** How many requests are under way while keys are made and streams are opened. */
const AT_ONCE = 32

export interface SubscribersOptions {
  streams: number
  /** How many persons the streams belong to, each with a key of their own. */
  people: number
  /** Events that are committed alone, one after the other. */
  renames: number
  /** Gated turns: message, proposal, approval, execution and answer. */
  turns: number
}

async function startServer(turns: number) {
  const { url, ask, end } = await forkServer<Question>('./subscribers-process.ts', [KEY, String(turns)], ['--expose-gc'])
  return {
    url,
    follow: (sessionId: string) => ask({ ask: 'follow', sessionId }),
    memory: () => ask({ ask: 'memory' }) as Promise<Memory>,
    cpuMs: () => ask({ ask: 'cpu' }) as Promise<number>,
    idle: () => ask({ ask: 'idle' }),
    commits: () => ask({ ask: 'commits' }) as Promise<Commits>,
    end: () => end({ ask: 'end' }),
    async call(path: string, method = 'GET', body?: unknown) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${KEY}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      return response.json()
    },
  }
}

/** Runs `work` for each number below `count`, some at once. */
async function forEach(count: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

const ID = /^id: (\d+)$/gm

/** A reader on a bare socket, so that the readers of one process take little of its time. */
class Subscriber {
  readonly arrivals = new Map<number, number>()
  #last = 0
  #wanted = 0
  #reached = () => {}
  readonly #socket: Socket

  constructor(url: URL, path: string, key: string) {
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true })
    this.#socket.setEncoding('latin1').on('data', (chunk) => this.#take(String(chunk)))
    this.#socket.write(`GET ${path} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${key}\r\naccept: text/event-stream\r\n\r\n`)
  }

  #take(text: string): void {
    const atMs = nowMs()
    for (const [, id] of text.matchAll(ID)) {
      this.#last = Number(id)
      if (!this.arrivals.has(this.#last)) this.arrivals.set(this.#last, atMs)
    }
    if (this.#last >= this.#wanted) this.#reached()
  }

  /** Resolves when the event with this number has arrived. */
  async reach(seq: number): Promise<void> {
    if (this.#last >= seq) return
    this.#wanted = seq
    await new Promise<void>((resolve, reject) => {
      this.#reached = resolve
      this.#socket.once('close', () => reject(new Error(`the stream ended before event ${seq}`)))
    })
    this.#socket.removeAllListeners('close')
  }

  async close(): Promise<void> {
    this.#socket.destroy()
    await once(this.#socket, 'close')
  }
}

type Server = Awaited<ReturnType<typeof startServer>>

async function makeKeys(server: Server, count: number): Promise<string[]> {
  const keys: string[] = []
  await forEach(count, async (i) => {
    const { key } = await server.call('/api/keys', 'POST', { name: `Reader ${i}`, kind: 'person', roles: ['approver'] })
    keys.push(key)
  })
  return keys
}

/** Begins a session in which one action has waited for an approver: every approver sees it. */
async function beginSession(server: Server): Promise<string> {
  const { id } = await server.call('/api/sessions', 'POST', {})
  await server.call(`/api/sessions/${id}/messages`, 'POST', { content: 'mark ORD-001 as processing' })
  await server.idle()
  await server.call(`/api/sessions/${id}/approve`, 'POST', { verdict: 'approve' })
  await server.idle()
  return id
}

/** Does `work`, and returns the time from the commit of each event to its arrival at each subscriber, and the server's processor time. */
async function measure(server: Server, subscribers: readonly Subscriber[], work: () => Promise<void>) {
  for (const { arrivals } of subscribers) arrivals.clear()
  const before = await server.cpuMs()
  await work()
  const commits = await server.commits()
  const last = commits.at(-1)?.[0] ?? 0
  await Promise.all(subscribers.map((subscriber) => subscriber.reach(last)))
  const cpuMs = (await server.cpuMs()) - before
  const times: number[] = []
  for (const { arrivals } of subscribers) {
    for (const [seq, atMs] of commits) {
      const arrivedMs = arrivals.get(seq)
      if (arrivedMs === undefined) throw new Error(`a subscriber has not received event ${seq}`)
      times.push(arrivedMs - atMs)
    }
  }
  return { events: commits.length, times, cpuMs }
}

type Measured = Awaited<ReturnType<typeof measure>>

function figuresOf(rounds: readonly Measured[]) {
  const times = rounds.flatMap((round) => round.times)
  const cpuMs = rounds.reduce((sum, round) => sum + round.cpuMs, 0)
  return {
    events: rounds.reduce((sum, round) => sum + round.events, 0),
    commitToArrivalMs: statsOf(times),
    serverCpuUsPerArrival: Number(((cpuMs * 1000) / times.length).toFixed(1)),
  }
}

const perStream = (before: number, after: number, streams: number) => Math.round((after - before) / streams)

/**
 * Measures the cost of `streams` event streams of one session for a server: its memory for each, and the time from the commit of an event to its arrival at
 * each of them, over HTTP on loopback. The server has a process of its own; all readers share this one, and their time is part of the figure.
 */
export async function benchSubscribers({ streams, people, renames, turns }: SubscribersOptions) {
  const server = await startServer(turns + 2)
  const url = new URL(server.url)
  const keys = await makeKeys(server, people)
  const sessionId = await beginSession(server)
  const { lastSeq } = await followed(server, sessionId)
  const open = async (count: number) => {
    const opened: Subscriber[] = []
    await forEach(count, async (i) => {
      const subscriber = new Subscriber(url, `/api/sessions/${sessionId}/events`, keys[i % people] ?? '')
      opened.push(subscriber)
      await subscriber.reach(lastSeq)
    })
    return opened
  }
  const rename = async () => void (await server.call(`/api/sessions/${sessionId}`, 'PATCH', { title: `title ${nowMs()}` }))
  const turn = async () => {
    await server.call(`/api/sessions/${sessionId}/messages`, 'POST', { content: 'and the next one' })
    await server.idle()
    await server.call(`/api/sessions/${sessionId}/approve`, 'POST', { verdict: 'approve' })
  }

  for (const subscriber of await open(Math.min(WARM_UP_STREAMS, streams))) await subscriber.close()
  const before = await server.memory()
  const subscribers = await open(streams)
  const idle = await server.memory()
  await measure(server, subscribers, rename)
  const single: Measured[] = []
  for (let i = 0; i < renames; i++) single.push(await measure(server, subscribers, rename))
  const gated: Measured[] = []
  for (let i = 0; i < turns; i++) gated.push(await measure(server, subscribers, turn))
  const after = await server.memory()
  for (const subscriber of subscribers) await subscriber.close()
  await server.end()
  return {
    streams,
    people,
    bytesPerStream: {
      rss: perStream(before.rssBytes, idle.rssBytes, streams),
      heap: perStream(before.heapBytes, idle.heapBytes, streams),
      outsideHeap: perStream(before.outsideHeapBytes, idle.outsideHeapBytes, streams),
      rssAfterEvents: perStream(before.rssBytes, after.rssBytes, streams),
      heapAfterEvents: perStream(before.heapBytes, after.heapBytes, streams),
    },
    oneEvent: figuresOf(single),
    gatedTurn: figuresOf(gated),
  }
}

/** Begins to note the commits of the session. */
async function followed(server: Server, sessionId: string) {
  await server.follow(sessionId)
  await server.call(`/api/sessions/${sessionId}`, 'PATCH', { title: 'a title' })
  const commits = await server.commits()
  return { lastSeq: commits.at(-1)?.[0] ?? 0 }
}
