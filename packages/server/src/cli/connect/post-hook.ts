import { request as requestHttps } from 'node:https'
import { text } from 'node:stream/consumers'
import type { JsonObject } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { Refused, type Server, Unreachable } from '../api.ts'

// Not imported, as in net/node-http.ts of the toolkit, which this command does not load.
const { request: requestHttp } = process.getBuiltinModule('node:http')

export interface PostHook {
  server: Server
  /** With its query. */
  path: string
  body: JsonObject
  withinMs: number
  signal?: AbortSignal
}

/**
 * Posts the message of a hook and returns the answer. `fetch` would give up after five minutes without a header, and people may take longer.
 * @throws Unreachable when the server is away or does not answer in time; Refused when it refuses the message.
 */
export async function postHook({ server: { base, authorization }, path, body, withinMs, signal }: PostHook): Promise<JsonObject> {
  const url = new URL(base + path)
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const payload = JSON.stringify(body)
  const headers = { authorization, 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }
  const late = AbortSignal.timeout(withinMs)
  const stop = signal ? AbortSignal.any([late, signal]) : late
  const answered = Promise.withResolvers<{ status: number; answer: string }>()
  const sent = send(url, { method: 'POST', headers, signal: stop }, (response) => {
    text(response).then((answer) => answered.resolve({ status: response.statusCode ?? 0, answer }), answered.reject)
  })
  sent.on('error', answered.reject)
  sent.end(payload)
  const { status, answer } = await answered.promise.catch((cause: unknown) => {
    throw new Unreachable(late.aborted ? `${url.origin} did not answer in time` : `${url.origin} cannot be reached`, { cause })
  })
  const read = readJson(answer)
  if (status !== 200) throw new Refused(status, typeof read?.detail === 'string' ? read.detail : `${url.origin} answered ${status}`)
  if (!read) throw new Error(`${url.origin} is not Countersign: its answer is not JSON`)
  return read
}

function readJson(answer: string): JsonObject | undefined {
  try {
    const read: unknown = JSON.parse(answer)
    return isObject(read) ? read : undefined
  } catch {
    return undefined
  }
}
