import type { ArgumentCheck, ClientRequest, ExecuteContext, JsonObject, JsonValue, PreviewField, VerifyContext } from '@countersign/core'
import { credentialOf, NO_CREDENTIAL } from '../http/credential.ts'
import { callHttp, type HttpCall } from '../http/http-call.ts'
import { headerFault } from '../http/is-header.ts'
import { withNoCache } from '../http/no-cache.ts'
import { asText, fillJson, fillWords, type JsonTemplate, member, namesBefore, namesIn, textsIn } from '../http/template.ts'
import { buildUrl, fillUrlText, pathFindings } from '../http/url-template.ts'
import { type Finding, toArgumentIssues } from '../schema/issues.ts'
import { openPatternBudget } from '../schema/pattern-cost.ts'
import type { SetupProblem } from '../setup-error.ts'
import type { OutboundContext } from '../source.ts'
import { byClient, executorOf, type ToolDraft, valuesOf } from '../tool-draft.ts'
import { type ReadRoute, readRoute } from './route.ts'
import { creationRows, methodFindings } from './route-rows.ts'
import type { Route, RouteTable } from './route-schema.ts'
import { KEY, verifyRoute } from './route-verify.ts'

/** The context of all tools of one table. */
interface Service extends OutboundContext {
  base: URL
  publicBase: URL
  headers: Readonly<Record<string, string>>
}

/**
 * The tools of a route table.
 * @param way What its calls and their answers go through.
 * @param nameOf Makes a tool's name from the route's.
 * @param report Takes each problem of the table, with its path inside it; a route with a problem yields no tool.
 */
export function openRouteTable(
  table: RouteTable,
  way: OutboundContext,
  nameOf: (route: string) => string,
  report: (problem: SetupProblem) => void,
): ToolDraft[] {
  const base = readBase('baseUrl', table.baseUrl, report)
  const publicBase = readBase('publicUrl', table.publicUrl ?? table.baseUrl, table.publicUrl === undefined ? () => {} : report)
  for (const [name, value] of Object.entries(table.headers)) {
    const fault = headerFault(name, value)
    if (fault !== undefined) report({ path: ['headers', name], message: fault })
  }
  const patterns = openPatternBudget()
  return Object.entries(table.tools).flatMap(([key, route]) => {
    const read = readRoute(route, ({ path, message }) => report({ path: ['tools', key, ...path], message }), patterns)
    if (!base || !publicBase || !read) return []
    const service = { ...way, base, publicBase, headers: table.headers }
    if (read.resultUrl && linkOrigin(read, publicBase) === undefined) {
      report({ path: ['tools', key, 'resultUrl'], message: 'must be a path or an http(s) address with a fixed host' })
    }
    return [routeTool(nameOf(key), route, read, service)]
  })
}

function readBase(key: string, text: string, report: (problem: SetupProblem) => void): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const message =
    url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')
      ? 'must be an http:// or https:// address'
      : url.username !== '' || url.password !== ''
        ? 'must not hold a name or password: it is shown; use headers'
        : url.search !== '' || url.hash !== '' || url.pathname.includes('//')
          ? 'must end with a host or a path'
          : undefined
  if (message === undefined) return url
  report({ path: [key], message })
  return undefined
}

