import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { canonicalJson, type JsonValue, ToolError } from '@countersign/core'
import { saidFailure } from '@countersign/core/text'
import { bodyOf, type Network, type Redactor, RefusedAddress, send } from '../net/index.ts'
import { networkError } from './network-error.ts'
import { readRetryAfter, retryAfterWords } from './retry-after.ts'
import { readBody, serviceMessage } from './service-text.ts'

const MAX_BODY_BYTES = 1_000_000

/** A body as it is sent: text or bytes, and what they are. */
export interface CallContent {
  type: string
  bytes: string | Uint8Array
}

export interface HttpCall {
  network: Network
  method: string
  url: URL
  /** The origin of the base address in the configuration; undefined where the address is somebody else's word: then it has to be public. */
  own: string | undefined
  headers: Readonly<Record<string, string>>
  /** Takes out of the answer what must not come back: a service may echo headers into a body or an error. */
  redactor: Redactor
  /** Sent as JSON. */
  body?: JsonValue
  /** Replaces `body`: content of another type, or JSON under another content type. */
  content?: CallContent | undefined
  /** Set on a call that may change something; its absence makes this a read. */
  idempotencyKey?: string
  /** The version (ETag) that the target must still have to do it. */
  ifMatch?: string | undefined
  /** Why it goes out without signing in, as a sentence: told when the target does not take it (401, 403). */
  unsigned?: string | undefined
  /** True when something else can tell whether it was carried out. A 202, which only says that it may be, is then no success. */
  canLook?: boolean
  /** True when 404 is an answer, not a refusal. */
  mayBeMissing?: boolean
  /** True when 4xx and 5xx are answers, too: of a service that says in the body what they mean (GraphQL). */
  readsRefusals?: boolean
  signal: AbortSignal
  timeoutMs: number
}

export interface HttpAnswer {
  status: number
  headers: IncomingHttpHeaders
  /** Undefined when the answer was empty, or its body was not read whole. */
  body: JsonValue | undefined
  /** False when the body was cut off or is larger than 1 MB: `body` is then not what the service sent. */
  isWhole: boolean
  /** The version of what was answered, where the service gave one that `If-Match` takes: a weak ETag never matches. */
  version?: string
}

/**
 * Sends one HTTP request, once: no retries, no redirects followed, no reused connection, at most 1 MB read.
 * @throws ToolError `refused` for 4xx and redirects and for an address that must not be called, `stale` for 412 where the call named a version,
 *   `unreachable` when nothing was sent, `ambiguous` for a timeout, a broken connection,
 *   a cut body, 5xx, 408 and 303 of a write, and 202 where `canLook` is set; `refused` or `ambiguous` for an answer to a write that says
 *   itself that it failed, whatever its status. The message holds the service's own words where it gave some,
 *   never a header of the request.
 */
export async function callHttp(call: HttpCall): Promise<HttpAnswer> {
  if (call.signal.aborted) throw new ToolError('broken', 'Stopped before anything was sent.')
  const timeout = AbortSignal.timeout(call.timeoutMs)
  const halt = new AbortController()
  const signal = AbortSignal.any([call.signal, timeout, halt.signal])
  let isConnected = false
  try {
    const { network, method, url, own } = call
    const content = contentOf(call)
    const response = await send(network, {
      method,
      url,
      own,
      headers: requestHeaders(call, content),
      body: content?.bytes,
      signal,
      onConnected() {
        isConnected = true
      },
    })
    const status = response.statusCode ?? 0
    const text = await readText(response).catch((error: unknown) => {
      // The status of a refusal stands, whatever became of its body.
      if (status >= 400 && status < 500) return undefined
      throw error
    })
    const answer = { ...readAnswer(call, status, response.headers, text), headers: response.headers, isWhole: text !== undefined }
    const { etag } = response.headers
    return etag?.startsWith('"') ? { ...answer, version: etag } : answer
  } catch (error) {
    throw error instanceof ToolError ? error : failure(call, timeout, isConnected, error)
  } finally {
    halt.abort()
  }
}

const contentOf = ({ body, content }: HttpCall): CallContent | undefined =>
  content ?? (body === undefined ? undefined : { type: 'application/json', bytes: canonicalJson(body) })

function requestHeaders(call: HttpCall, content: CallContent | undefined): Record<string, string> {
  return {
    accept: 'application/json',
    'user-agent': 'countersign',
    ...call.headers,
    ...(content && { 'content-type': content.type }),
    ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }),
    ...(call.ifMatch !== undefined && { 'if-match': call.ifMatch }),
  }
}

