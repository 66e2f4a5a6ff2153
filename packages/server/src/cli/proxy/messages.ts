import { isDeepStrictEqual } from 'node:util'
import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'

/** Returns the message of a line; undefined for a line that is no JSON. */
export function readMessage(line: Buffer): JsonValue | undefined {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    return undefined
  }
}

/** The id of a request as a key: 1 and "1" are two. */
export const keyOf = (id: JsonValue | undefined): string => JSON.stringify(id ?? null)

export const isRequest = (message: JsonValue | undefined, method: string): message is JsonObject =>
  isObject(message) && message.method === method

/** True for an answer: it has an id and no method. */
export const isAnswer = (message: JsonValue | undefined): message is JsonObject =>
  isObject(message) && message.method === undefined && message.id !== undefined

export const paramsOf = (message: JsonObject): JsonObject => (isObject(message.params) ? message.params : {})

export const lineOf = (message: JsonObject): Buffer => Buffer.from(`${JSON.stringify(message)}\n`)

/** Returns true for the same values, whatever the order of their keys. 0 and -0 are different, and so are values too deep to compare. */
export function isSameValue(one: JsonValue, other: JsonValue): boolean {
  try {
    return isDeepStrictEqual(one, other)
  } catch {
    return false
  }
}
