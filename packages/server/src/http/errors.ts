import { CountersignError, type ErrorCode, isCountersignError, toProblem } from '@countersign/core'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import { skipBody } from './intake.ts'

const BY_FASTIFY_CODE: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'bad_request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'bad_request',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_request',
  FST_ERR_BAD_URL: 'not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
}

/** Problem documents list at most this many issues; `moreIssues` counts the rest. */
const MAX_ISSUES = 20
const MAX_ISSUE_CHARS = 500

const cut = (text: string): string => (text.length <= MAX_ISSUE_CHARS ? text : `${text.slice(0, MAX_ISSUE_CHARS).toWellFormed()}…`)

/**
 * The one error handler. Every error is sent as a problem document; an error that is not in the table is a bug, logged in full and sent as
 * `internal`.
 */
export function handleError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const known = asKnown(error, request)
  if (known.code === 'internal' && !hasHungUp(request)) request.log.error({ error }, 'http.failed')
  const isStillSent = 'code' in error && error.code === 'FST_ERR_CTP_BODY_TOO_LARGE'
  if (isStillSent) skipBody(request.raw, () => sendProblem(reply, known))
  else sendProblem(reply, known)
}

/** True for a client that hung up in the middle of its request. Nothing is wrong here then, and an error in the log would wake somebody. */
export const hasHungUp = ({ raw }: FastifyRequest): boolean => raw.destroyed && !raw.complete

function asKnown(error: FastifyError | Error, request: FastifyRequest): CountersignError {
  if (isCountersignError(error)) return error
  if (hasZodFastifySchemaValidationErrors(error)) {
    const issues = error.validation
      .slice(0, MAX_ISSUES)
      .flatMap(({ instancePath: path, message = 'is not valid', keyword, params }) => {
        const shapes = keyword === 'invalid_union' ? (params.errors as Shapes) : undefined
        return shapes ? issuesOfUnion({ path, message }, shapes) : { path, message }
      })
      .slice(0, MAX_ISSUES)
      .map(({ path, message }) => ({ path: cut(path), message: cut(message) }))
    const first = issues[0]
    const moreIssues = Math.max(0, error.validation.length - MAX_ISSUES)
    return new CountersignError('bad_request', `${error.validationContext ?? 'request'}${first?.path ?? ''}: ${first?.message}`, {
      issues,
      ...(moreIssues > 0 && { moreIssues }),
    })
  }
  const code = 'code' in error ? BY_FASTIFY_CODE[error.code] : undefined
  if (code) return new CountersignError(code, code === 'not_found' ? 'there is no such address' : error.message)
  return new CountersignError('internal', `something went wrong; the log of the server has it under ${request.id}`)
}

interface Issue {
  path: string
  message: string
}

/** The issues of a value for each member of a union. */
type Shapes = readonly (readonly z.core.$ZodIssue[])[]

/** Returns what is wrong by the shape that the value is nearest to; where it is as near to another one, that it has none of them. */
function issuesOfUnion(whole: Issue, shapes: Shapes): Issue[] {
  const [nearest, next] = shapes.toSorted((a, b) => a.length - b.length)
  if (!nearest || nearest.length === next?.length) return [whole]
  return nearest.flatMap((issue) => {
    const path = [whole.path === '/' ? '' : whole.path, ...issue.path.map(String)].join('/') || '/'
    const part = { path, message: issue.message }
    return issue.code === 'invalid_union' ? issuesOfUnion(part, issue.errors) : part
  })
}

export function sendProblem(reply: FastifyReply, error: CountersignError): void {
  if (typeof error.extra.retryAfterSeconds === 'number') reply.header('retry-after', String(error.extra.retryAfterSeconds))
  // RFC 9110, 15.5.2: a 401 says how to authenticate.
  if (error.status === 401) reply.header('www-authenticate', 'Bearer realm="countersign"')
  reply.code(error.status).type('application/problem+json').serializer(JSON.stringify).send(toProblem(error))
}
