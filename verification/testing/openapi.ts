import { dereference, type Schema, validate } from '@cfworker/json-schema'
import type { SentFields } from './event-reader.ts'

interface Answer {
  $ref?: string
  content?: Record<string, { schema?: Schema }>
}

/** The parts of an OpenAPI document that checking an answer needs. */
export interface OpenApiDocument {
  openapi: string
  paths: Record<string, Record<string, { responses?: Record<string, Answer> }>>
  components?: { responses?: Record<string, Answer> }
}

export interface SeenAnswer {
  method: string
  /** Without the query. */
  path: string
  status: number
  contentType: string
  /** Parsed JSON; undefined for anything else. */
  body: unknown
}

/** Says what is wrong with an answer by the server's own OpenAPI document. */
export interface AnswerChecker {
  /** A sentence for each disagreement; empty when the document describes exactly this answer. */
  problems(answer: SeenAnswer): string[]
  /** The same for one event of a stream that this operation answered. */
  problemsOfEvent(method: string, path: string, event: SentFields): string[]
}

/**
 * Checks answers against an OpenAPI 3.1 document: the operation is listed, its status is, the content type is, the body fits the schema.
 */
function openAnswerChecker(document: OpenApiDocument): AnswerChecker {
  const routes = Object.keys(document.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
  }))
  // The whole document as one schema: references start at its root.
  const lookup = dereference({ ...document })
  const resolve = (answer: Answer | undefined): Answer | undefined =>
    answer?.$ref === undefined ? answer : document.components?.responses?.[answer.$ref.split('/').at(-1) ?? '']

  const answerOf = (method: string, path: string, status: number) => {
    const template = routes
      .filter(({ pattern }) => pattern.test(path))
      // `/api/actions/decisions` before `/api/actions/{id}`.
      .sort((a, b) => a.template.split('{').length - b.template.split('{').length)[0]?.template
    const operation = template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()]
    return { operation, response: resolve(operation?.responses?.[status]) }
  }
  const faultsOf = (value: unknown, schema: Schema): string[] =>
    validate(value, schema, '2020-12', lookup, false).errors.map((error) => `${error.instanceLocation} ${error.error}`)

  return {
    problems({ method, path, status, contentType, body }) {
      const what = `${method} ${path} → ${status} ${contentType}`
      const { operation, response } = answerOf(method, path, status)
      if (!operation) return [`${what}: the document has no such operation`]
      if (!response) return [`${what}: the document does not name this status`]
      if (contentType === '' && body === undefined && Object.keys(response.content ?? {}).length === 0) return []
      const media = response.content?.[contentType.split(';')[0]?.trim() ?? '']
      if (!media) return [`${what}: the document does not name this content type`]
      if (body === undefined || media.schema === undefined) return []
      return faultsOf(body, media.schema).map((fault) => `${what}: ${fault}`)
    },
    problemsOfEvent(method, path, event) {
      const schema = answerOf(method, path, 200).response?.content?.['text/event-stream']?.schema
      const what = `${method} ${path}: the event ${event.event}`
      return schema === undefined
        ? [`${what}: the document has no such stream`]
        : faultsOf(event, schema).map((fault) => `${what}: ${fault}`)
    },
  }
}

let shared: AnswerChecker | undefined

/**
 * The checker of the servers of this checkout, from the document of the first of them that answers: making it takes a server a tenth of a
 * second, and what they are configured for changes nothing in it.
 */
export async function checkerAt(url: string): Promise<AnswerChecker> {
  shared ??= openAnswerChecker(await (await fetch(`${url}/api/openapi.json`)).json())
  return shared
}
