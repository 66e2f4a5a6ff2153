import type { JsonObject, JsonValue, Preview, PreviewField } from '@countersign/core'
import { callHttp } from '../http-call.ts'
import { fillJson, member } from '../template.ts'
import { valuesOf } from '../tool-draft.ts'
import { buildUrl } from '../url-template.ts'
import type { ReadOverride } from './override.ts'
import { isObject } from './parts.ts'
import type { OperationPlan } from './plan.ts'
import { callOperation, type Service, signedCall } from './service.ts'

/** A card with more fields than these is not read. */
const MAX_FIELDS = 40

/** What is needed to show what an operation would change. */
export interface Looking {
  method: string
  plan: OperationPlan
  service: Service
  /** The GET of the same path, where the document has one. */
  reading: { plan: OperationPlan; service: Service } | undefined
  override: ReadOverride
}

/** How an operation's preview is read; undefined where nothing can be told before. */
export function previewOf(looking: Looking): ((args: JsonObject, signal: AbortSignal) => Promise<Preview>) | undefined {
  const { method, reading, override } = looking
  const { before } = override
  if (before) return (args, signal) => previewByOverride(looking, before, args, signal)
  if (override.before !== false && reading && ['PUT', 'PATCH', 'DELETE'].includes(method)) {
    return (args, signal) => previewByGet(looking, reading, args, signal)
  }
  // Without the current values only what is new can be told.
  return method === 'DELETE' ? undefined : async (args) => ({ fields: newFields(looking.plan, args) })
}

async function previewByGet(
  { method, plan }: Looking,
  reading: NonNullable<Looking['reading']>,
  args: JsonObject,
  signal: AbortSignal,
): Promise<Preview> {
  const answer = await callOperation(reading.plan, reading.service, argumentsFor(reading.plan, plan, args), {
    method: 'GET',
    signal,
    // What PUT writes need not be there yet.
    mayBeMissing: method === 'PUT',
  })
  const version = answer.version === undefined ? {} : { version: answer.version }
  const added = newFields(plan, args)
  if (answer.status === 404) return { fields: added, precondition: { missing: true } }
  const current = answer.body ?? null
  const fields = method === 'DELETE' ? [...goingFields(current), ...added] : changedFields(current, added)
  return { fields, precondition: valuesOf(fields), ...version }
}

/** The arguments that the GET of the same path shares with the operation: by place and name, whatever they are called here. */
function argumentsFor(reading: OperationPlan, plan: OperationPlan, args: JsonObject): JsonObject {
  return Object.fromEntries(
    reading.parameters.flatMap((wanted): [string, JsonValue][] => {
      const given = plan.parameters.find(({ in: place, name }) => place === wanted.in && name === wanted.name)
      const value = given && args[given.argument]
      return value === undefined ? [] : [[wanted.argument, value]]
    }),
  )
}

function newFields({ body, parameters }: OperationPlan, args: JsonObject): PreviewField[] {
  const value = body && args.body
  if (value === undefined) {
    // Without a body, what it would do stands in its query.
    return parameters.flatMap(({ in: place, argument, name }): PreviewField[] => {
      const given = args[argument]
      return place === 'query' && given !== undefined ? [{ field: name, newValue: given }] : []
    })
  }
  if (!isObject(value)) return [{ field: 'body', newValue: body?.kind === 'bytes' ? bytesWords(value) : value }]
  return Object.entries(value).map(([field, newValue]) => ({ field, newValue: fileWords(newValue) }))
}

/** A file on a card is its name and size. */
function fileWords(value: JsonValue): JsonValue {
  if (!isObject(value) || typeof value.base64 !== 'string') return value
  return `${typeof value.filename === 'string' ? value.filename : 'a file'} (${bytesWords(value.base64)})`
}

const bytesWords = (base64: JsonValue): string => `${Buffer.from(String(base64), 'base64').byteLength} bytes`

const changedFields = (current: JsonValue, added: readonly PreviewField[]): PreviewField[] =>
  added.map(({ field, newValue }) => {
    const oldValue = field === 'body' && !isObject(current) ? current : member(current, field)
    return { field, ...(oldValue !== undefined && { oldValue }), ...(newValue !== undefined && { newValue }) }
  })

/** What goes: simple values first, since they say what it is. */
function goingFields(current: JsonValue): PreviewField[] {
  if (!isObject(current)) return current === null ? [] : [{ field: 'body', oldValue: current }]
  const isSimple = (value: JsonValue) => value === null || typeof value !== 'object'
  const members = Object.entries(current).toSorted(([, a], [, b]) => Number(isSimple(b)) - Number(isSimple(a)))
  return members.slice(0, MAX_FIELDS).map(([field, oldValue]) => ({ field, oldValue }))
}

async function previewByOverride(
  { service, override }: Looking,
  before: NonNullable<Exclude<ReadOverride['before'], false>>,
  args: JsonObject,
  signal: AbortSignal,
): Promise<Preview> {
  const named = override.named(args)
  const url = buildUrl(service.base.url, before.get, named)
  const answer = await callHttp({ ...signedCall(service, url, { accept: 'application/json' }), method: 'GET', signal })
  const fields = before.compare.flatMap(([field, template]): PreviewField[] => {
    const oldValue = field.split('.').reduce(member, answer.body)
    const newValue = template && fillJson(template, named)
    if (template && newValue === undefined) return []
    return [{ field, ...(oldValue !== undefined && { oldValue }), ...(newValue !== undefined && { newValue }) }]
  })
  return { fields, precondition: valuesOf(fields), ...(before.ifMatch && answer.version !== undefined && { version: answer.version }) }
}
