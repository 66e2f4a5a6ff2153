import { ApiError, readProblem } from './api-error.ts'

export type HttpOptions = {
  /** Origin and prefix of the server, without a trailing slash; '' is the page's own origin. */
  baseUrl: string
  /** A key, sent as `Authorization: Bearer`. Without one the browser's cookie speaks. */
  key: string | undefined
  fetch: typeof globalThis.fetch
}

export type RequestInput = {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  query?: Readonly<Record<string, string | number | undefined>>
  body?: unknown
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal
}

/**
 * Sends one request, once.
 * @returns The 2xx response, its body unread.
 * @throws ApiError `offline` when no answer came, else the server's own code; the signal's reason after an abort.
 */
export async function send(options: HttpOptions, path: string, input: RequestInput = {}): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json', ...input.headers }
  if (options.key !== undefined) headers.authorization = `Bearer ${options.key}`
  if (input.body !== undefined) headers['content-type'] = 'application/json'
  let response: Response
  try {
    response = await options.fetch(options.baseUrl + path + queryString(input.query), {
      method: input.method ?? 'GET',
      headers,
      body: input.body === undefined ? undefined : JSON.stringify(input.body),
      // A key is the whole identity: a cookie beside it could only confuse the two.
      credentials: options.key === undefined ? 'same-origin' : 'omit',
      cache: 'no-store',
      signal: input.signal,
    })
  } catch (cause) {
    throw offlineUnlessAborted(cause, input.signal)
  }
  if (!response.ok) throw await readProblem(response)
  return response
}

/** {@link send}, then the JSON body. An answer cut short is `offline`: whether the server acted is not known. */
export async function sendJson<T>(options: HttpOptions, path: string, input: RequestInput = {}): Promise<T> {
  const response = await send(options, path, input)
  let text: string
  try {
    text = await response.text()
  } catch (cause) {
    throw offlineUnlessAborted(cause, input.signal)
  }
  if (text === '') return undefined as T
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new ApiError('internal', response.status, `${path} answered with something that is not JSON.`, {}, { cause })
  }
}

function offlineUnlessAborted(cause: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  return new ApiError('offline', 0, 'The server cannot be reached.', {}, { cause })
}

function queryString(query: RequestInput['query']): string {
  const parts = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) parts.set(name, String(value))
  const text = parts.toString()
  return text === '' ? '' : `?${text}`
}
