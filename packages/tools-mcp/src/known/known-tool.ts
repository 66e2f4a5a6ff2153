import type { Effect, JsonObject, JsonValue, PreviewField, RiskLevel } from '@countersign/core'

/** Calls a read tool of the same server. Returns undefined if the server has no such tool, or if the tool changed since it was pinned. */
export type ReadOther = (name: string, args: JsonObject) => Promise<JsonValue | undefined>

/** The facts about a tool of a well-known server. They override the server's own claims. */
export interface KnownTool {
  effect?: Effect
  risk?: RiskLevel
  /** Matches the arguments of a read that name a file to write. As a read, the tool is offered without them. */
  fileArguments?: RegExp
  /** Returns the words for the card. */
  describe?(args: JsonObject): string
  /** Returns the changes a call would make, read through the server's own read tools. */
  preview?(args: JsonObject, read: ReadOther): Promise<PreviewField[]>
}

/** A widely used server. */
export interface KnownServer {
  /** The packages, programs and hosts that identify it. */
  startedBy: readonly string[]
  /** The same as that of its tools, for reads that are in no list: the server or the configuration says that they only read. */
  fileArguments?: RegExp
  tools: Readonly<Record<string, KnownTool>>
}

/** Tools that only read. */
export const reads = (...names: string[]): Record<string, KnownTool> => Object.fromEntries(names.map((name) => [name, { effect: 'read' }]))

/** Any name of a file counts, so that an argument that a later version adds does not slip through. */
export const FILE_ARGUMENTS = /file|path/i

/**
 * Tools that only read unless an argument names a file: the server then writes the result to that file instead of returning it.
 */
export const readsUnlessToFile = (...names: string[]): Record<string, KnownTool> =>
  Object.fromEntries(names.map((name) => [name, { effect: 'read', fileArguments: FILE_ARGUMENTS }]))

/** Tools whose effects destroy, publish or are hard to undo. */
export const highRisk = (...names: string[]): Record<string, KnownTool> =>
  Object.fromEntries(names.map((name) => [name, { effect: 'write', risk: 'high' }]))

/** Returns an argument for a sentence. */
export function said(value: JsonValue | undefined): string {
  const text = whole(value)
  return text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text
}

/** Returns an argument as text that is not cut. */
export const whole = (value: JsonValue | undefined): string =>
  value === undefined ? '(none)' : typeof value === 'string' ? value : JSON.stringify(value)

/** True for an argument of which a sentence and a label show the beginning only: a row of its own has to show the rest. */
export const isCut = (value: JsonValue | undefined): value is JsonValue => said(value) !== whole(value)

/** Returns the entries of a list; an empty list for any other value. */
export const entriesOf = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : [])
