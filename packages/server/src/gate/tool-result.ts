import type { JsonValue, ToolOutcome } from '@countersign/core'
import type { ActionRow } from '../store/index.ts'

/** The result of a tool call as the contract words it, for histories, events and people. */
function toolResultValue(outcome: ToolOutcome): JsonValue {
  switch (outcome.type) {
    case 'output':
      return outcome.value
    case 'declined':
      return { declined: true, reason: outcome.reason }
    case 'error':
      return { error: outcome.message }
    case 'outcome_unknown':
      return { outcome_unknown: true, message: outcome.message }
  }
}

export const toolResultText = (outcome: ToolOutcome): string => JSON.stringify(toolResultValue(outcome))

/** Asks the model not to try again on its own: the effect may be there already. */
const UNKNOWN = 'It is not known whether this was carried out. Do not repeat it; a person will find out.'

/** How a settled action ended, for the model. `reason` is the decider's, where there is one. */
export function outcomeOf(row: ActionRow, reason: string | undefined): ToolOutcome {
  switch (row.state) {
    case 'succeeded':
      return { type: 'output', value: row.result === null ? null : JSON.parse(row.result) }
    case 'declined':
      return { type: 'declined', reason: reason ?? JSON.parse(row.policy).reason ?? 'User declined' }
    case 'expired':
      return { type: 'declined', reason: 'Timeout' }
    case 'cancelled':
      return { type: 'declined', reason: reason ?? 'Cancelled' }
    case 'failed':
      return { type: 'error', message: row.error === null ? 'it failed' : JSON.parse(row.error).message }
    case 'outcome_unknown':
      return { type: 'outcome_unknown', message: UNKNOWN }
    default:
      throw new Error(`assertion failed: action ${row.id} is ${row.state}, which is no result`)
  }
}
