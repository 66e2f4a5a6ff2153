import { type FastifyError, type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import type { z } from 'zod'
import { type InputIssue, Refusal, toProblem } from './problem.ts'

const SQLITE_BUSY = 5

/** @throws Refusal 400 with one issue per thing that is wrong, `what` naming the part of the request. */
export function readInput<T>(schema: z.ZodType<T>, value: unknown, what: 'body' | 'query'): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const errors: InputIssue[] = result.error.issues.map(({ path, message }) => ({
    path: path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
    message,
  }))
  const words = errors.map(({ path, message }) => `${path === '' ? what : path.slice(1)}: ${message}`).join('; ')
  throw new Refusal(400, `The ${what} is not valid. ${words}`, { errors })
}

/**
 * A Fastify app whose every error is a problem document. Unexpected errors are logged in full under the service's name and answered
 * without their message.
 */
export function openApp({ service, bodyLimitBytes }: { service: string; bodyLimitBytes: number }): FastifyInstance {
  const answerError = (error: Error, reply: FastifyReply) => {
    if (error instanceof Refusal) return sendProblem(reply, error.status, error.message, error.extra)
    const { statusCode, errcode } = error as Partial<FastifyError> & { errcode?: unknown }
    if (statusCode !== undefined && statusCode < 500) return sendProblem(reply, statusCode, error.message)
    if (errcode === SQLITE_BUSY) return sendProblem(reply.header('retry-after', '1'), 503, 'The database is busy. Nothing was changed.')
    console.error(`${service}.unexpected_error`, error)
    return sendProblem(reply, 500, `The ${service} could not answer. Look at its log.`)
  }

  const app = fastify({
    bodyLimit: bodyLimitBytes,
    forceCloseConnections: true,
    frameworkErrors: (error, _request, reply) => void answerError(error, reply),
    // Fastify does not load its own then.
    schemaController: { compilersFactory: { buildValidator: isUnused, buildSerializer: isUnused } },
  })
  // A form or a text/plain post from a foreign page would need no preflight; only JSON is understood here.
  app.removeContentTypeParser('text/plain')
  app.setNotFoundHandler((request, reply) => sendProblem(reply, 404, `There is no ${request.method} ${request.url.slice(0, 200)} here.`))
  app.setErrorHandler((error: Error, _request, reply) => answerError(error, reply))
  return app
}

/** Routes have no schemas: they read with `readInput`. */
const isUnused = (): never => {
  throw new Error('routes of the shop have no schemas')
}

const sendProblem = (reply: FastifyReply, status: number, detail: string, extra: Readonly<Record<string, unknown>> = {}) =>
  reply
    .code(status)
    .type('application/problem+json; charset=utf-8')
    .send(toProblem(status, detail, extra))
