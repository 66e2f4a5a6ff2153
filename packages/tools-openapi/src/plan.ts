import type { ArgumentCheck, JsonObject, JsonSchema, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { type CallContent, openJsonSchema } from '@countersign/toolkit'
import { once, toArgumentIssues } from '@countersign/toolkit/internal'
import { bodySchemaOf } from './body-schema.ts'
import { inputSchemaOf } from './input-schema.ts'
import { choosesMethod, nameFindings } from './name-findings.ts'
import type { Operation } from './operations.ts'
import { isJsonType, named, type Parameter, readParameters, undescribed } from './parameters.ts'
import { BrokenPart, proseLine } from './parts.ts'
import type { Refs } from './refs.ts'
import { type RequestBody, readRequestBody } from './request-body.ts'
import { openCaseFindings } from './schema-members.ts'
import { bodyFindings, writeBody } from './write-body.ts'
import { type PathPart, parameterFindings, readPath, writeHeaders, writePath, writeQuery } from './write-parameters.ts'

/** The methods that only read, unless the configuration says otherwise. */
export const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** A request without its server and its credentials. */
export interface WrittenRequest {
  path: string
  query: string[]
  headers: Record<string, string>
  cookies: string[]
  content: CallContent | undefined
}

/** Everything that is needed to call one operation. The schema and the check are built on first use. */
export interface OperationPlan {
  readonly parameters: readonly Parameter[]
  readonly body: RequestBody | undefined
  /** The media types that the call accepts, in order of preference. */
  readonly accept: string
  inputSchema(): JsonSchema
  /** The members of a multipart body that are files. */
  files(): ReadonlySet<string>
  /** @param isWrite True also for a GET that the configuration calls a write. */
  check(args: JsonObject, isWrite: boolean): ArgumentCheck
  write(args: JsonObject): WrittenRequest
}

/**
 * Plans the call of an operation and proves that it can be made: every part that its requests need exists and can be written.
 * @param isSet True for a parameter that the configuration or a credential sets. An argument of that name would be shown and not sent.
 * @throws BrokenPart from parts.ts
 */
export function planOperation(
  { method, path, node, pathItem }: Operation,
  refs: Refs,
  isSet: (parameter: Pick<Parameter, 'in' | 'name'>) => boolean,
): OperationPlan {
  const parts = readPath(path)
  const described = readParameters(pathItem, node, refs).filter((parameter) => !isSet(parameter) && !isMethod(method, parameter, refs))
  const parameters = withPathParameters(parts, described)
  const body = readRequestBody(method, node, refs)
  for (const { schema } of parameters) refs.prove(schema)
  if (body) refs.prove(body.schema)

  const bodySchema = once(() => body && bodySchemaOf(body, refs))
  const inputSchema = once(() => schemaOf(parameters, body, bodySchema()?.schema, refs))
  const checkSchema = once(() => openJsonSchema(withoutFormats(inputSchema()) as JsonSchema))
  const caseFindings = once(() => openCaseFindings([inputSchema()]))
  const files = () => bodySchema()?.files ?? new Set<string>()
  return {
    parameters,
    body,
    accept: acceptOf(node, refs),
    inputSchema,
    files,
    check(args, isWrite) {
      const checked = checkSchema()(args)
      if (!checked.ok) return checked
      const findings = parameterFindings(parameters, args, isWrite || !READS.has(method))
      if (body && args.body !== undefined) findings.push(...bodyFindings(body, files(), args.body))
      findings.push(...caseFindings()(args), ...nameFindings({ method, parameters, body, inputSchema: inputSchema(), isSet }, args))
      return findings.length === 0 ? checked : { ok: false, issues: toArgumentIssues(findings) }
    },
    write(args) {
      const content = body && args.body !== undefined ? writeBody(body, files(), args.body) : undefined
      return { path: writePath(parts, parameters, args), query: writeQuery(parameters, args), ...writeHeaders(parameters, args), content }
    },
  }
}

/**
 * True for a parameter with which an agent could make a POST another request than its card shows.
 * @throws BrokenPart where the operation requires it.
 */
function isMethod(method: string, { in: place, name, isRequired, schema }: Parameter, refs: Refs): boolean {
  if (place !== 'query' || !choosesMethod(method, name, [inputSchemaOf(schema, refs)])) return false
  if (!isRequired) return true
  throw new BrokenPart(`requires the parameter ${name}, which could make it another request than its card shows`)
}

/**
 * The formats that the standard itself defines. Only these are checked. Every other format is only a hint: `duration` is `30s` for one
 * service and `PT30S` for another.
 */
const CHECKED_FORMATS = new Set(['date', 'date-time'])

/** Keywords whose value is data, and keywords whose value is a map of schemas by name. */
const DATA = new Set(['default', 'enum', 'const', 'examples', 'example'])
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** Returns a schema without all formats except {@link CHECKED_FORMATS}. The model still sees all of them. */
function withoutFormats(schema: JsonValue, isMap = false): JsonValue {
  if (Array.isArray(schema)) return schema.map((entry) => withoutFormats(entry))
  if (!isObject(schema)) return schema
  const isKept = (key: string, value: JsonValue) => isMap || key !== 'format' || CHECKED_FORMATS.has(String(value))
  const kept = Object.entries(schema).filter(([key, value]) => isKept(key, value))
  return Object.fromEntries(
    kept.map(([key, value]) => [key, !isMap && DATA.has(key) ? value : withoutFormats(value, !isMap && MAPS.has(key))]),
  )
}

/** Adds a text parameter for each undescribed name in the path, and drops described path parameters that are not in the path. */
function withPathParameters(parts: readonly PathPart[], described: readonly Parameter[]): Parameter[] {
  const names = [...new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name])))]
  const known = described.filter(({ in: place, name }) => place !== 'path' || names.includes(name))
  const missing = names.filter((name) => !known.some((parameter) => parameter.in === 'path' && parameter.name === name))
  return named([...missing.map(undescribed), ...known])
}

