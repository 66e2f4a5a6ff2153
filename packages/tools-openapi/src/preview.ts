import { isDeepStrictEqual } from 'node:util'
import { inOrder, type JsonObject, type JsonSchema, type JsonValue, type Preview, type PreviewField, ToolError } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { callHttp, type HttpAnswer } from '@countersign/toolkit'
import {
  buildUrl,
  changesByItself,
  fillJson,
  fillWords,
  lasting,
  member,
  NO_CACHE,
  namesBefore,
  namesIn,
  valuesOf,
} from '@countersign/toolkit/internal'
import { asSchema, compareLeaves, propertiesOf, requiresSome, rowName, saysNotSent, type Unsent } from './compare.ts'
import { align, unwrapped, unwrappedBody } from './envelope.ts'
import type { ReadOverride } from './override.ts'
import type { OperationPlan } from './plan.ts'
import { callOperation, type Service, signedCall } from './service.ts'

/** The maximum number of fields that a person reads on a card. */
const MAX_FIELDS = 40

/** Everything that is needed to show what an operation would change. */
export interface Looking {
  method: string
  /** As in the document: `/tasks/{id}`. */
  path: string
  plan: OperationPlan
  service: Service
  /** The GET of the same path, if the document has one. */
  reading: { plan: OperationPlan; service: Service } | undefined
  override: ReadOverride
}

/** Returns the function that reads an operation's preview; undefined when nothing is known before the call. */
export function previewOf(looking: Looking): ((args: JsonObject, signal: AbortSignal) => Promise<Preview>) | undefined {
  const { method, path, reading, override } = looking
  const { before } = override
  if (before) return (args, signal) => previewByOverride(looking, before, args, signal)
  // A POST to one resource changes it. A POST to a list creates another entry.
  const changes = ['PUT', 'PATCH', 'DELETE'].includes(method) || (method === 'POST' && /\{[^/]*\}\/?$/.test(path))
  if (override.before !== false && reading && changes) return (args, signal) => previewByGet(looking, reading, args, signal)
  // Without current values, only new values can be shown.
  return method === 'DELETE' ? undefined : async (args) => ({ fields: [...pathFields(looking, args), ...newFields(looking, args)] })
}

async function previewByGet(
  looking: Looking,
  reading: NonNullable<Looking['reading']>,
  args: JsonObject,
  signal: AbortSignal,
): Promise<Preview> {
  const { method, plan, path } = looking
  const answer = await callOperation(reading.plan, reading.service, argumentsFor(reading.plan, plan, args), {
    method: 'GET',
    signal,
    mustBeFresh: true,
    // The target of PUT and POST may not exist yet.
    mayBeMissing: method === 'PUT' || method === 'POST',
  })
  const version = answer.version === undefined ? {} : { version: answer.version }
  if (answer.status === 404) {
    requireOwnAnswer(answer, reading.service, path)
    return { fields: newFields(looking, args), precondition: { missing: true } }
  }
  // A service may return the members of an object in another order each time.
  const current = inOrder(answer.body ?? null)
  const fields = method === 'DELETE' ? [...goingFields(current, path), ...newFields(looking, args)] : changedFields(looking, current, args)
  return { fields: readable(fields), precondition: valuesOf(fields), ...version }
}

/** @throws ToolError `refused` for a 404 that may come from a proxy that does not find the service, for example during a deployment. */
function requireOwnAnswer({ body, isWhole }: HttpAnswer, { base }: Service, path: string): void {
  if (isWhole && typeof body !== 'string') return
  const told = `${base.url.origin} answered 404 with a text or a page that need not be its own`
  throw new ToolError('refused', `${told}, so it is not known whether ${path} exists.`, { retryable: true })
}

/** Drops unchanged rows from a large preview. Changes and unknown effects are never left out. */
const readable = (fields: PreviewField[]): PreviewField[] =>
  fields.length <= MAX_FIELDS ? fields : fields.filter((row) => saysNotSent(row) || !isDeepStrictEqual(row.oldValue, row.newValue))

/** Returns the arguments that the GET of the same path shares with the operation, matched by place and name. */
function argumentsFor(reading: OperationPlan, plan: OperationPlan, args: JsonObject): JsonObject {
  return Object.fromEntries(
    reading.parameters.flatMap((wanted): [string, JsonValue][] => {
      const given = plan.parameters.find(({ in: place, name }) => place === wanted.in && name === wanted.name)
      const value = given && member(args, given.argument)
      return value === undefined ? [] : [[wanted.argument, value]]
    }),
  )
}

/** Returns the body as the card shows it: the bytes of files as a size. */
function shownBody({ body, files }: OperationPlan, args: JsonObject): JsonValue | undefined {
  const value = body && args.body
  if (body?.kind === 'bytes' && value !== undefined) return bytesWords(value)
  if (body?.kind !== 'multipart' || !isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, files().has(name) ? fileWords(member) : member]))
}

/** Returns the name, the type and the size of a file, and any other value unchanged. */
function fileWords(file: JsonValue): JsonValue {
  if (!isObject(file)) return file
  const { filename = 'a file', contentType, base64 = '' } = file
  return `${filename} (${contentType === undefined ? '' : `${contentType}, `}${bytesWords(base64)})`
}

const bytesWords = (base64: JsonValue): string => `${Buffer.from(String(base64), 'base64').byteLength} bytes`

