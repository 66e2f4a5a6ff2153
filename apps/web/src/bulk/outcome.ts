import type { Action } from '@countersign/client'
import type { Refused } from './send.ts'

/** The result of changing many actions. */
export type Outcome = {
  /** Summary of the actions that changed, for example "10 actions snoozed until 15:20". */
  said: string
  /** The verb for the actions that did not change, for example "snoozed". */
  doing: string
  went: readonly Action[]
  not: readonly Refused[]
}

export type BulkTaskProps = {
  /** As they were when the dialog was opened. */
  chosen: readonly Action[]
  onClose: () => void
  onDone: (outcome: Outcome) => void
}

export const countText = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'action' : 'actions'}`
