import type { Effect, JsonObject, JsonSchema, JsonValue } from '@countersign/core'
import { readCacheFor } from '../cache-for.ts'
import {
  type JsonTemplate,
  member,
  namesIn,
  readJsonTemplate,
  readsResult,
  readTemplate,
  readWords,
  type Template,
  textsIn,
} from '../http/template.ts'
import { readPathTemplate } from '../http/url-template.ts'
import { openJsonSchema } from '../schema/json-schema.ts'
import type { PatternBudget } from '../schema/pattern-cost.ts'
import { costFault } from '../schema/schema-cost.ts'
import { writtenFaults } from '../schema/written.ts'
import { readSettlesWithin } from '../settles-within.ts'
import type { SetupProblem } from '../setup-error.ts'
import { executorOf } from '../tool-draft.ts'
import type { Route } from './route-schema.ts'
import { KEY, type ReadVerify, readVerify, verifyTemplates } from './route-verify.ts'

/** A route with its templates read and held against its input. */
export interface ReadRoute {
  effect: Effect
  cacheForMs: number | undefined
  settlesWithinMs: number | undefined
  inputSchema: JsonSchema
  check: ReturnType<typeof openJsonSchema>
  path: Template
  query: [string, JsonTemplate][]
  /** `rest`: the arguments that are not in `used`, as they are. */
  body: { kind: 'none' } | { kind: 'template'; template: JsonTemplate } | { kind: 'rest'; used: ReadonlySet<string> }
  describe: Template | undefined
  before: ReadBefore | undefined
  resultUrl: Template | undefined
  verify: ReadVerify | undefined
}

/** Where the current values are read, which of them change to what, and which are shown unchanged (name, and path in the answer). */
export interface ReadBefore {
  get: Template
  query: [string, JsonTemplate][]
  compare: [string, JsonTemplate | undefined][]
  show: [string, string][]
  ifMatch: boolean
}

const SENDS_BODY = new Set(['POST', 'PUT', 'PATCH'])

/**
 * Reads one route and proves, before any call, that its parts fit: every placeholder is a property of the input, every property is
 * sent somewhere, nothing a path needs is optional.
 * @param report Takes each problem, with its path inside the route. When any was reported the result must not be used.
 * @param patterns What the patterns of its table may still cost.
 */