function routeTool(name: string, route: Route, read: ReadRoute, service: Service): ToolDraft {
  const { executor, timeoutMs } = executorOf(route)
  const preview = previewOf(route, read, service, timeoutMs)
  const { verify } = read
  return {
    name,
    description: route.description ?? `${route.method} ${route.path}`,
    effect: read.effect,
    method: route.method,
    inputSchema: read.inputSchema,
    executor,
    idempotent: route.idempotent ?? read.effect === 'read',
    timeoutMs,
    ...(read.cacheForMs !== undefined && { cacheForMs: read.cacheForMs }),
    ...(read.settlesWithinMs !== undefined && { settlesWithinMs: read.settlesWithinMs }),
    ...(route.declineReasons && { declineReasons: route.declineReasons }),
    destination: service.base.origin,
    // A client signs in with its own.
    credential: executor === 'client' ? NO_CREDENTIAL : credentialOf(service.headers),
    definition: definitionOf(route, service),
    check: (args) => checkArguments(route, read, args),
    describe: (args) => (read.describe ? fillWords(read.describe, args) : `${route.method} ${fillUrlText(read.path, args) ?? route.path}`),
    ...(preview && { preview }),
    execute: executor === 'client' ? byClient(name) : (args, context) => executeRoute({ route, read, service, timeoutMs }, args, context),
    ...(executor === 'client' && { clientRequest: (args: JsonObject) => clientRequest(route, read, service, args) }),
    ...(verify && {
      verify: (args: JsonObject, context: VerifyContext) => verifyRoute(verify, askedOf(service, timeoutMs), args, context),
    }),
    ...(read.resultUrl && { resultUrl: (args: JsonObject, output: JsonValue) => linkOf(read, service.publicBase, args, output) }),
  }
}

/**
 * The parts that decide where a call goes and what it carries: after a change here, an approval is for something else. How far a check is
 * trusted is not included, because it may be corrected while an outcome is unknown.
 */
function definitionOf(route: Route, { base }: Service): JsonValue {
  const { method, path, query = null, body = null, before = null, verify } = route
  return { method, baseUrl: base.href, path, query, body, before, ...(verify && { verify: { get: verify.get, done: verify.done } }) }
}

/** The service as `verify` asks it. */
const askedOf = (service: Service, timeoutMs: number) => ({
  base: service.base,
  get: (url: URL, signal: AbortSignal) => callHttp({ ...lookCall(service, url, timeoutMs), signal, mayBeMissing: true }),
})

/** The request with which a route looks at its target, except for the signal. Decisions depend on the answer, so it must not be an old one. */
const lookCall = ({ network, base, headers, redactor }: Service, url: URL, timeoutMs: number) => ({
  ...{ network, redactor, timeoutMs, method: 'GET', url, own: base.origin },
  headers: withNoCache(headers),
})

function checkArguments({ method }: Route, read: ReadRoute, args: JsonObject): ArgumentCheck {
  const { check, effect, path, query, before, verify } = read
  const checked = check(args)
  if (!checked.ok) return checked
  const paths = [path, before?.get, verify?.path].filter((template) => template !== undefined)
  // The key is ours, not an argument; what could be wrong with it is nothing.
  const inPaths = paths.flatMap((path) => pathFindings(path, { [KEY]: 'key', ...args }))
  const inQuery = effect === 'write' ? query.flatMap(([, template]) => unsentFindings(template, args)) : []
  const inBody = method === 'POST' ? methodFindings(read, bodyOf(read, args)) : []
  const findings = new Map([...inPaths, ...inQuery, ...inBody].map((finding) => [String(finding.path[0]), finding]))
  return findings.size === 0 ? checked : { ok: false, issues: toArgumentIssues([...findings.values()]) }
}

/**
 * The findings about lists that a query leaves out, because they are empty: the card would show them, and `DELETE /tasks` without the empty
 * list of ids deletes all of them.
 */
function unsentFindings(template: JsonTemplate, args: JsonObject): Finding[] {
  const value = 'text' in template ? fillJson(template, args) : undefined
  if (!Array.isArray(value) || value.length > 0) return []
  return textsIn(template)
    .flatMap(namesIn)
    .map((name) => ({ path: [name], words: 'must not be empty: it would not be sent' }))
}

function bodyOf({ body }: ReadRoute, args: JsonObject): JsonValue | undefined {
  if (body.kind === 'none') return undefined
  if (body.kind === 'template') return fillJson(body.template, args)
  return Object.fromEntries(Object.entries(args).filter(([name]) => !body.used.has(name)))
}

