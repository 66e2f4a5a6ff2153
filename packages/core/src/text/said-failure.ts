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

/** Words of services for a failure of their own, which may have come in the middle. */
const OF_ITS_OWN = /internal|fatal|time[d_ ]*out|unavailable/i

/**
 * Returns the failure that the answer to a write reports although its status is one of success; undefined for any other answer. GraphQL
 * answers its errors with 200, and Slack answers everything so: `{ ok: false, error }`. One rule for the server and for clients.
 * @example
 * saidFailure({ ok: false, error: 'no_such_channel' }, facts)?.kind // 'refused'
 */
export function saidFailure(body: JsonValue, { target, status, wordsOf }: AnswerFacts): SaidFailure | undefined {
  if (!isObject(body)) return undefined
  const inWords = (said: JsonObject): string => {
    const words = wordsOf(said)
    return words === undefined ? '' : `: ${words}`
  }
  if (body.ok === false && typeof body.error === 'string') {
    const told = `${target} says that it failed (${status})${inWords(body)}.`
    return OF_ITS_OWN.test(body.error)
      ? { kind: 'ambiguous', message: `${told} Whether it acted is not known.` }
      : { kind: 'refused', message: `${told} It may have done a part of it.` }
  }
  const errors = graphqlErrors(body)
  if (!errors) return undefined
  const words = inWords({ message: errors.map(({ message }) => message ?? '').join('; ') })
  // By the standard nothing was executed where there is no data. An internal error says nothing of that.
  const isRefusal = !Object.hasOwn(body, 'data') && !OF_ITS_OWN.test(JSON.stringify(errors))
  return isRefusal
    ? { kind: 'refused', message: `${target} refused what was sent (${status})${words}.` }
    : { kind: 'ambiguous', message: `${target} failed (${status})${words}. Whether it acted is not known.` }
}

/** Returns the errors of an answer of GraphQL that holds nothing else. */
function graphqlErrors(body: JsonObject): JsonObject[] | undefined {
  const { errors, data = null } = body
  if (!Array.isArray(errors) || errors.length === 0 || !Object.keys(body).every((key) => GRAPHQL.has(key))) return undefined
  const isEmpty = data === null || (isObject(data) && Object.values(data).every((value) => value === null))
  const read = errors.filter(isObject).filter(({ message }) => typeof message === 'string')
  return isEmpty && read.length === errors.length ? read : undefined
}