const newFields = (looking: Looking, args: JsonObject): PreviewField[] => [...parameterFields(looking, args), ...bodyFields(looking, args)]

/**
 * Returns a row for each value that an agent puts beside the body. It may decide more than the body: whose rights are used, whether others are
 * told. The place is behind a comma, because no member of a body has such a name: those with a comma are quoted.
 */
function parameterFields({ plan, method }: Looking, args: JsonObject): PreviewField[] {
  // The query of another request without a body holds the new values.
  const isQueryNew = method !== 'DELETE' && shownBody(plan, args) === undefined
  return plan.parameters.flatMap(({ in: place, argument, name }): PreviewField[] => {
    const newValue = member(args, argument)
    if (place === 'path' || newValue === undefined) return []
    return [{ field: place === 'query' && isQueryNew ? name : `${rowName(name)}, ${place}`, newValue }]
  })
}

/** Returns a row for each value in the path that the headline does not show. Without words of the configuration it shows the path. */
function pathFields({ plan, override: { describe } }: Looking, args: JsonObject): PreviewField[] {
  const shown = describe && new Set(namesIn(describe))
  return plan.parameters.flatMap(({ in: place, argument, name }): PreviewField[] => {
    const newValue = member(args, argument)
    if (place !== 'path' || !shown || shown.has(argument) || newValue === undefined) return []
    return [{ field: `${rowName(name)}, path`, newValue }]
  })
}

function bodyFields({ plan, path }: Looking, args: JsonObject): PreviewField[] {
  const value = shownBody(plan, args)
  if (value === undefined) return []
  if (!isObject(value)) return [{ field: 'body', newValue: value }]
  return Object.entries(unwrappedBody(value, path)).map(([name, newValue]) => ({ field: rowName(name), newValue }))
}

function changedFields(looking: Looking, current: JsonValue, args: JsonObject): PreviewField[] {
  const { plan, path } = looking
  const value = shownBody(plan, args)
  if (isObject(value) && isObject(current)) {
    const { sent, current: there, opened } = align(value, current, path)
    const whole = asSchema(propertiesOf(plan.inputSchema()).body)
    const schema = opened.reduce<JsonSchema | undefined>((outer, name) => asSchema(propertiesOf(outer)[name]), whole)
    return [...parameterFields(looking, args), ...compareLeaves(sent, there, schema, unsentBy(looking, schema))]
  }
  const isWhole = value !== undefined && !isObject(value) && Array.isArray(value) === Array.isArray(current) && !isObject(current)
  const body = bodyFields(looking, args).map((field) => (isWhole && current !== null ? { ...field, oldValue: lasting(current) } : field))
  return [...parameterFields(looking, args), ...body]
}

/**
 * Returns the effect of a request on members that it does not send. PUT replaces the resource (RFC 9110), but many services accept partial
 * bodies: a PUT whose body has no required members may be for such a service, so the effect is unknown. A JSON merge patch replaces lists
 * (RFC 7396). The effect of any other PATCH or POST on lists depends on the service.
 */
function unsentBy({ method, plan: { body } }: Looking, schema: JsonSchema | undefined): Unsent {
  if (method === 'PUT') return requiresSome(schema) ? { members: 'go', entries: 'go' } : { members: 'unknown', entries: 'unknown' }
  return { members: 'stay', entries: /merge-patch\+json/i.test(body?.mediaType ?? '') ? 'go' : 'unknown' }
}

/**
 * Returns the rows of a deletion: simple values first, because they identify the resource, and how many there are beyond the maximum. Values
 * that change by themselves are left out.
 */
function goingFields(answer: JsonValue, path: string): PreviewField[] {
  if (!isObject(answer)) return answer === null ? [] : [{ field: 'body', oldValue: answer }]
  const isSimple = (value: JsonValue) => value === null || typeof value !== 'object'
  const members = Object.entries(unwrapped(answer, path))
    .filter(([name]) => !changesByItself(name))
    .toSorted(([, a], [, b]) => Number(isSimple(b)) - Number(isSimple(a)))
  const more = members.length - MAX_FIELDS
  return [
    ...members.slice(0, MAX_FIELDS).map(([name, oldValue]) => ({ field: rowName(name), oldValue: lasting(oldValue) })),
    // No member has this name: those with a comma are quoted.
    ...(more > 0 ? [{ field: 'others, not shown', oldValue: `${more} more ${more === 1 ? 'value' : 'values'}` }] : []),
  ]
}

async function previewByOverride(
  { service, override }: Looking,
  before: NonNullable<Exclude<ReadOverride['before'], false>>,
  args: JsonObject,
  signal: AbortSignal,
): Promise<Preview> {
  const named = override.named(args)
  const url = buildUrl(service.base.url, before.get, named)
  const answer = await callHttp({ ...signedCall(service, url, { accept: 'application/json', ...NO_CACHE }), method: 'GET', signal })
  const fields = before.compare.flatMap(([field, template]): PreviewField[] => {
    const oldValue = field.split('.').reduce(member, answer.body)
    const newValue = template && fillJson(template, named)
    if (template && newValue === undefined) return []
    return [{ field, ...(oldValue !== undefined && { oldValue }), ...(newValue !== undefined && { newValue }) }]
  })
  const { describe } = override
  return {
    fields,
    ...(describe && namesBefore(describe) && { headline: fillWords(describe, named, answer.body) }),
    precondition: valuesOf(fields),
    ...(before.ifMatch && answer.version !== undefined && { version: answer.version }),
  }
}
