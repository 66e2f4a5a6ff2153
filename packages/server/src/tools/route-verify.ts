import { canonicalJson, type JsonObject, type JsonValue, type Verification, type VerifyContext } from '@countersign/core'
import type { Network, Redactor } from '../net/index.ts'
import { callHttp } from './http-call.ts'
import type { Route } from './route-schema.ts'
import { asText, fillJson, type JsonTemplate, member, readJsonTemplate, readTemplate, type Template } from './template.ts'
import { buildUrl, readPathTemplate } from './url-template.ts'

/** The placeholder for the key of the attempt. */
export const KEY = 'idempotencyKey'

/** Where a route finds out what became of an attempt, and by which fields of the answer. */
export interface ReadVerify {
  path: Template
  query: [string, Template][]
  done: [string, JsonTemplate][]
}

type Attempt = <T>(path: readonly PropertyKey[], read: () => T) => T | undefined

/** Reads `verify` of a route: `{ get: "/payments?key={idempotencyKey}", done: { "0.state": "paid" } }`. */
export function readVerify({ get, done }: NonNullable<Route['verify']>, attempt: Attempt): ReadVerify | undefined {
  const [pathText = '', ...rest] = get.split('?')
  const path = attempt(['verify', 'get'], () => readPathTemplate(pathText))
  const query = attempt(['verify', 'get'], () => readQuery(rest.join('?')))
  const fields = Object.entries(done).map(([field, value]): [string, JsonTemplate | undefined] => [
    field,
    attempt(['verify', 'done', field], () => readJsonTemplate(value)),
  ])
  return path && query && { path, query, done: fields.flatMap(([field, template]) => (template ? [[field, template]] : [])) }
}

function readQuery(text: string): [string, Template][] {
  if (text === '') return []
  return text.split('&').map((pair) => {
    const [name = '', ...value] = pair.split('=')
    if (!/^[\w.~[\]-]+$/.test(name) || value.length !== 1) throw new Error('must hold a query of the form a=b&c={name}')
    if (/[%+]/.test(pair)) throw new Error('must hold the values of its query as they are: they are encoded when they are sent')
    return [name, readTemplate(value.join(''))]
  })
}

interface Service {
  network: Network
  base: URL
  headers: Readonly<Record<string, string>>
  redactor: Redactor
  timeoutMs: number
}

/**
 * Asks the service what became of an attempt. Done: it answers, and every field is as declared. Not done: 404. Everything else tells
 * nothing: what was done may have been changed since.
 * @throws ToolError when the service cannot be asked.
 */
export async function verifyRoute(read: ReadVerify, service: Service, given: JsonObject, context: VerifyContext): Promise<Verification> {
  const args = { ...given, [KEY]: context.idempotencyKey }
  const query = new URLSearchParams()
  for (const [name, text] of read.query) {
    const value = fillJson({ text }, args)
    if (value !== undefined) query.append(name, asText(value))
  }
  const { base, ...call } = service
  const url = buildUrl(base, read.path, args, query)
  const { status, body } = await callHttp({ ...call, method: 'GET', url, own: base.origin, signal: context.signal, mayBeMissing: true })
  if (status === 404) return { done: false }
  // A field that depends on an absent argument proves nothing.
  const wanted = read.done.flatMap(([field, template]): [string, JsonValue][] => {
    const value = fillJson(template, args)
    return value === undefined ? [] : [[field, value]]
  })
  const isDone = wanted.length > 0 && wanted.every(([field, value]) => isSame(field.split('.').reduce(member, body), value))
  return isDone ? { done: true, output: body ?? null } : { done: 'unknown' }
}

const isSame = (found: JsonValue | undefined, wanted: JsonValue): boolean =>
  found !== undefined && canonicalJson(found) === canonicalJson(wanted)
