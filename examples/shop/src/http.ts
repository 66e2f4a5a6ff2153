import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
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

/** Every error is a problem document; what nobody foresaw is logged whole and answered without its message. */
export function answerProblems(app: FastifyInstance, service: string): void {
  // A form or a text/plain post from a foreign page would need no preflight; only JSON is understood here.
  app.removeContentTypeParser('text/plain')

  app.setNotFoundHandler((request, reply) => sendProblem(reply, 404, `There is no ${request.method} ${request.url.slice(0, 200)} here.`))
  app.setErrorHandler((error: FastifyError | Refusal, _request, reply) => {
    if (error instanceof Refusal) return sendProblem(reply, error.status, error.message, error.extra)
    if (error.statusCode !== undefined && error.statusCode < 500) return sendProblem(reply, error.statusCode, error.message)
    if ('errcode' in error && error.errcode === SQLITE_BUSY) {
      return sendProblem(reply.header('retry-after', '1'), 503, 'The database is busy. Nothing was changed.')
    }
    console.error(`${service}.unexpected_error`, error)
    return sendProblem(reply, 500, `The ${service} could not answer. Look at its log.`)
  })
}

const sendProblem = (reply: FastifyReply, status: number, detail: string, extra: Readonly<Record<string, unknown>> = {}) =>
  reply
    .code(status)
    .type('application/problem+json; charset=utf-8')
    .send(toProblem(status, detail, extra))
