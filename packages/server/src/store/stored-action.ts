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

/** Parses a column. Each caller gets its own value, because it is passed to tools, which may change it. */
function read<C extends keyof Columns>(row: Row<C>, column: C): Columns[C] {
  const text: string | null = row[column]
  return text === null ? (null as Columns[C]) : JSON.parse(text)
}

/** Returns the arguments of an action. Digests are computed from the stored text, never from these. */
export const argumentsOf = (row: Row<'arguments'>): JsonObject => read(row, 'arguments')

/** Returns the result of the policy for an action. */
export const policyOf = (row: Row<'policy'>): Columns['policy'] => read(row, 'policy')

/** Returns true for an action that required approval. */
export const wasAsked = (row: Row<'policy'>): boolean => policyOf(row).verdict === 'ask'

/** Returns what the approval of an action requires. */
export const requirementsOf = (row: Row<'requires'>): Requires => read(row, 'requires')

/** Returns the risk of an action as it is shown to people. */
export const riskOf = (row: Row<'risk'>): Action['risk'] => read(row, 'risk')

/** Returns the preview of an action; null when it could not be read. */
export const previewOf = (row: Row<'preview'>): PreviewField[] | null => read(row, 'preview')

/** Returns the ids of all requesters of an action; null for an action from before they were stored. */
export const requestersOf = (row: Row<'requesters'>): string[] | null => read(row, 'requesters')

/** Returns the target's answer; null without one. */
export const resultOf = (row: Row<'result'>): JsonValue | null => read(row, 'result')

/** Returns why an action failed, or has an unknown outcome; null otherwise. */
export const errorOf = (row: Row<'error'>): ActionErrorView | null => read(row, 'error')
