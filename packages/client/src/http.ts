import { ApiError, readProblem } from './api-error.ts'
import type { TokenSource } from './token-source.ts'

export type HttpOptions = {
  /** Origin and prefix of the server, without a trailing slash; '' is the page's own origin. */
  baseUrl: string
  /** The address of the page, against which a `baseUrl` that is a path is resolved; undefined outside of a browser. */
  pageUrl: string | undefined
  /** A key, sent as `Authorization: Bearer`. Without one the console's sign-in speaks: a cookie over https, else {@link SignInStorage}. */
  key: string | undefined
  /** Where there is no key: a host's short-lived tokens, sent in the same way. */
  tokens?: TokenSource | undefined
  signInStorage: SignInStorage | undefined
  fetch: typeof globalThis.fetch
}

/**
 * Where a console keeps what it signed in with over plain http: in the page, and nowhere that another port of the host can read. Over https
 * there is a cookie instead, and nothing is written here.
 */
export type SignInStorage = {
  read(): string | undefined
  /** Called with a new secret after a sign-in and about once an hour; with undefined after signing out. */
  write(secret: string | undefined): void
}

/** Carries that secret both ways. */
const CONSOLE_HEADER = 'countersign-console'

export type RequestInput = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  query?: Readonly<Record<string, string | number | undefined>>
  body?: unknown
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal | undefined
}

/**
 * Sends one request, once. A host's token that the server does not know any more is replaced, and the request sent again: it did nothing.
 * @returns The 2xx response, its body unread.
 * @throws ApiError `offline` when no answer came, else the server's own code; the signal's reason after an abort; TypeError for a request
 * that cannot be made, which would be `offline` for ever.
 */
export async function send(options: HttpOptions, path: string, input: RequestInput = {}): Promise<Response> {
  const { key, tokens } = options
  if (key !== undefined || tokens === undefined) return requireOk(await sendWith(key, options, path, input))
  const token = await tokens.read()
  const response = await sendWith(token, options, path, input)
  if (response.status !== 401) return requireOk(response)
  tokens.forget(token)
  await response.body?.cancel()
  return requireOk(await sendWith(await tokens.read(), options, path, input))
}

async function requireOk(response: Response): Promise<Response> {
  if (response.ok) return response
  throw await readProblem(response)
}

async function sendWith(key: string | undefined, options: HttpOptions, path: string, input: RequestInput): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json', ...input.headers }
  if (key !== undefined) headers.authorization = `Bearer ${key}`
  const secret = key === undefined ? options.signInStorage?.read() : undefined
  if (secret !== undefined) headers[CONSOLE_HEADER] = secret
  if (input.body !== undefined) headers['content-type'] = 'application/json'
  const body = input.body === undefined ? undefined : JSON.stringify(input.body)
  requireSendable(options, headers)
  let response: Response
  try {
    response = await options.fetch(options.baseUrl + path + queryString(input.query), {
      method: input.method ?? 'GET',
      headers,
      body,
      // A key is the whole identity: a cookie beside it could only confuse the two.
      credentials: key === undefined ? 'same-origin' : 'omit',
      cache: 'no-store',
      signal: input.signal,
    })
  } catch (cause) {
    throw offlineUnlessAborted(cause, input.signal)
  }
  const renewed = key === undefined ? response.headers.get(CONSOLE_HEADER) : null
  if (renewed !== null) options.signInStorage?.write(renewed)
  return response
}

/** @throws TypeError for an address or a header with which `fetch` sends nothing. */
function requireSendable({ baseUrl, pageUrl }: HttpOptions, headers: Readonly<Record<string, string>>): void {
  const isPath = /^([./]|$)/.test(baseUrl)
  const [address, base] = [baseUrl || '/', isPath ? pageUrl : undefined]
  const url = URL.canParse(address, base) ? new URL(address, base) : undefined
  // A page may have a protocol of its own that leads to a server, such as that of a desktop application.
  const isOfServer = isPath ? url?.protocol !== 'file:' : /^https?:/i.test(baseUrl)
  if (!url || !isOfServer || url.username || url.password)
    throw new TypeError(`baseUrl is no address of a server: ${baseUrl.replace(/^(https?:\/\/)?.*@/i, '$1…@') || "''"}`)
  try {
    new Headers(headers)
  } catch {
    // Its own words may quote the key.
    throw new TypeError('The key or another header has characters that HTTP cannot carry.')
  }
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
    throw new ApiError('internal', response.status, `${path} answered with something that is not JSON.`, { cause })
  }
}

function offlineUnlessAborted(cause: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  return new ApiError('offline', 0, 'The server cannot be reached.', { cause })
}

function queryString(query: RequestInput['query']): string {
  const parts = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) parts.set(name, String(value))
  const text = parts.toString()
  return text === '' ? '' : `?${text}`
}
