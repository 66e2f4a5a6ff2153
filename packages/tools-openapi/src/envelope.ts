import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/toolkit/internal'

/** What is sent and what is there, with the same things in the same places. */
export interface Aligned {
  sent: JsonObject
  current: JsonObject
  /** The members of the body that were opened to get to `sent`. */
  opened: readonly string[]
}

const ENVELOPES = new Set(['data', 'result', 'response', 'payload', 'item', 'object', 'resource', 'record'])
/** What answers say about themselves, beside what was asked for. */
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
 * Takes the envelopes off that body and answer are wrapped in, each or both. An envelope is a sole member that is an object, `data` and its
 * like beside what an answer says about itself, or the name of what the path is about. Anything else stays: a wrong value of now would be
 * worse than none.
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

/** An answer without its envelopes. */
export const unwrapped = (answer: JsonObject, path: string): JsonObject => align({}, answer, path).current

/** A body without its envelopes, where there is nothing to compare it with. */
export const unwrappedBody = (body: JsonObject, path: string): JsonObject => align(body, {}, path).sent

/** The only member, where it is an object. */
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

/** The last word of a path that is no parameter: `tasks` of `/v1/tasks/{id}`. */
const subjectOf = (path: string): string => plain(path.split('/').findLast((part) => part !== '' && !part.includes('{')) ?? '')

const plurals = (name: string): JsonValue[] => {
  const word = plain(name)
  return [word, `${word}s`, `${word}es`, word.replace(/y$/, 'ies')]
}

const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '')