export function readRoute(route: Route, report: (problem: SetupProblem) => void, patterns: PatternBudget): ReadRoute | undefined {
  let faulty = false
  const fault = (path: readonly PropertyKey[], message: string) => {
    faulty = true
    report({ path, message })
  }
  const attempt = <T>(path: readonly PropertyKey[], read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      fault(path, error instanceof Error ? error.message : String(error))
      return undefined
    }
  }

  const path = attempt(['path'], () => readPathTemplate(route.path))
  const query = readQuery(['query'], route.query, attempt)
  const bodyTemplate = route.body === undefined ? undefined : attempt(['body'], () => readJsonTemplate(route.body as JsonValue))
  if (route.body !== undefined && (route.method === 'GET' || route.method === 'HEAD'))
    fault(['body'], `cannot be sent with ${route.method}`)
  const describe =
    route.describe === undefined ? undefined : attempt(['describe'], () => readWords(route.describe ?? '', route.before !== undefined))
  const resultUrl = route.resultUrl === undefined ? undefined : attempt(['resultUrl'], () => readTemplate(route.resultUrl ?? ''))
  const before = route.before && readBefore(route.before, attempt)
  const verify = route.verify && readVerify(route.verify, attempt)
  const effect = route.effect ?? (route.method === 'GET' || route.method === 'HEAD' ? 'read' : 'write')
  const cacheForMs = readCacheFor(route.cacheFor, effect, (words) => fault(['cacheFor'], words))
  const around = { timeoutMs: executorOf(route).timeoutMs, canLook: route.verify !== undefined }
  const settlesWithinMs = readSettlesWithin(route.settlesWithin, around, (words) => fault(['settlesWithin'], words))
  if (route.verify && effect === 'read') fault(['verify'], 'is for writes: a read leaves nothing to find out')

  const sentFrom: [readonly PropertyKey[], Template | undefined][] = [
    [['path'], path],
    ...query.flatMap(([name, template]) => textsIn(template).map((text): [PropertyKey[], Template] => [['query', name], text])),
    ...(bodyTemplate ? textsIn(bodyTemplate).map((text): [PropertyKey[], Template] => [['body'], text]) : []),
  ]
  const shownFrom: [readonly PropertyKey[], Template | undefined][] = [
    [['describe'], describe],
    [['resultUrl'], resultUrl],
    [['before', 'get'], before?.get],
    ...(before?.query ?? []).flatMap(([name, template]) =>
      textsIn(template).map((text): [PropertyKey[], Template] => [['before', 'query', name], text]),
    ),
    ...(before?.compare ?? []).flatMap(([field, template]) =>
      (template ? textsIn(template) : []).map((text): [PropertyKey[], Template] => [['before', 'compare', field], text]),
    ),
  ]
  const all = [...sentFrom, ...shownFrom, ...(verify ? verifyTemplates(verify) : [])]
  const paths = new Set([path, before?.get, verify?.path])
  for (const [where, template] of all) {
    if (template && where[0] !== 'resultUrl' && readsResult(template)) fault(where, 'cannot use {result.…}: there is no answer yet')
  }

  const used = new Set(sentFrom.flatMap(([, template]) => (template ? namesIn(template) : [])))
  const sendsRest = route.body === undefined && SENDS_BODY.has(route.method)
  for (const { path, message } of writtenFaults(route.input ?? {})) fault(['input', ...path], message)
  const inputSchema = closedInput(route.input, used)
  const check = attempt(['input'], () => {
    const fault = costFault(inputSchema, patterns)
    if (fault !== undefined) throw new Error(fault)
    return openJsonSchema(inputSchema)
  })
  const properties = Object.keys((member(inputSchema, 'properties') ?? {}) as JsonObject)
  const required = member(inputSchema, 'required')

  for (const [where, template] of all) {
    for (const name of template ? namesIn(template) : []) {
      if (name === KEY && where[0] === 'verify') {
        if (properties.includes(KEY))
          fault(where, `means the attempt's key by {${KEY}}, which is also a property of input: rename that one`)
      } else if (!properties.includes(name)) fault(where, `names {${name}}, which is not a property of input`)
      else if (paths.has(template) && !(Array.isArray(required) && required.includes(name))) {
        fault(where, `names {${name}}, which input does not require: a path cannot do without it`)
      }
    }
  }
  if (!sendsRest) {
    const where = route.body === undefined ? 'path or query' : 'path, query or body'
    for (const name of properties.filter((name) => !used.has(name))) {
      fault(['input', 'properties', name], `is not sent anywhere: use {${name}} in ${where}, or take it out`)
    }
    if (inputSchema.additionalProperties !== false) {
      fault(['input', 'additionalProperties'], 'must be false: what the templates do not name would not be sent')
    }
  }
  if (faulty || !path || !check) return undefined
  return {
    effect,
    cacheForMs,
    settlesWithinMs,
    inputSchema,
    check,
    path,
    query,
    body: bodyTemplate ? { kind: 'template', template: bodyTemplate } : sendsRest ? { kind: 'rest', used } : { kind: 'none' },
    describe,
    before,
    resultUrl,
    verify,
  }
}

type Attempt = <T>(path: readonly PropertyKey[], read: () => T) => T | undefined

const readQuery = (path: readonly PropertyKey[], query: JsonObject | undefined, attempt: Attempt): [string, JsonTemplate][] =>
  Object.entries(query ?? {}).flatMap(([name, value]): [string, JsonTemplate][] => {
    const template = attempt([...path, name], () => readJsonTemplate(value))
    return template ? [[name, template]] : []
  })

export function readBefore(before: NonNullable<Route['before']>, attempt: Attempt): ReadBefore | undefined {
  const { get, query, compare, show = {}, ifMatch = false } = before
  const template = attempt(['before', 'get'], () => readPathTemplate(get))
  const fields = Array.isArray(compare)
    ? compare.map((field): [string, undefined] => [field, undefined])
    : Object.entries(compare).map(([field, value]): [string, JsonTemplate | undefined] => [
        field,
        attempt(['before', 'compare', field], () => readJsonTemplate(value)),
      ])
  return (
    template && {
      get: template,
      query: readQuery(['before', 'query'], query, attempt),
      compare: fields,
      show: Object.entries(show),
      ifMatch,
    }
  )
}

/** The input as declared, closed unless it says otherwise; without one, a required text for every placeholder that is sent. */
function closedInput(input: JsonSchema | undefined, used: ReadonlySet<string>): JsonSchema {
  if (input) return 'additionalProperties' in input ? input : { ...input, additionalProperties: false }
  return {
    type: 'object',
    required: [...used],
    properties: Object.fromEntries([...used].map((name) => [name, { type: 'string' }])),
    additionalProperties: false,
  }
}
