import type { Effect, JsonObject, JsonValue, PreviewField, RiskLevel } from '@countersign/core'

/** Calls a reading tool of the same server. Undefined where the server has none of that name, or it changed since it was first seen. */
export type ReadOther = (name: string, args: JsonObject) => Promise<JsonValue | undefined>

/** What we know of a tool of a well-known server, whatever it says of itself. */
export interface KnownTool {
  effect?: Effect
  risk?: RiskLevel
  /** Words for the card. */
  describe?(args: JsonObject): string
  /** What would change, read now through the server's own reading tools. */
  preview?(args: JsonObject, read: ReadOther): Promise<PreviewField[]>
}

/** A server that many people have. */
export interface KnownServer {
  /** The packages, programs and hosts that it is started or reached by. */
  startedBy: readonly string[]
  tools: Readonly<Record<string, KnownTool>>
}

/** Tools that only read. */
export const reads = (...names: string[]): Record<string, KnownTool> => Object.fromEntries(names.map((name) => [name, { effect: 'read' }]))

/** Tools that destroy, publish or cannot be taken back. */
export const highRisk = (...names: string[]): Record<string, KnownTool> =>
  Object.fromEntries(names.map((name) => [name, { effect: 'write', risk: 'high' }]))

/** An argument in a sentence. */
export function said(value: JsonValue | undefined): string {
  if (value === undefined) return '(none)'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text
}

/** The entries of a list, or none. */
export const entriesOf = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : [])
