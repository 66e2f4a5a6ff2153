import { CountersignError, ERRORS, type ErrorCode, toProblem } from '@countersign/core'
import type { SwaggerTransformObject } from '@fastify/swagger'
import { CONSOLE_HEADER } from '../../identity/console-credential.ts'
import { RIGHTS, type Right } from '../rights.ts'
import { REQUEST_HEADERS, RESPONSE_HEADERS, type RequestHeader, type ResponseHeader, takesIdempotencyKey } from './answers.ts'
import { nameOnce } from './components.ts'
import type { Operation } from './describe.ts'
import { TAGS } from './tags.ts'

type Document = ReturnType<SwaggerTransformObject>

interface DocumentedOperation {
  operationId?: string
  description?: string
  'x-right'?: Right
  tags?: string[]
  security?: Record<string, string[]>[]
  parameters?: { $ref?: string; in?: string; name?: string }[]
  requestBody?: { required?: boolean }
  responses: Record<string, Answer>
}

interface Answer {
  description?: string
  headers?: object
  content?: object
}

const SUCCESS: Record<string, string> = { 200: 'Done', 201: 'Created', 202: 'Accepted: the work continues' }

const PROBLEM = {
  description: 'An error (RFC 9457).',
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', enum: Object.keys(ERRORS) },
    detail: { type: 'string' },
    issues: {
      description: 'The errors in the request or the arguments, each with its location.',
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

/** Describing a JSON value by its parts would make the schema recursive, and the types that generators make of that do not compile. */
const JSON_VALUE = { description: 'Any JSON value.' }

const referTo = (kind: 'headers' | 'parameters', name: string) => ({ $ref: `#/components/${kind}/${name}` })
const pascal = (code: string): string => code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Adds to a document the parts that many operations share: errors, headers, security, tags. */
export function completeDocument(document: Document, operations: ReadonlyMap<string, Operation>): Document {
  const responses: Record<string, Answer> = {}
  const { paths = {}, components = {} } = document as { paths?: Record<string, Record<string, DocumentedOperation>>; components?: object }
  const usedTags = new Set<string>()

  for (const described of Object.values(paths).flatMap((path) => Object.values(path))) {
    const operation = operations.get(described.operationId ?? '')
    if (!operation) continue
    for (const tag of described.tags ?? []) usedTags.add(tag)
    if (operation.right !== undefined) {
      described.description = `Who may call it: ${RIGHTS[operation.right].who}`
      described['x-right'] = operation.right
    }
    if (operation.access !== 'key') described.security = []
    else if (operation.isGateway) described.security = [{ key: [] }]
    const own = (described.parameters ?? []).map((one) =>
      one.in === 'query' ? { ...one, description: operation.queryTexts[one.name ?? ''] } : one,
    )
    const parameters = [...own, ...headersTaken(operation).map((name) => referTo('parameters', name))]
    if (parameters.length > 0) described.parameters = parameters
    if (described.requestBody) described.requestBody.required = !operation.isBodyOptional
    described.responses = answersOf(described, operation, responses)
  }

  const { schemas = {} } = components as { schemas?: Record<string, unknown> }
  const named = nameOnce({ paths, responses }, { ...schemas, Json: JSON_VALUE, JsonInput: JSON_VALUE, Problem: PROBLEM })
  return {
    ...document,
    tags: Object.entries(TAGS).flatMap(([name, description]) => (usedTags.has(name) ? [{ name, description }] : [])),
    paths: named.document.paths,
    components: {
      ...components,
      parameters: Object.fromEntries(Object.entries(REQUEST_HEADERS).map(([name, header]) => [name, { name, in: 'header', ...header }])),
      headers: RESPONSE_HEADERS,
      responses: named.document.responses,
      schemas: named.schemas,
    },
  } as Document
}

/** Returns all answers of an operation: its own, and its errors, which are shared components wherever they are the same. */
function answersOf(
  { responses: own }: DocumentedOperation,
  operation: Operation,
  responses: Record<string, Answer>,
): DocumentedOperation['responses'] {
  const answers: Record<string, Answer & { $ref?: string }> = {}
  for (const [status, answer] of Object.entries(own)) {
    const success = SUCCESS[status]
    answers[status] = success === undefined ? answer : { ...answer, description: success, ...headersOf(headersSent(operation)) }
  }
  for (const [status, codes] of Map.groupBy(operation.errors, (code) => ERRORS[code].status)) {
    const { name, answer } = answerWith(codes, headersOfError(status))
    const beside = own[status]
    if (beside) {
      // The route's own answer with this status is documented beside the problem.
      const description = `${beside.description}, or ${answer.description}`
      answers[status] = { ...answer, description, content: { ...beside.content, ...answer.content } }
    } else {
      responses[name] = answer
      answers[status] = { $ref: `#/components/responses/${name}` }
    }
  }
  return answers
}

/** Returns the answer for codes that share one status, and its name among the components. */
function answerWith(codes: readonly ErrorCode[], headers: readonly ResponseHeader[]): { name: string; answer: Answer } {
  const name = codes.map(pascal).join('Or')
  const sentence = codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('. ')
  const [first = 'internal'] = codes
  const { status, title } = ERRORS[first]
  const current = status === 409 && { action: { $ref: '#/components/schemas/Action' } }
  const narrowed = { type: 'object', required: ['code'], properties: { code: { type: 'string', enum: codes }, ...current } }
  const schema = { allOf: [{ $ref: '#/components/schemas/Problem' }, narrowed] }
  const example = toProblem(new CountersignError(first, title))
  const answer = { description: sentence, ...headersOf(headers), content: { 'application/problem+json': { schema, example } } }
  return { name, answer }
}

function headersTaken(operation: Operation): RequestHeader[] {
  const { method, access, isGateway, takes } = operation
  const names = [...takes]
  if (takesIdempotencyKey({ method, access, isGateway })) names.push('Idempotency-Key')
  return names
}

/** Answers to requests that change something renew the secret of a console. */
const headersSent = ({ method, isEventStream, isGateway, sends }: Operation): ResponseHeader[] =>
  method === 'GET' || isEventStream || isGateway ? [...sends] : [...sends, CONSOLE_HEADER]

function headersOfError(status: number): ResponseHeader[] {
  if (status === 429) return ['Retry-After']
  return status === 401 ? ['WWW-Authenticate'] : []
}

const headersOf = (names: readonly ResponseHeader[]): { headers?: object } =>
  names.length === 0 ? {} : { headers: Object.fromEntries(names.map((name) => [name, referTo('headers', name)])) }
