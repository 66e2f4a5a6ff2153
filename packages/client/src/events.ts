import type { SessionEvent } from '@countersign/core'
import { createParser } from 'eventsource-parser'
import { ApiError, isApiError } from './api-error.ts'
import type { Client } from './client.ts'
import { isFinal, type RetryOptions, scheduleTimeout, waitToRetry } from './reconnect.ts'

/** The state of the stream, as shown to people. `closed`: it ended for good, by your signal or by a refusal. */
export type ConnectionState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'reconnecting'; retryInMs: number }
  | { kind: 'offline' }
  | { kind: 'closed' }

export type EventsOptions = RetryOptions & {
  /** `/api/sessions/:id/events` or `/api/events`. */
  path: string
  /** Start behind this sequence number; without it the server decides where the stream begins. */
  after?: number
  /** Silence after which a connection counts as dead; default 40_000 (the server's heartbeat comes every 15 s). */
  silenceMs?: number
}

/**
 * The events of one stream, in order and each once, over any number of connections: after a cut it reconnects behind the last
 * sequence number seen, waiting 1 s at first and 30 s at most. A `reset` event carries a whole snapshot and may move `seq` back. Without
 * `after`, what happens between a cut before the first event and the next connection is not told: read what you show again with each `live`.
 *
 * Ends quietly when `signal` aborts.
 * @throws ApiError when asking again cannot help: 401, 403, 404, 410 and every other refusal but 408 and 429. A 404 that the server did not
 *   explain is asked again once the stream was live: some proxies answer so while the server behind them is replaced. TypeError for a request
 *   that cannot be made.
 * @example
 * for await (const event of events(client, { path: `/api/sessions/${id}/events`, after: session.lastSeq })) {
 *   if (event.type === 'message') console.log(event.data.message.content)
 * }
 */
export async function* events(client: Pick<Client, 'open'>, options: EventsOptions): AsyncGenerator<SessionEvent, void, undefined> {
  const { path, signal, onState = () => {}, silenceMs = 40_000, schedule = scheduleTimeout } = options
  let lastSeq = options.after
  let failures = 0
  let wasLive = false
  const onLive = () => {
    wasLive = true
    onState({ kind: 'live' })
  }
  try {
    while (!signal?.aborted) {
      onState({ kind: 'connecting' })
      const connection = new AbortController()
      const cut = () => connection.abort()
      signal?.addEventListener('abort', cut, { once: true })
      let stopWatch = schedule(cut, silenceMs)
      let isSent = false
      try {
        const headers = { accept: 'text/event-stream', ...(lastSeq === undefined ? {} : { 'last-event-id': String(lastSeq) }) }
        const response = await client.open(path, { headers, signal: connection.signal })
        isSent = true
        for await (const batch of readBatches(response, onLive)) {
          stopWatch()
          stopWatch = schedule(cut, silenceMs)
          failures = 0
          for (const event of batch) {
            if (event.type !== 'reset' && event.seq !== undefined && lastSeq !== undefined && event.seq <= lastSeq) continue
            lastSeq = event.seq ?? lastSeq
            yield event
          }
        }
      } catch (error) {
        const cannotBeMade = !isSent && !isApiError(error) && !connection.signal.aborted
        if (cannotBeMade || isFinal(error, wasLive)) throw error
      } finally {
        stopWatch()
        signal?.removeEventListener('abort', cut)
        connection.abort()
      }
      if (signal?.aborted) return
      await waitToRetry(failures++, options)
    }
  } finally {
    onState({ kind: 'closed' })
  }
}

/** One array per chunk of the body: empty for a heartbeat, so that the reader learns that the connection lives. */
async function* readBatches(response: Response, onOpen: () => void): AsyncGenerator<SessionEvent[]> {
  const type = response.headers.get('content-type') ?? ''
  // A proxy's sign-in page or a console's fallback page is a 200 too.
  if (!type.startsWith('text/event-stream') || response.body === null) {
    throw new ApiError('not_ready', response.status, `The event stream answered with ${type || 'nothing'}.`)
  }
  onOpen()
  let batch: SessionEvent[] = []
  const parser = createParser({
    onEvent: ({ event, id, data }) => {
      if (event === undefined) return
      const seq = id === undefined ? undefined : Number(id)
      if (seq !== undefined && !Number.isSafeInteger(seq)) return
      batch.push({ type: event, seq, data: JSON.parse(data) } as SessionEvent)
    },
  })
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      parser.feed(decoder.decode(chunk.value, { stream: true }))
      yield batch
      batch = []
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}