function schemaOf(
  parameters: readonly Parameter[],
  body: RequestBody | undefined,
  bodySchema: JsonSchema | undefined,
  refs: Refs,
): JsonSchema {
  const properties: JsonSchema = {}
  const required: string[] = []
  for (const parameter of parameters) {
    const schema = inputSchemaOf(parameter.schema, refs)
    const words: JsonSchema = parameter.description === undefined ? {} : { description: proseLine(parameter.description, 400) }
    properties[parameter.argument] = { ...schema, ...words }
    if (parameter.isRequired) required.push(parameter.argument)
  }
  if (body && bodySchema) {
    properties.body = bodySchema
    if (body.isRequired) required.push('body')
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false }
}

/** Returns the accepted media types. Types that can be read come first. */
function acceptOf({ responses }: JsonObject, refs: Refs): string {
  const offered = Object.entries(isObject(responses) ? responses : {}).flatMap(([status, response]) => {
    const answer = /^(2|default)/.test(status) ? readable(response, refs) : undefined
    return isObject(answer) && isObject(answer.content) ? Object.keys(answer.content) : []
  })
  const types = [...new Set(offered.map((type) => type.split(';')[0]?.trim() ?? ''))].filter((type) => /^[\w.+*-]+\/[\w.+*-]+$/.test(type))
  const json = types.filter(isJsonType)
  const others = types.filter((type) => !isJsonType(type))
  const first =
    json.length > 0 || types.length === 0
      ? ['application/json', ...json.filter((type) => type !== 'application/json' && !type.includes('*'))]
      : []
  return [...first, ...others.map((type) => (first.length > 0 ? `${type};q=0.5` : type))].join(', ')
}

/** Returns undefined for an unreadable response description, which must not prevent the call. */
function readable(response: JsonValue, refs: Refs): JsonValue | undefined {
  try {
    return refs.follow(response)
  } catch {
    return undefined
  }
}