function queryOf(templates: ReadRoute['query'], args: JsonObject): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, template] of templates) {
    const value = fillJson(template, args)
    for (const entry of Array.isArray(value) ? value : value === undefined ? [] : [value]) query.append(name, asText(entry))
  }
  return query
}

/** The request as a client sends it: without the headers of the table, which are the server's own. */
function clientRequest(route: Route, read: ReadRoute, { base }: Service, args: JsonObject): ClientRequest {
  const body = bodyOf(read, args)
  const { href } = buildUrl(base, read.path, args, queryOf(read.query, args))
  return { method: route.method, url: href, ...(body !== undefined && { body }) }
}

async function executeRoute(
  { route, read, service, timeoutMs }: { route: Route; read: ReadRoute; service: Service; timeoutMs: number },
  args: JsonObject,
  { idempotencyKey, signal, version }: ExecuteContext,
): Promise<JsonValue> {
  const { network, redactor, base, headers } = service
  const body = bodyOf(read, args)
  const call: HttpCall = {
    network,
    method: route.method,
    own: base.origin,
    url: buildUrl(base, read.path, args, queryOf(read.query, args)),
    headers,
    redactor,
    signal,
    timeoutMs,
    ...(body !== undefined && { body }),
    ...(read.effect === 'write' && { idempotencyKey, canLook: read.verify !== undefined }),
    ...(read.before?.ifMatch && { ifMatch: version }),
  }
  const answer = await callHttp(call)
  return answer.body ?? { status: answer.status }
}

function previewOf(route: Route, read: ReadRoute, service: Service, timeoutMs: number): ToolDraft['preview'] {
  const { before, describe } = read
  const words = describe && namesBefore(describe) ? describe : undefined
  if (before) {
    return async (args, signal) => {
      const url = buildUrl(service.base, before.get, args, queryOf(before.query, args))
      const { body: current, version } = await callHttp({ ...lookCall(service, url, timeoutMs), signal })
      const fields = before.compare.flatMap(([field, template]): PreviewField[] => {
        const oldValue = field.split('.').reduce(member, current)
        const newValue = template && fillJson(template, args)
        // An optional argument that is absent leaves its field as it is.
        if (template && newValue === undefined) return []
        return [{ field, ...(oldValue !== undefined && { oldValue }), ...(newValue !== undefined && { newValue }) }]
      })
      const shown = before.show.flatMap(([field, path]): { field: string; value: JsonValue }[] => {
        const value = path.split('.').reduce(member, current)
        return value === undefined ? [] : [{ field, value }]
      })
      fields.push(...shown.map(({ field, value }) => ({ field, newValue: value })))
      return {
        fields,
        ...(words && { headline: fillWords(words, args, current) }),
        precondition: [...valuesOf(fields), ...shown],
        ...(before.ifMatch && version !== undefined && { version }),
      }
    }
  }
  // Without the current values only a creation can be told: it has none.
  if (route.method !== 'POST' || read.effect !== 'write') return undefined
  return async (args) => ({ fields: creationRows(read, args, bodyOf(read, args)) })
}

/** The origin every link of a route has, or undefined when its template lets a value choose it. */
function linkOrigin({ resultUrl }: ReadRoute, publicBase: URL): string | undefined {
  if (!resultUrl) return undefined
  const origins = ['x', 'y.example'].map((sample) => {
    const text = resultUrl.parts.map((part) => (typeof part === 'string' ? part : sample)).join('')
    const url = URL.canParse(text, publicBase) ? new URL(text, publicBase) : undefined
    return url && /^https?:$/.test(url.protocol) && url.username === '' ? url.origin : undefined
  })
  return origins[0] === origins[1] ? origins[0] : undefined
}

function linkOf(read: ReadRoute, publicBase: URL, args: JsonObject, output: JsonValue): string | undefined {
  const text = read.resultUrl && fillUrlText(read.resultUrl, args, output)
  if (text === undefined || !URL.canParse(text, publicBase)) return undefined
  const url = new URL(text, publicBase)
  return url.origin === linkOrigin(read, publicBase) ? url.href : undefined
}
