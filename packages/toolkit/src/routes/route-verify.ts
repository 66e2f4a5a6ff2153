import { canonicalJson, type JsonObject, type JsonValue, type Verification, type VerifyContext } from '@countersign/core'
import type { HttpAnswer } from '../http/http-call.ts'
import {
  asText,
  fillJson,
  type JsonTemplate,
  member,
  namesIn,
  readJsonTemplate,
  readTemplate,
  type Template,
  textsIn,
} from '../http/template.ts'
import { buildUrl, readPathTemplate } from '../http/url-template.ts'
import type { Route } from './route-schema.ts'

/** The placeholder for the key of the attempt. */
export const KEY = 'idempotencyKey'

/** The request that finds out the outcome of an attempt, and the fields of the answer that prove it. */
export interface ReadVerify {
  path: Template
  query: [string, Template][]
  done: [string, JsonTemplate][]
  /** True when 404 says that it was not carried out and will not be. */
  isAuthoritative: boolean
}

type Attempt = <T>(path: readonly PropertyKey[], read: () => T) => T | undefined

/** Reads `verify` of a route: `{ get: "/payments?key={idempotencyKey}", done: { "0.state": "paid" } }`. */
export function readVerify({ get, done, authoritative = false }: NonNullable<Route['verify']>, attempt: Attempt): ReadVerify | undefined {
  const [pathText = '', ...rest] = get.split('?')
  const path = attempt(['verify', 'get'], () => readPathTemplate(pathText))
  const query = attempt(['verify', 'get'], () => readQuery(rest.join('?')))
  const fields = Object.entries(done).map(([field, value]): [string, JsonTemplate | undefined] => [
    field,
    attempt(['verify', 'done', field], () => readJsonTemplate(value)),
  ])
  if (!path || !query) return undefined
  return { path, query, done: fields.flatMap(([field, template]) => (template ? [[field, template]] : [])), isAuthoritative: authoritative }
}

/** All that `verify` fills in, each with where it stands. */
export const verifyTemplates = ({ path, query, done }: ReadVerify): [PropertyKey[], Template][] => [
  [['verify', 'get'], path],
  ...query.map(([, template]): [PropertyKey[], Template] => [['verify', 'get'], template]),
  ...done.flatMap(([field, template]) => textsIn(template).map((text): [PropertyKey[], Template] => [['verify', 'done', field], text])),
]

function readQuery(text: string): [string, Template][] {
  if (text === '') return []
  return text.split('&').map((pair) => {
    const [name = '', ...value] = pair.split('=')
    if (!/^[\w.~[\]-]+$/.test(name) || value.length !== 1) throw new Error('must hold a query of the form a=b&c={name}')
    if (/[%+]/.test(pair)) throw new Error('must hold the values of its query as they are: they are encoded when they are sent')
    return [name, readTemplate(value.join(''))]
  })
}

/** The service to ask. */
interface Service {
  base: URL
  /** Makes a GET, whose answer may be 404. @throws ToolError when the service cannot be asked. */
  get(url: URL, signal: AbortSignal): Promise<Pick<HttpAnswer, 'status' | 'body' | 'isWhole'>>
}

/**
 * Asks the service for the outcome of an attempt. Done: it answers, and every field is as declared. Not found: 404. Any other answer proves
 * nothing, because the target may have changed since. Without the key of the attempt, a question that lacks an argument is not asked.
 * @throws ToolError when the service cannot be asked.
 */
export async function verifyRoute(read: ReadVerify, service: Service, given: JsonObject, context: VerifyContext): Promise<Verification> {
  const args = { ...given, [KEY]: context.idempotencyKey }
  if (!isAboutThis(read, args)) return { done: 'unknown' }
  const query = new URLSearchParams()
  for (const [name, text] of read.query) {
    const value = fillJson({ text }, args)
    if (value !== undefined) query.append(name, asText(value))
  }
  const { status, body, isWhole } = await service.get(buildUrl(service.base, read.path, args, query), context.signal)
  // A text or a page comes from a proxy that does not find the service, for example during a deployment. A body that was not read whole
  // can be such a page.
  const isOfService = isWhole && typeof body !== 'string'
  if (status === 404) return read.isAuthoritative && isOfService ? { done: false, authoritative: true } : { done: false }
  // A field that depends on an absent argument proves nothing.
  const wanted = read.done.flatMap(([field, template]): [string, JsonValue][] => {
    const value = fillJson(template, args)
    return value === undefined ? [] : [[field, value]]
  })
  const isDone = wanted.length > 0 && wanted.every(([field, value]) => isSame(field.split('.').reduce(member, body), value))
  return isDone ? { done: true, output: body ?? null } : { done: 'unknown' }
}

/**
 * True when the question or its proof names the attempt, or lacks no argument. Without an optional argument, a question such as
 * `/payments?reference={reference}` would be about the payments of everybody.
 */
function isAboutThis(read: ReadVerify, args: JsonObject): boolean {
  const names = verifyTemplates(read).flatMap(([, template]) => namesIn(template))
  return names.includes(KEY) || names.every((name) => member(args, name) !== undefined)
}

const isSame = (found: JsonValue | undefined, wanted: JsonValue): boolean =>
  found !== undefined && canonicalJson(found) === canonicalJson(wanted)
