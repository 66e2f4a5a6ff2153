import { isObject, type JsonObject, type JsonValue } from '../json/value.ts'

/** The failure of a write, as its answer reports it. `kind` has the meaning that it has in a `ToolError`. */
type SaidFailure = { kind: 'refused' | 'ambiguous'; message: string }

type AnswerFacts = {
  /** Origin of the service. */
  target: string
  status: number
  /** The service's own words about the failure, without a full stop; undefined when there are none. */
  wordsOf(said: JsonObject): string | undefined
}

/** The members of an answer of GraphQL. An answer with others is some service's own, and may report a part that was done. */
const GRAPHQL = new Set(['data', 'errors', 'extensions'])

/** The members of an error of JSON-RPC. */
const RPC = new Set(['jsonrpc', 'id', 'error'])

/** The members of Cloudflare's answers. */
const CLOUDFLARE = new Set(['success', 'errors', 'messages', 'result', 'result_info'])

/** Words of services for a failure of their own, which may have come in the middle, and the code of JSON-RPC for an internal error. */
const OF_ITS_OWN = /-32603|internal|fatal|time[d_ ]*out|unavailable/i

/**
 * Returns the failure that the answer to a write reports although its status is one of success; undefined for any other answer. GraphQL
 * and JSON-RPC answer their errors with 200, Slack answers everything so, `{ ok: false, error }`, and services with answers like Cloudflare's
 * may. One rule for the server and for clients.
 * @example
 * saidFailure({ ok: false, error: 'no_such_channel' }, facts)?.kind // 'refused'
 */
export function saidFailure(body: JsonValue, { target, status, wordsOf }: AnswerFacts): SaidFailure | undefined {
  if (!isObject(body)) return undefined
  const inWords = (said: JsonObject): string => {
    const words = wordsOf(said)
    return words === undefined ? '' : `: ${words}`
  }
  const report = reportOf(body)
  if (report) {
    const told = `${target} says that it failed (${status})${inWords(report.said)}.`
    return OF_ITS_OWN.test(report.tells)
      ? { kind: 'ambiguous', message: `${told} Whether it acted is not known.` }
      : { kind: 'refused', message: `${told} It may have done a part of it.` }
  }
  const errors = graphqlErrors(body)
  if (!errors) return undefined
  const words = inWords(together(errors))
  // By the standard nothing was executed where there is no data. An internal error says nothing of that.
  const isRefusal = !Object.hasOwn(body, 'data') && !OF_ITS_OWN.test(JSON.stringify(errors))
  return isRefusal
    ? { kind: 'refused', message: `${target} refused what was sent (${status})${words}.` }
    : { kind: 'ambiguous', message: `${target} failed (${status})${words}. Whether it acted is not known.` }
}

const together = (errors: readonly JsonObject[]): JsonObject => ({ message: errors.map(({ message }) => message ?? '').join('; ') })

/** Returns the failure that an answer reports in so many words: where its words are, and what tells whether it came in the middle. */
function reportOf(body: JsonObject): { said: JsonObject; tells: string } | undefined {
  if (body.ok === false && typeof body.error === 'string') return { said: body, tells: body.error }
  const errors = rpcErrors(body) ?? cloudflareErrors(body)
  return errors && { said: together(errors), tells: JSON.stringify(errors) }
}

const hasOnly = (body: JsonObject, members: ReadonlySet<string>) => Object.keys(body).every((key) => members.has(key))

const isCoded = (error: JsonValue | undefined): error is JsonObject =>
  isObject(error) && Number.isInteger(error.code) && typeof error.message === 'string'

/** Returns the error of an answer of JSON-RPC 2.0. Beside a result, it is no such answer. */
function rpcErrors(body: JsonObject): JsonObject[] | undefined {
  return body.jsonrpc === '2.0' && isCoded(body.error) && hasOnly(body, RPC) ? [body.error] : undefined
}

/** Returns the errors of an answer like Cloudflare's. With a result, or without an error that says why, it may be an ordinary resource. */
function cloudflareErrors(body: JsonObject): JsonObject[] | undefined {
  const { success, errors, result } = body
  if (success !== false || result !== null || !Array.isArray(errors) || errors.length === 0 || !hasOnly(body, CLOUDFLARE)) return undefined
  const coded = errors.filter(isCoded)
  return coded.length === errors.length ? coded : undefined
}

/** Returns the errors of an answer of GraphQL that holds nothing else. */
function graphqlErrors(body: JsonObject): JsonObject[] | undefined {
  const { errors, data = null } = body
  if (!Array.isArray(errors) || errors.length === 0 || !hasOnly(body, GRAPHQL)) return undefined
  const isEmpty = data === null || (isObject(data) && Object.values(data).every((value) => value === null))
  const read = errors.filter(isObject).filter(({ message }) => typeof message === 'string')
  return isEmpty && read.length === errors.length ? read : undefined
}
