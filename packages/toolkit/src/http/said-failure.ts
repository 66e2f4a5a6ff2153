import { type JsonObject, type JsonValue, ToolError } from '@countersign/core'
import { isObject } from '../schema/json-object.ts'
import { serviceMessage } from './service-text.ts'

/** The members of an answer of GraphQL. An answer with others is some service's own, and may report a part that was done. */
const GRAPHQL = new Set(['data', 'errors', 'extensions'])

/** Words of services for a failure of their own, which may have come in the middle. */
const OF_ITS_OWN = /internal|fatal|time[d_ ]*out|unavailable/i

/**
 * Returns the error of a write whose answer has a status of success and says that it failed; undefined for any other answer. GraphQL
 * answers its errors with 200, and Slack answers everything so: `{ ok: false, error }`.
 */
export function saidFailure(body: JsonValue, { target, status }: { target: string; status: number }): ToolError | undefined {
  if (!isObject(body)) return undefined
  if (body.ok === false && typeof body.error === 'string') {
    const told = `${target} says that it failed (${status})${inWords(body)}.`
    return OF_ITS_OWN.test(body.error)
      ? new ToolError('ambiguous', `${told} Whether it acted is not known.`)
      : new ToolError('refused', `${told} It may have done a part of it.`)
  }
  const errors = graphqlErrors(body)
  if (!errors) return undefined
  const words = inWords({ message: errors.map(({ message }) => message ?? '').join('; ') })
  // By the standard nothing was executed where there is no data. An internal error says nothing of that.
  const isRefusal = !Object.hasOwn(body, 'data') && !OF_ITS_OWN.test(JSON.stringify(errors))
  return isRefusal
    ? new ToolError('refused', `${target} refused what was sent (${status})${words}.`)
    : new ToolError('ambiguous', `${target} failed (${status})${words}. Whether it acted is not known.`)
}

/** Returns the errors of an answer of GraphQL that holds nothing else. */
function graphqlErrors(body: JsonObject): JsonObject[] | undefined {
  const { errors, data = null } = body
  if (!Array.isArray(errors) || errors.length === 0 || !Object.keys(body).every((key) => GRAPHQL.has(key))) return undefined
  const isEmpty = data === null || (isObject(data) && Object.values(data).every((value) => value === null))
  const read = errors.filter(isObject).filter(({ message }) => typeof message === 'string')
  return isEmpty && read.length === errors.length ? read : undefined
}

const inWords = (said: JsonObject): string => {
  const text = serviceMessage(said)
  return text === undefined ? '' : `: ${text}`
}
