import type { JsonObject } from '@countersign/core'
import { type CallContent, callHttp, type HttpAnswer, type HttpCall, type OutboundContext } from '@countersign/toolkit'
import { NO_CACHE } from '@countersign/toolkit/internal'
import type { OperationPlan } from './plan.ts'
import type { Credentials } from './security.ts'
import type { BaseAddress } from './servers.ts'

/** The base URL and the credentials that an operation is called with. */
export interface Service extends OutboundContext {
  base: BaseAddress
  /** The configured headers, sent with every call. */
  headers: Readonly<Record<string, string>>
  credentials: Credentials
  timeoutMs: number
}

export interface Sending {
  method: string
  signal: AbortSignal
  idempotencyKey?: string
  ifMatch?: string | undefined
  canLook?: boolean
  mayBeMissing?: boolean
  /** True when a decision depends on the answer: no cache may then answer without asking the service. */
  mustBeFresh?: boolean
}

/**
 * Calls an operation with validated arguments.
 * @throws ToolError as {@link callHttp}.
 */
export function callOperation(
  plan: OperationPlan,
  service: Service,
  args: JsonObject,
  { mustBeFresh, ...sending }: Sending,
): Promise<HttpAnswer> {
  const { path, query, headers, cookies, content } = plan.write(args)
  return callHttp({
    ...signedCall(
      service,
      urlOf(service.base.url, path, query),
      { accept: plan.accept, ...headers, ...(mustBeFresh && NO_CACHE) },
      cookies,
    ),
    ...(content && { content: content satisfies CallContent }),
    ...sending,
  })
}

type Signed = Pick<HttpCall, 'network' | 'redactor' | 'own' | 'url' | 'headers' | 'unsigned' | 'timeoutMs'>

/**
 * Returns the parts that every call to the service shares. Credentials are added only here, so they are never described, shown or recorded.
 * They and the configured headers take precedence over arguments.
 * @param headers By lower-case name.
 */
export function signedCall(
  { network, redactor, base, credentials, timeoutMs, ...service }: Service,
  url: URL,
  headers: Readonly<Record<string, string>>,
  cookies: readonly string[] = [],
): Signed {
  const signedUrl = new URL(url)
  const query = credentials.query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  if (query.length > 0) signedUrl.search = [url.search.slice(1), ...query].filter((text) => text !== '').join('&')
  const own = lowerCase(service.headers)
  const pairs = credentials.cookies.map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const cookie = [...(own.cookie === undefined ? [] : [own.cookie]), ...cookies, ...pairs].join('; ')
  const asked = credentials.missing.join(' and ')
  return {
    network,
    redactor,
    own: base.own,
    url: signedUrl,
    headers: { ...headers, ...own, ...credentials.headers, ...(cookie !== '' && { cookie }) },
    unsigned: asked === '' ? undefined : `Its document asks for ${asked}, which has no value under auth.`,
    timeoutMs,
  }
}

/** Returns the URL of a call. The parts are already encoded. */
export function urlOf(base: URL, path: string, pairs: readonly string[]): URL {
  const url = new URL(base.origin + base.pathname.replace(/\/+$/, '') + path)
  if (pairs.length > 0) url.search = pairs.join('&')
  return url
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
