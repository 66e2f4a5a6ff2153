import type { Action, ActionErrorView, JsonObject, JsonValue, PolicyResult, PreviewField, Requires } from '@countersign/core'
import type { ActionRow } from './tables/schema.ts'

/** The JSON columns of an action, and their types. Requirements and risk have their own columns. */
interface Columns {
  arguments: JsonObject
  policy: Omit<PolicyResult, 'requires' | 'risk'>
  requires: Requires
  risk: Action['risk']
  preview: PreviewField[] | null
  requesters: string[] | null
  result: JsonValue | null
  error: ActionErrorView | null
}

type Row<C extends keyof Columns> = Pick<ActionRow, C>

/** Parses a column. Each caller gets a value of its own, because the tools of others get these and may change them. */
function read<C extends keyof Columns>(row: Row<C>, column: C): Columns[C] {
  const text: string | null = row[column]
  return text === null ? (null as Columns[C]) : JSON.parse(text)
}

/** What was parsed of a row, with its text: a row that is patched in place is parsed again. */
const parsed = new WeakMap<object, Map<string, { text: string; value: unknown }>>()

/** Parses a column once for each row. The value is shared and frozen. */
function readOnce<C extends keyof Columns>(row: Row<C>, column: C): Columns[C] {
  const text: string | null = row[column]
  if (text === null) return null as Columns[C]
  const columns = parsed.get(row) ?? new Map<string, { text: string; value: unknown }>()
  parsed.set(row, columns)
  const known = columns.get(column)
  if (known?.text === text) return known.value as Columns[C]
  const value = deepFreeze(JSON.parse(text))
  columns.set(column, { text, value })
  return value
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner)
    Object.freeze(value)
  }
  return value
}

/** Returns the arguments of an action. A digest is made from the stored text, never from these. */
export const argumentsOf = (row: Row<'arguments'>): JsonObject => read(row, 'arguments')

/** Returns the policy's decision about an action. */
export const policyOf = (row: Row<'policy'>): Columns['policy'] => readOnce(row, 'policy')

/** True for an action that needed approval. */
export const wasAsked = (row: Row<'policy'>): boolean => policyOf(row).verdict === 'ask'

/** Returns the approvals that an action needs. */
export const requirementsOf = (row: Row<'requires'>): Requires => readOnce(row, 'requires')

/** Returns the risk of an action as cards show it. */
export const riskOf = (row: Row<'risk'>): Action['risk'] => readOnce(row, 'risk')

/** Returns what an action would change; null when nothing could be read. */
export const previewOf = (row: Row<'preview'>): PreviewField[] | null => read(row, 'preview')

/** Returns the ids of everybody who asked for an action; null when they are derived from the session. */
export const requestersOf = (row: Row<'requesters'>): string[] | null => readOnce(row, 'requesters')

/** Returns the target's answer; null when there is none. */
export const resultOf = (row: Row<'result'>): JsonValue | null => read(row, 'result')

/** Returns why an action failed or has an unknown outcome; null when it did not. */
export const errorOf = (row: Row<'error'>): ActionErrorView | null => readOnce(row, 'error')
