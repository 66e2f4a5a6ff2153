import type { Action, ActionErrorView, JsonObject, JsonValue, PolicyResult, PreviewField, Requires } from '@countersign/core'
import type { ActionRow } from './tables/schema.ts'

/** The JSON columns of an action, and what they hold. Requirements and risk have columns of their own. */
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

/** A column as what it holds. Each caller gets a value of its own, because tools of others are given it and may change it. */
function read<C extends keyof Columns>(row: Row<C>, column: C): Columns[C] {
  const text: string | null = row[column]
  return text === null ? (null as Columns[C]) : JSON.parse(text)
}

/** The arguments of an action. A digest is made of the stored text, never of these. */
export const argumentsOf = (row: Row<'arguments'>): JsonObject => read(row, 'arguments')

/** What policy said of an action. */
export const policyOf = (row: Row<'policy'>): Columns['policy'] => read(row, 'policy')

/** True for an action that people were asked about. */
export const wasAsked = (row: Row<'policy'>): boolean => policyOf(row).verdict === 'ask'

/** What it takes to approve an action. */
export const requirementsOf = (row: Row<'requires'>): Requires => read(row, 'requires')

/** The risk of an action as people are shown it. */
export const riskOf = (row: Row<'risk'>): Action['risk'] => read(row, 'risk')

/** What an action would change; null where nothing could be read. */
export const previewOf = (row: Row<'preview'>): PreviewField[] | null => read(row, 'preview')

/** The ids of all who asked for an action; null for an action from before they were kept. */
export const requestersOf = (row: Row<'requesters'>): string[] | null => read(row, 'requesters')

/** What the target answered; null where there is no answer. */
export const resultOf = (row: Row<'result'>): JsonValue | null => read(row, 'result')

/** Why an action failed, or is of unknown outcome; null where it did not. */
export const errorOf = (row: Row<'error'>): ActionErrorView | null => read(row, 'error')
