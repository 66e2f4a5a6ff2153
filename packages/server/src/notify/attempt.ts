import type { IncomingMessage } from 'node:http'
import { type Network, RefusedAddress, send } from '@countersign/toolkit'
import { readRetryAfter } from '@countersign/toolkit/internal'
import type { Clock } from '../clock.ts'
import { NOT_PUBLIC } from './address.ts'
import { signatureOf } from './signature.ts'

/** Receivers should answer first and work afterwards. Standard Webhooks recommends 15 to 30 seconds. */
export const ANSWER_WITHIN_MS = 15_000
/** How much of an answer is read; the connection is closed then. */
const ANSWER_BYTES = 1_024

/** The result of one attempt. `status` is null without an answer, and then `error` says why. */
export interface Attempted {
  status: number | null
  answer: string | null
  error: string | null
  /** How long the receiver asks to be left alone, with 429 and 503. */
  askedMs?: number | undefined
}

interface PostOptions {
  network: Network
  clock: Clock
  url: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
  signal: AbortSignal
}

export interface AttemptOptions extends Pick<PostOptions, 'network' | 'clock' | 'url' | 'signal'> {
  /** Id of the event. */
  id: string
  body: string
  /** The newest first. */
  secrets: readonly string[]
}

/** Sends one event to a webhook once, signed: see {@link post}. */
export function attempt({ network, clock, url, id, body, secrets, signal }: AttemptOptions): Promise<Attempted> {
  const timestamp = Math.floor(clock.nowMs() / 1_000)
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureOf({ id, timestamp, body }, secrets),
  }
  return post({ network, clock, url, headers, body, signal })
}

/**
 * Sends one message once. A redirect is not followed: it counts as an unsuccessful answer.
 * @throws The reason of `signal` when that ended the attempt.
 */
export async function post({ network, clock, url, headers, body, signal }: PostOptions): Promise<Attempted> {
  const late = new AbortController()
  const stopWaiting = clock.after(ANSWER_WITHIN_MS, () => late.abort())
  try {
    const response = await send(network, {
      method: 'POST',
      url: new URL(url),
      // The URL comes from a person, not from the configuration: addresses that are not public need `network.allow`.
      own: undefined,
      headers: { 'user-agent': 'Countersign', ...headers },
      body,
      signal: AbortSignal.any([signal, late.signal]),
    })
    const status = response.statusCode ?? 0
    const askedMs = status === 429 || status === 503 ? readRetryAfter(response.headers, clock.nowMs()) : undefined
    return { status, answer: await readBeginning(response), error: null, askedMs }
  } catch (error) {
    signal.throwIfAborted()
    return { status: null, answer: null, error: late.signal.aborted ? 'no answer within 15 seconds' : sentenceOf(error) }
  } finally {
    stopWaiting()
  }
}

/** Returns the first bytes of an answer. An answer that is cut off, or never ends, still counts as an answer. */
async function readBeginning(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= ANSWER_BYTES) break
    }
  } catch {
    // The status is known.
  } finally {
    response.destroy()
  }
  // A character that was cut in the middle becomes a replacement character.
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, ANSWER_BYTES))
}

/** Describes the failure without the address: see {@link NOT_PUBLIC}. */
function sentenceOf(error: unknown): string {
  if (error instanceof RefusedAddress) return NOT_PUBLIC
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  return `the connection failed (${code})`
}
