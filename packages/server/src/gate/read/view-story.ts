import type { ActionStory, Principal } from '@countersign/core'
import { namesIn, viewRows } from '../../audit/index.ts'
import { type ActionRow, audit, messages, type Tx, visibility } from '../../store/index.ts'
import { isoTime } from './view.ts'
import { viewSeenStory } from './view-seen.ts'
import { readerOf } from './visible.ts'

const MAX_ROWS = 1_000

/** How an action came to its end, from its rows of the record and its conversation. */
export function* viewStory(row: ActionRow, reader: Principal): Tx<ActionStory> {
  const rows = yield* audit.listScope(row.session_id ?? row.id, { actionId: row.id }, undefined, MAX_ROWS)
  const steps = (yield* viewRows(rows)).reverse().map(({ id, at, kind, actor, data }) => ({ id, at, kind, actor, data }))
  const seen = reader.kind === 'person' ? yield* viewSeenStory(row) : []
  return { steps, names: yield* namesIn(steps), seen, ...((yield* seesConversation(row, reader)) ? yield* viewTold(row) : UNTOLD) }
}

const UNTOLD = { toldAt: null, answered: null }

/** False for a delegate, who sees the action without the conversation around it. */
function* seesConversation({ session_id }: ActionRow, principal: Principal): Tx<boolean> {
  const reader = readerOf(principal)
  return session_id !== null && (!reader || (yield* visibility.seesSessionOf(reader, session_id)))
}

function* viewTold({ session_id, tool_call_id, id }: ActionRow): Tx<Pick<ActionStory, 'toldAt' | 'answered'>> {
  const told = session_id === null ? undefined : yield* messages.findToolResult.first({ session_id, tool_call_id: tool_call_id ?? id })
  if (session_id === null || !told) return UNTOLD
  const answer = yield* messages.nextAnswer.first({ session_id, after: told.seq })
  return {
    toldAt: isoTime(told.created_at),
    answered: answer
      ? { at: isoTime(answer.created_at), model: answer.model, inputTokens: answer.input_tokens, outputTokens: answer.output_tokens }
      : null,
  }
}
