import { CountersignError, type JsonValue, parseJson } from '@countersign/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isJsonType } from './intake.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route that only looks at bodies of others, whatever their type. */
    anyBody?: boolean
  }
}

/** The largest body: a tool's arguments may be 256 KB, a message 100,000 characters of up to 4 bytes. */
const MAX_BODY_BYTES = 512 * 1024

/**
 * Limits the number of values, because the time to handle a body depends on it more than on the bytes: 36,000 unknown keys in 430 KB took
 * half a second.
 */
const MAX_BODY_VALUES = 20_000
/** Larger bodies are parsed one after another, with a turn of the event loop between: many at once must not delay other requests. */
const LARGE_BYTES = 32 * 1024

/** Accepts only JSON bodies, read by the strict parser; a request without a body counts as an empty object. */
export function acceptStrictJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // This runs before anything else reads the request, and whether or not a body follows: this header alone identifies the requests that
  // browsers send without a preflight (forms, plain text).
  app.addHook('onRequest', async ({ method, headers, routeOptions }) => {
    const type = headers['content-type']
    if (routeOptions.config.anyBody || method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return
    if (type !== undefined && !isJsonType(type))
      throw new CountersignError('bad_request', 'bodies are application/json in UTF-8; no other content type is read')
    // A body is read as it is: nothing is decompressed, and a header that says otherwise would be ignored.
    const coding = headers['content-encoding']
    if (coding !== undefined && coding.toLowerCase() !== 'identity')
      throw new CountersignError('bad_request', 'bodies are not compressed: send this one without Content-Encoding')
  })
  let turn = Promise.resolve()
  const nextTurn = () => {
    turn = turn.then(() => new Promise((resolve) => setImmediate(resolve)))
    return turn
  }
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES },
    async (_request: FastifyRequest, body: Buffer) => {
      if (body.length > LARGE_BYTES) await nextTurn()
      return readBody(body)
    },
  )
  // Fastify would hand the schemas a null, but a body of `null` differs from no body.
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined && request.routeOptions.schema?.body) request.body = {}
  })
}

/** Parses a body; returns undefined for an empty one. @throws CountersignError `bad_request`, `too_large` */
function readBody(body: Buffer): JsonValue | undefined {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    throw new CountersignError('bad_request', 'the body is not UTF-8')
  }
  if (text === '') return undefined
  const parsed = parseJson(text, { maxBytes: MAX_BODY_BYTES, maxValues: MAX_BODY_VALUES })
  if (parsed.ok) return parsed.value
  throw new CountersignError(parsed.tooLarge ? 'too_large' : 'bad_request', `the body is not acceptable JSON: ${parsed.reason}`)
}
