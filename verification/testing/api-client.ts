import { type EventReader, readEvents } from './event-reader.ts'
import type { AnswerChecker } from './openapi.ts'

/** An answer of the server, read whole. */
export interface ApiAnswer {
  status: number
  headers: Headers
  /** As it came, to compare bytes. */
  text: string
  /** Parsed JSON; undefined when the answer has none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape; their shapes are checked against the OpenAPI document
  body: any
}

export interface ApiRequest {
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is, instead of `body`. */
  raw?: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

/** Speaks to a running server over HTTP as one principal. Every answer is held against the server's OpenAPI document. */
export interface ApiClient {
  readonly url: string
  send(method: string, path: string, request?: ApiRequest): Promise<ApiAnswer>
  /** A long poll of a minute that ends without what it waits for is repeated, for four minutes in all. @throws Error unless the answer is a success. */
  get(path: string): Promise<ApiAnswer['body']>
  /** @throws Error unless the answer is a success. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer['body']>
  /** Opens an event stream; `POST` with a body, else `GET`. @throws Error unless it opens. */
  stream(path: string, request?: { body?: unknown; headers?: Record<string, string> }): Promise<EventReader>
}

export interface ApiClientOptions {
  url: string
  /** Headers of every request: who asks. */
  headers: Record<string, string>
  checker: AnswerChecker
}

/** The server answers a long poll after a minute at the latest, and a busy machine may take longer than that for what is waited for. */
const isLongPoll = (path: string): boolean => path.includes('wait=60')
const LONG_POLL_MS = 59_000
const MOST_POLLS = 4

/** HEAD and OPTIONS are answered for every address, and stand in no document. */
const CHECKED = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

export function openApiClient({ url, headers: own, checker }: ApiClientOptions): ApiClient {
  const check = (method: string, path: string, response: Response, body: unknown) => {
    const problems = checker.problems({
      method,
      path: path.split('?')[0] ?? '',
      status: response.status,
      contentType: response.headers.get('content-type') ?? '',
      body,
    })
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }

  async function send(method: string, path: string, { body, raw, headers }: ApiRequest = {}): Promise<ApiAnswer> {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: { ...own, ...(payload !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(payload !== undefined && { body: payload }),
    })
    const text = await response.text()
    const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '')
    const parsed: unknown = isJson && text !== '' ? JSON.parse(text) : undefined
    if (path.startsWith('/api/') && path !== '/api/openapi.json' && CHECKED.has(method)) check(method, path, response, parsed)
    return { status: response.status, headers: response.headers, text, body: parsed }
  }

  async function succeed(method: string, path: string, request?: ApiRequest): Promise<ApiAnswer['body']> {
    const answer = await send(method, path, request)
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 500)}`)
    return answer.body
  }

  return {
    url,
    send,
    async get(path) {
      for (let polls = 1; ; polls++) {
        const from = performance.now()
        const body = await succeed('GET', path)
        if (!isLongPoll(path) || performance.now() - from < LONG_POLL_MS || polls === MOST_POLLS) return body
      }
    },
    post: (path, body, headers) => succeed('POST', path, { body, ...(headers && { headers }) }),
    async stream(path, { body, headers } = {}) {
      const hangUp = new AbortController()
      const method = body === undefined ? 'GET' : 'POST'
      const response = await fetch(url + path, {
        method,
        signal: hangUp.signal,
        headers: { ...own, accept: 'text/event-stream', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      if (response.status !== 200) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
      check(method, path, response, undefined)
      return readEvents(response, hangUp, (event) => checker.problemsOfEvent(method, path.split('?')[0] ?? '', event))
    },
  }
}