/** The body as text, or undefined when it is larger than we read. */
async function readText(response: IncomingMessage): Promise<string | undefined> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of bodyOf(response) as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > MAX_BODY_BYTES) return undefined
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function readAnswer(
  call: HttpCall,
  status: number,
  headers: IncomingHttpHeaders,
  text: string | undefined,
): Pick<HttpAnswer, 'status' | 'body'> {
  const target = call.url.origin
  const isWrite = call.idempotencyKey !== undefined
  const body = call.redactor.json(readBody(text ?? '') ?? null)
  const said = serviceMessage(body)
  const words = said === undefined ? '' : `: ${said}`
  if (status >= 400 && call.readsRefusals) return { status, body: body ?? undefined }
  const isOnlyAccepted = status === 202 && call.canLook
  const retryAfterMs = status === 429 || status === 503 || isOnlyAccepted ? readRetryAfter(headers, Date.now()) : undefined
  const later = retryAfterWords(retryAfterMs)
  if (status >= 500) {
    const unknown = isWrite ? ' Whether it acted is not known.' : ''
    throw new ToolError('ambiguous', `${target} failed (${status})${words}.${unknown}${later}`, { retryAfterMs })
  }
  if (status === 404 && call.mayBeMissing) return { status, body: body ?? undefined }
  if (status === 412 && call.ifMatch !== undefined) {
    throw new ToolError('stale', `${target} changed after it was looked at last, and did nothing (412)${words}.`)
  }
  // By the standard the request did not arrive whole. Services answer 408 as well when what they began takes too long.
  if (status === 408 && isWrite) throw new ToolError('ambiguous', `${target} timed out (408)${words}. Whether it acted is not known.`)
  if (status >= 400) {
    const retryable = status === 408 || status === 425 || status === 429
    const unsigned = call.unsigned !== undefined && (status === 401 || status === 403) ? ` ${call.unsigned}` : ''
    throw new ToolError('refused', `${target} refused (${status})${words}.${unsigned}${later}`, { retryable, retryAfterMs })
  }
  if (isWrite && status >= 200 && status < 300 && !call.readsRefusals) {
    const failed = saidFailure(body, { target, status, wordsOf: serviceMessage })
    if (failed) throw new ToolError(failed.kind, failed.message)
  }
  if (isOnlyAccepted) {
    const told = `${target} accepted it, to carry it out later (202)${words}.`
    throw new ToolError('ambiguous', told, { retryable: false, retryAfterMs })
  }
  if (status >= 300) throw redirectError(status, call.redactor.text(headers.location ?? ''), target, isWrite)
  if (text === undefined) {
    if (!isWrite) throw new ToolError('refused', `The answer of ${target} is larger than 1 MB.`)
    return { status, body: { status, note: 'The answer is larger than 1 MB and was left out.' } }
  }
  return { status, body: body ?? undefined }
}

const MAY_HAVE_ACTED = new Set([301, 302, 303])

function redirectError(status: number, location: string, target: string, isWrite: boolean): ToolError {
  const to = location !== '' && URL.canParse(location, target) ? new URL(location, target).origin : 'nowhere'
  const told = `${target} answered with a redirect to ${to} (${status})`
  // "Done, look there": that is 303, or 302 and 301 from servers that render pages, which browsers follow with a GET as well. Reporting a
  // refusal would invite a second effect. 307 and 308 mean that the same request is to be sent elsewhere.
  if (isWrite && MAY_HAVE_ACTED.has(status)) return new ToolError('ambiguous', `${told}. Whether it acted is not known.`)
  return new ToolError('refused', `${told}. Redirects are not followed.`)
}

function failure(call: HttpCall, timeout: AbortSignal, isConnected: boolean, error: unknown): ToolError {
  const target = call.url.origin
  if (error instanceof RefusedAddress) return new ToolError('refused', `${error.message}. Nothing was sent.`)
  const unknown = call.idempotencyKey === undefined ? '' : ' Whether it acted is not known.'
  if (timeout.aborted) return new ToolError('ambiguous', `${target} did not answer within ${call.timeoutMs / 1000} s.${unknown}`)
  // Its caller has a limit of its own, as a card has for what it shows.
  const isLate = (call.signal.reason as unknown as { name?: unknown } | undefined)?.name === 'TimeoutError'
  if (isLate) return new ToolError('ambiguous', `${target} did not answer in time.${unknown}`)
  if (call.signal.aborted) return new ToolError('ambiguous', `The call to ${target} was stopped before it answered.${unknown}`)
  // An error without a known code may have come after the send. Its own text is left out: it can quote a header.
  const known = networkError(error, target)
  // Errors of encryption and of the way there come late, too: behind the request.
  return known && !(known.kind === 'unreachable' && isConnected)
    ? known
    : new ToolError('ambiguous', `The call to ${target} failed before it answered.${unknown}`)
}
