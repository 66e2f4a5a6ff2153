import type {
  Action,
  ActionContext,
  ActionErrorView,
  AssignTo,
  ClaimedChange,
  JsonObject,
  JsonValue,
  OutcomeChecks,
  PolicyResult,
  PreviewField,
  Requires,
  Resolution,
  Revised,
} from '@countersign/core'
import { LRUCache } from 'lru-cache'
import type { ActionRevisionRow, ActionRow } from './tables/action-rows.ts'

/** The JSON columns of an action, and their types. Requirements and risk have their own columns. */
interface Columns {
  arguments: JsonObject
  policy: Omit<PolicyResult, 'requires' | 'risk'>
  requires: Requires
  risk: Action['risk']
  preview: PreviewField[] | null
  requesters: readonly string[] | null
  result: JsonValue | null
  error: ActionErrorView | null
  context: StoredContext | null
  callback: StoredCallback | null
  revised: StoredRevised | null
  checks: StoredChecks | null
  resolution: Resolution | null
  extended: StoredExtension | null
  assigned: StoredAssignment | null
}

/** The address that a proposer named, and the webhook whose secret signs what is sent there. */
export interface StoredCallback {
  webhook: string
  url: string
}

/** What the proposer says about an action: its context, and the changes that it foresees. */
interface StoredContext extends ActionContext {
  preview?: readonly ClaimedChange[]
}

/** Why there is a new revision. */
export interface StoredRevised extends Pick<Revised, 'why' | 'reason'> {
  /** Id of the person, where one did it. */
  by: string | null
  /** Epoch milliseconds. */
  at: number
  /** Since when the time to decide runs, in epoch milliseconds. Absent in a revision from before this was stored. */
  since?: number
}

/** The automatic checks of an unknown outcome. Times are epoch ms. */
export interface StoredChecks {
  /** When the outcome became unknown. */
  since: number
  /** Until when the effect may still come. The last check is made then, or later. */
  until: number
  /** The last look-up that was announced; null before the first. */
  lastAt: number | null
  lastFound: OutcomeChecks['lastFound']
}

/** The extension of a deadline. */
export interface StoredExtension {
  /** Id of the person. */
  by: string
  /** Epoch milliseconds. */
  at: number
  /** The deadline before, in epoch milliseconds. */
  from: number
}

/** The person, by id, or the role that should decide about an action. */
export type StoredAssignment = AssignTo & {
  /** Id of the person who said so. */
  by: string
  /** Epoch milliseconds. */
  at: number
}

type Row<C extends keyof Columns> = Pick<ActionRow, C>

/** Parses a column. Each caller gets a value of its own, because the tools of others get these and may change them. */
function read<C extends keyof Columns>(row: Row<C>, column: C): Columns[C] {
  const text: string | null = row[column]
  return text === null ? (null as Columns[C]) : JSON.parse(text)
}

/** Texts that many actions share: decisions, requirements and risks come from the same few rules. A text has about 300 characters. */
const parsed = new LRUCache<string, object>({ max: 2_000 })
const MOST_CHARACTERS = 4_000

/** Parses a column whose text many rows share once. The value is shared and frozen. */
function readShared<C extends 'policy' | 'requires' | 'risk' | 'requesters' | 'arguments'>(row: Row<C>, column: C): Columns[C] {
  const text: string | null = row[column]
  if (text === null) return null as Columns[C]
  const known = parsed.get(text)
  if (known !== undefined) return known as Columns[C]
  const value: Columns[C] = deepFreeze(JSON.parse(text))
  if (text.length <= MOST_CHARACTERS) parsed.set(text, value as object)
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

/** Returns the arguments of an action for code of ours, which changes nothing in them: they are shared and frozen. */
export const sharedArgumentsOf = (row: Row<'arguments'>): JsonObject => readShared(row, 'arguments')

/** Returns the policy's decision about an action. */
export const policyOf = (row: Row<'policy'>): Columns['policy'] => readShared(row, 'policy')

/** True for an action that needed approval. */
export const wasAsked = (row: Row<'policy'>): boolean => policyOf(row).verdict === 'ask'

/** Returns the approvals that an action needs. */
export const requirementsOf = (row: Row<'requires'>): Requires => readShared(row, 'requires')

/** Returns the risk of an action as cards show it. */
export const riskOf = (row: Row<'risk'>): Action['risk'] => readShared(row, 'risk')

/** Returns what an action would change; null when nothing could be read. */
export const previewOf = (row: Row<'preview'>): PreviewField[] | null => read(row, 'preview')

/** Returns the same with the changes that its proposer foresees. A person's edit voids these. */
export function shownPreviewOf(row: Row<'preview' | 'context'> & Pick<ActionRow, 'edited_by'>): PreviewField[] | null {
  const preview = previewOf(row)
  const { preview: claims = [] } = (row.edited_by === null && read(row, 'context')) || {}
  return claims.length === 0 ? preview : [...(preview ?? []), ...claims.map((claim) => ({ ...claim, unverified: true as const }))]
}

/** Returns the ids of everybody who asked for an action; null when they are derived from the session. */
export const requestersOf = (row: Row<'requesters'>): readonly string[] | null => readShared(row, 'requesters')

/** Returns the target's answer; null when there is none. */
export const resultOf = (row: Row<'result'>): JsonValue | null => read(row, 'result')

/** Returns why an action failed or has an unknown outcome; null when it did not. */
export const errorOf = (row: Row<'error'>): ActionErrorView | null => read(row, 'error')

/** Returns what the agent says about an action besides its arguments; null when it says nothing. */
export function contextOf(row: Row<'context'>): ActionContext | null {
  const { preview: _claims, ...context } = read(row, 'context') ?? {}
  return Object.keys(context).length === 0 ? null : context
}

/** Returns where the proposer of an action is told what became of it; null when it named no address. */
export const callbackOf = (row: Row<'callback'>): StoredCallback | null => read(row, 'callback')

/** Returns why there is a new revision; null for the first one. */
export const revisedOf = (row: Row<'revised'>): StoredRevised | null => read(row, 'revised')

/** Returns why an earlier revision was replaced. */
export const endedOf = ({ ended }: Pick<ActionRevisionRow, 'ended'>): StoredRevised => JSON.parse(ended)

/** Returns the automatic checks of an unknown outcome; null where it is known, or its tool cannot check. */
export const checksOf = (row: Row<'checks'>): StoredChecks | null => read(row, 'checks')

/** Returns how a person settled an unknown outcome; null where nobody did. */
export const resolutionOf = (row: Row<'resolution'>): Resolution | null => read(row, 'resolution')

/** Returns the extension of the deadline; null when nobody extended it. */
export const extensionOf = (row: Row<'extended'>): StoredExtension | null => read(row, 'extended')

/** Returns who should decide about an action; null for nobody in particular. */
export const assignmentOf = (row: Row<'assigned'>): StoredAssignment | null => read(row, 'assigned')
