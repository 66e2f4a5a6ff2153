import { CountersignError, parseJson } from '@countersign/core'
import type { FastifyInstance } from 'fastify'
import { isJsonType } from './intake.ts'

/** The largest body: a tool's arguments may be 256 KB, a message 100,000 characters of up to 4 bytes. */
const MAX_BODY_BYTES = 512 * 1024

/** Bodies are JSON, read by the strict parser; any other content type is refused. No body at all is an empty object. */
export function acceptStrictJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // Before anything else looks at the request, and whether or not a body follows: what browsers send without asking (forms, plain text)
  // is told by this header alone.
  app.addHook('onRequest', async ({ method, headers }) => {
    const type = headers['content-type']
    if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || type === undefined || isJsonType(type)) return
    throw new CountersignError('bad_request', 'bodies are application/json in UTF-8; no other content type is read')
  })
  app.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) => {
    let text: string
    try {
      text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body as Buffer)
    } catch {
      done(new CountersignError('bad_request', 'the body is not UTF-8'))
      return
    }
    if (text === '') {
      done(null, undefined)
      return
    }
    const parsed = parseJson(text, { maxBytes: MAX_BODY_BYTES })
    if (parsed.ok) done(null, parsed.value)
    else done(new CountersignError(parsed.tooLarge ? 'too_large' : 'bad_request', `the body is not acceptable JSON: ${parsed.reason}`))
  })
  // Fastify would hand the schemas a null, and a body of `null` is not the same as none.
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined && request.routeOptions.schema?.body) request.body = {}
  })
}
