import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'

/** The body and the current values, aligned so that equal members are in equal places. */
export interface Aligned {
  sent: JsonObject
  current: JsonObject
  /** The members of the body that were unwrapped to get to `sent`. */
  opened: readonly string[]
}

const ENVELOPES = new Set(['data', 'result', 'response', 'payload', 'item', 'object', 'resource', 'record'])
/** Metadata that answers contain beside the resource. */
const ABOUT = new Set(
  ['meta', 'links', '_links', 'included', 'jsonapi', 'errors', 'error', 'warnings', 'status', 'success', 'ok', 'message', 'code'].concat([
    'request_id',
    'requestId',
    'trace_id',
    'traceId',
    'timestamp',
    'took',
  ]),
)
const MAX_DEPTH = 3

/**
 * Unwraps the envelopes of the body and of the answer, each or both. An envelope is a sole member that is an object, `data` and the like
 * beside metadata, or a member named after the subject of the path. All other members stay: a wrong current value would be worse than none.
 */
export function align(body: JsonObject, answer: JsonObject, path: string): Aligned {
  let [sent, current] = [body, answer]
  const opened: string[] = []
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const own = wrapperOf(sent)
    const theirs = envelopeOf(current, path)
    if (own !== undefined && isObject(current[own]) && (own === theirs || isEnvelope(own, path))) {
      sent = sent[own] as JsonObject
      current = current[own]
      opened.push(own)
    } else if (theirs !== undefined && !Object.hasOwn(sent, theirs)) {
      current = current[theirs] as JsonObject
    } else if (own !== undefined && !Object.hasOwn(current, own) && isEnvelope(own, path)) {
      sent = sent[own] as JsonObject
      opened.push(own)
    } else break
  }
  return { sent, current, opened }
}

/** Returns an answer without its envelopes. */
export const unwrapped = (answer: JsonObject, path: string): JsonObject => align({}, answer, path).current

/** Returns a body without its envelopes, when there is no answer to compare it with. */
export const unwrappedBody = (body: JsonObject, path: string): JsonObject => align(body, {}, path).sent

/** Returns the name of the only member, if it is an object. */
function wrapperOf(value: JsonObject): string | undefined {
  const [name, ...others] = Object.keys(value)
  return name !== undefined && others.length === 0 && isObject(value[name]) ? name : undefined
}

function envelopeOf(answer: JsonObject, path: string): string | undefined {
  const sole = wrapperOf(answer)
  if (sole !== undefined) return sole
  const [name, ...others] = Object.keys(answer).filter((key) => !ABOUT.has(key))
  return name !== undefined && others.length === 0 && isObject(answer[name]) && isEnvelope(name, path) ? name : undefined
}

const isEnvelope = (name: string, path: string): boolean => ENVELOPES.has(name) || plurals(name).includes(subjectOf(path))

/** Returns the last segment of a path that is not a parameter: `tasks` of `/v1/tasks/{id}`. */
const subjectOf = (path: string): string => plain(path.split('/').findLast((part) => part !== '' && !part.includes('{')) ?? '')

const plurals = (name: string): JsonValue[] => {
  const word = plain(name)
  return [word, `${word}s`, `${word}es`, word.replace(/y$/, 'ies')]
}

const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '')
