import type { JsonObject, JsonValue, LookUp } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { readJson } from './json.ts'

/** Collects the look-ups that a brain reports in one answer. */
export interface LookUps {
  /** Handles a `tool-input-available`: a look-up, or the announcement of a call. */
  announced(id: string | undefined, name: string, input: JsonValue): void
  /** Handles a `tool-output-available` or `tool-output-error`. */
  answered(id: string, found: { output: JsonValue } | { error: string }): void
  /** Handles a `require-action`: the call that it announces is not a look-up. */
  called(id: string | undefined, name: string, input: JsonValue | undefined): void
  all(): LookUp[]
}

/** @param callIds The ids of the conversation's calls: when a brain repeats them, it means actions and not look-ups. */
export function collectLookUps(callIds: ReadonlySet<string>): LookUps {
  const called = new Set(callIds)
  let found: LookUp[] = []
  let unnamed = 0
  return {
    announced(id, name, input) {
      if (id && called.has(id)) return
      const known = found.find((lookUp) => lookUp.id === id)
      if (known) Object.assign(known, { name, input })
      else found.push({ id: id || `look-up-${++unnamed}`, name, input })
    },
    answered(id, answer) {
      const at = found.findIndex((lookUp) => lookUp.id === id)
      const lookUp = found[at]
      // The newest answer counts: one may come in several versions.
      if (lookUp) found[at] = { id, name: lookUp.name, input: lookUp.input, ...answer }
    },
    called(id, name, input) {
      if (id) {
        called.add(id)
        found = found.filter((lookUp) => lookUp.id !== id)
        return
      }
      const text = JSON.stringify(input ?? {})
      const at = found.findIndex((lookUp) => lookUp.name === name && isOpen(lookUp) && JSON.stringify(lookUp.input) === text)
      if (at !== -1) found.splice(at, 1)
    },
    all: () => found,
  }
}

const isOpen = ({ output, error }: LookUp): boolean => output === undefined && error === undefined

/**
 * Returns look-ups for the next request to the brain: an assistant message with the calls, then a result for each, as in OpenAI's chat API.
 * A look-up without a reported end is left out, because a call without a result makes the history invalid.
 * @param idOf Returns an id that no other call of the history has.
 */
export function lookUpMessages(lookUps: readonly LookUp[], idOf: (id: string) => string): JsonObject[] {
  const ended = lookUps.filter((lookUp) => !isOpen(lookUp)).map((lookUp) => ({ ...lookUp, id: idOf(lookUp.id) }))
  if (ended.length === 0) return []
  const calls = ended.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: argumentsOf(input) } }))
  const results = ended.map(({ id, output, error }) => ({
    role: 'tool',
    tool_call_id: id,
    content: JSON.stringify(error === undefined ? output : { error }),
  }))
  return [{ role: 'assistant', content: '', tool_calls: calls }, ...results]
}

/** Wraps arguments that are not an object, including truncated ones, because every chat API requires an object. */
function argumentsOf(input: JsonValue): string {
  const value = typeof input === 'string' ? (readJson(input) ?? input) : input
  return JSON.stringify(isObject(value) ? value : { input })
}
