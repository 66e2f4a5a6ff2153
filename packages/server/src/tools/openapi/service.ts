import type { JsonObject } from '@countersign/core'
import { type CallContent, callHttp, type HttpAnswer } from '../http-call.ts'
import type { Way } from '../source.ts'
import type { OperationPlan } from './plan.ts'
import type { Credentials } from './security.ts'
import type { BaseAddress } from './servers.ts'

/** Where and as whom an operation is called. */
export interface Service extends Way {
  base: BaseAddress
  /** Of the configuration, sent with every call. */
  headers: Readonly<Record<string, string>>
  credentials: Credentials
  timeoutMs: number
}

export interface Sending {
  method: string
  signal: AbortSignal
  idempotencyKey?: string
  ifMatch?: string | undefined
  mayBeMissing?: boolean
}

/**
 * Calls an operation with checked arguments.
 * @throws ToolError as {@link callHttp}.
 */
export function callOperation(plan: OperationPlan, service: Service, args: JsonObject, sending: Sending): Promise<HttpAnswer> {
  const { path, query, headers, cookies, content } = plan.write(args)
  const { base, credentials } = service
  // The credentials are put in here and nowhere before: what is described, shown or recorded never held them.
  const pairs = [...query, ...credentials.query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)]
  const cookie = [...cookies, ...credentials.cookies.map(([name, value]) => `${name}=${encodeURIComponent(value)}`)].join('; ')
  return callHttp({
    network: service.network,
    redactor: service.redactor,
    own: base.own,
    url: urlOf(base.url, path, pairs),
    headers: {
      accept: plan.accept,
      ...headers,
      ...lowerCase(service.headers),
      ...credentials.headers,
      ...(cookie !== '' && { cookie }),
    },
    ...(content && { content: content satisfies CallContent }),
    timeoutMs: service.timeoutMs,
    ...sending,
  })
}

/** The address of a call; the parts are encoded already. */
export function urlOf(base: URL, path: string, pairs: readonly string[]): URL {
  const url = new URL(base.origin + base.pathname.replace(/\/+$/, '') + path)
  if (pairs.length > 0) url.search = pairs.join('&')
  return url
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
