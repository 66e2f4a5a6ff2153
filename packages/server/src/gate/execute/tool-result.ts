import { type JsonValue, resultWithoutMedia, shortenText, type ToolOutcome, withoutMedia } from '@countersign/core'
import { type ActionRow, stored } from '../../store/index.ts'

/** A result as the text of a message. Its pictures are in the action's result and in what the model is given, and not a third time here. */
export const toolResultText = (outcome: ToolOutcome): string => JSON.stringify(resultWithoutMedia(outcome))

/**
 * A result as a part of a note, which every provider gets as plain text with each further step: media by type and size, a long text without
 * its middle.
 */
export const noteOfResult = (result: JsonValue): string => `Result: ${shortenText(JSON.stringify(withoutMedia(result)))}`

/** Asks the model not to try again on its own: the effect may be there already. */
const UNKNOWN = 'It is not known whether this was carried out. Do not repeat it; a person will find out.'

/**
 * How a settled action ended, for the model. `reason` is the decider's, where there is one; `editor` the name of who changed its arguments:
 * then the model is told what really ran. Its own call stays as it said it.
 */
export function outcomeOf(row: ActionRow, reason: string | undefined, editor?: string): ToolOutcome {
  const outcome = plainOutcomeOf(row, reason)
  if (editor === undefined || outcome.type === 'declined') return outcome
  return { type: 'edited', argumentsRun: stored.argumentsOf(row), by: editor, outcome }
}

function plainOutcomeOf(row: ActionRow, reason: string | undefined): Exclude<ToolOutcome, { type: 'edited' }> {
  switch (row.state) {
    case 'succeeded':
      return { type: 'output', value: stored.resultOf(row) }
    case 'declined':
      return { type: 'declined', reason: reason ?? stored.policyOf(row).reason ?? 'User declined' }
    case 'expired':
      return { type: 'declined', reason: 'Timeout' }
    case 'cancelled':
      return { type: 'declined', reason: reason ?? 'Cancelled' }
    case 'failed':
      return { type: 'error', message: stored.errorOf(row)?.message ?? 'it failed' }
    case 'outcome_unknown':
      return { type: 'outcome_unknown', message: UNKNOWN }
    default:
      throw new Error(`assertion failed: action ${row.id} is ${row.state}, which is no result`)
  }
}
