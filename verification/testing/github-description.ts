import { readFileSync } from 'node:fs'
import { type Schema, Validator } from '@cfworker/json-schema'
import { counterpart } from './counterparts.ts'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: Node
}

type Node = { [key: string]: unknown }

interface Operation {
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { required?: boolean; content: Record<string, { schema: Node }> }
  responses: Record<string, { content?: Record<string, { schema: Node }> } | { $ref: string }>
}

interface Description {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, Node>>
}

/** A request as it went out, and the answer to it. */
export interface DescribedExchange {
  method: string
  path: string
  query: URLSearchParams
  body: unknown
  status: number
  answer: unknown
}

/** GitHub's own description of its API. */
export interface GithubDescription {
  /** A sentence for each way in which the request is not one that the description has. */
  requestProblems(exchange: DescribedExchange): string[]
  /** A sentence for each way in which the answer is not one that the description has for this request. */
  answerProblems(exchange: DescribedExchange): string[]
  /** `GET /repos/{owner}/{repo}`. */
  operationOf(exchange: DescribedExchange): string | undefined
}

let opened: GithubDescription | undefined

/** Reads the description, once. */
export function githubDescription(): GithubDescription {
  opened ??= openDescription(JSON.parse(readFileSync(counterpart('@octokit/openapi/generated/api.github.com.json'), 'utf8')))
  return opened
}

function openDescription(description: Description): GithubDescription {
  const routes = Object.keys(description.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{[^}]+\}/g, '([^/]+)')}$`),
  }))
  // `/issues/comments/{id}` before `/issues/{number}/…`: the one with fewer parameters is meant.
  routes.sort((a, b) => a.template.split('{').length - b.template.split('{').length)
  const validators = new Map<Node, Validator>()

  const follow = <T>(value: T | { $ref: string }): T => {
    if (typeof value !== 'object' || value === null || !('$ref' in value)) return value
    const [, kind = '', name = ''] = /^#\/components\/([\w-]+)\/(.+)$/.exec(value.$ref) ?? []
    return description.components[kind]?.[name] as T
  }

  const validatorOf = (schema: Node): Validator => {
    const known = validators.get(schema) ?? new Validator(selfContained(schema, description) as Schema, '2020-12', false)
    validators.set(schema, known)
    return known
  }

  const faults = (schema: Node, value: unknown, where: string): string[] =>
    validatorOf(schema)
      .validate(value)
      .errors.map(({ instanceLocation, error }) => `${where} ${instanceLocation} ${error}`)

  function find({ method, path }: DescribedExchange) {
    for (const { template, pattern } of routes) {
      const match = pattern.exec(path)
      const operation = description.paths[template]?.[method.toLowerCase()]
      if (match && operation) return { template, operation, values: match.slice(1).map((value) => decodeURIComponent(value)) }
    }
    return undefined
  }

  function parameterProblems(exchange: DescribedExchange, what: string): string[] {
    const found = find(exchange)
    if (!found) return [`${what}: there is no such operation`]
    const known = (found.operation.parameters ?? []).map((parameter) => follow(parameter))
    const query = known.filter((parameter) => parameter.in === 'query')
    const names = [...found.template.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '')
    return [
      ...[...exchange.query.keys()]
        .filter((name) => !query.some((one) => one.name === name))
        .map((name) => `${what}: no parameter ${name}`),
      ...query
        .filter(({ name, required }) => required === true && !exchange.query.has(name))
        .map(({ name }) => `${what}: ${name} is missing`),
      ...query.flatMap(({ name, schema }) =>
        exchange.query.getAll(name).flatMap((text) => faults(schema, typed(text, follow(schema as Node)), `${what}: ${name}`)),
      ),
      ...names.flatMap((name, index) => {
        const parameter = known.find((one) => one.in === 'path' && one.name === name)
        if (!parameter) return [`${what}: ${name} is not described`]
        return faults(parameter.schema, typed(found.values[index] ?? '', follow(parameter.schema)), `${what}: ${name}`)
      }),
    ]
  }

  return {
    operationOf: (exchange) => {
      const found = find(exchange)
      return found && `${exchange.method} ${found.template}`
    },
    requestProblems(exchange) {
      const what = `${exchange.method} ${exchange.path}`
      const { requestBody } = find(exchange)?.operation ?? {}
      const schema = requestBody?.content['application/json']?.schema
      const body =
        exchange.body === undefined
          ? requestBody?.required === true
            ? [`${what}: a body is missing`]
            : []
          : schema
            ? [
                ...faults(schema, exchange.body, `${what}: body`),
                ...unknownMembers(follow(schema), exchange.body).map((name) => `${what}: body has no ${name}`),
              ]
            : [`${what}: takes no body`]
      return [...parameterProblems(exchange, what), ...body]
    },
    answerProblems(exchange) {
      const what = `${exchange.method} ${exchange.path} → ${exchange.status}`
      const described = find(exchange)?.operation.responses[String(exchange.status)]
      if (!described) return [`${what}: this status is not described`]
      const schema = follow(described).content?.['application/json']?.schema
      if (schema) return faults(schema, exchange.answer, what)
      // What a refusal says is left out of the description in places.
      return exchange.answer === undefined || exchange.status >= 400 ? [] : [`${what}: an answer without a body is described`]
    },
  }
}

/** A parameter as the type that it is described with. */
const typed = (text: string, schema: Node): unknown =>
  schema.type === 'integer' ? (/^\d+$/.test(text) ? Number(text) : text) : schema.type === 'boolean' ? text === 'true' : text

/** GitHub ignores members that it does not know: one of ours that is misspelt would be lost without a word. */
function unknownMembers(schema: Node, body: unknown): string[] {
  const known = schema.properties
  if (typeof known !== 'object' || known === null || typeof body !== 'object' || body === null) return []
  return Object.keys(body).filter((name) => !Object.hasOwn(known, name))
}

/** A schema with all that it refers to, as JSON Schema: the description has OpenAPI 3.0's own `nullable`. */
function selfContained(schema: Node, { components }: Description): Node {
  const schemas: Record<string, unknown> = {}
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy)
    if (typeof value !== 'object' || value === null) return value
    const node = value as Node
    if (typeof node.$ref === 'string') {
      const name = node.$ref.slice('#/components/schemas/'.length)
      if (!Object.hasOwn(schemas, name)) {
        schemas[name] = true
        schemas[name] = copy(components.schemas?.[name])
      }
      return { $ref: node.$ref }
    }
    const { nullable, example: _, ...rest } = node
    const inside = Object.fromEntries(Object.entries(rest).map(([key, child]) => [key, copy(child)]))
    return nullable === true ? { anyOf: [inside, { type: 'null' }] } : inside
  }
  return { ...(copy(schema) as Node), components: { schemas } }
}
