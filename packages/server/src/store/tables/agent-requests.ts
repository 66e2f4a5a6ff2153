import { ask, lit, question, type Tx } from '../query.ts'
import type { ActionRow } from './action-rows.ts'
import { insertInto } from './insert.ts'
import type { AgentRequestRow } from './session-rows.ts'
import { actionIsVisible, type Reader } from './visibility.ts'

export const insertRequest = insertInto('agent_request', {
  id: true,
  session_id: true,
  held_seq: true,
})

export const findRequest = question<{ id: string }, AgentRequestRow>((db, p) =>
  db.selectFrom('agent_request').selectAll().where('id', '=', p.id),
)

/** A request that was not called yet. */
export const findHeldRequest = question<{ session_id: string; seq: number }, { id: string }>((db, p) =>
  db.selectFrom('message').select('id').where('session_id', '=', p.session_id).where('seq', '=', p.seq).where('queued', '=', lit(2)),
)

export interface ToolCallFilter {
  toolCallId: string
  /** Only those that wait for a decision. */
  waiting: boolean
  /** The reader; undefined for readers who see everything. */
  reader: Reader | undefined
}

/** The newest two actions of a tool call id: models choose these ids, so two sessions may have the same. */
export const actionsOfToolCall = ({ toolCallId, waiting, reader }: ToolCallFilter): Tx<ActionRow[]> =>
  ask((db, dialect) => {
    let query = db.selectFrom('action').selectAll().where('tool_call_id', '=', toolCallId).orderBy('id', 'desc').limit(2)
    if (waiting) query = query.where('state', '=', 'proposed')
    if (reader !== undefined) query = query.where(actionIsVisible(reader, 'action', dialect))
    return query
  })
