import { lit, question } from '../query.ts'
import type { ActionRow } from './action-rows.ts'

/** Most calls of one requester that are looked through; a program has a few open at a time. */
const LIMIT = 200

/** The open actions of a requester that are executed by a client, outside of sessions: the newest first. */
export const openCallsOf = question<{ requested_by: string }, ActionRow>((db, p) =>
  db
    .selectFrom('action')
    .selectAll()
    .where('session_id', 'is', null)
    .where('state', 'in', [lit('proposed'), lit('approved'), lit('executing')])
    .where('requested_by', '=', p.requested_by)
    .where('executor', '=', lit('client'))
    .orderBy('id', 'desc')
    .limit(lit(LIMIT)),
)

/** The actions of a requester that a client executes, outside of sessions, settled since a time: the newest first. */
export const settledCallsOf = question<{ requested_by: string; tool: string; arguments: string; since: number }, ActionRow>((db, p) =>
  db
    .selectFrom('action')
    .selectAll()
    .where('settled_at', '>=', p.since)
    .where('session_id', 'is', null)
    .where('requested_by', '=', p.requested_by)
    .where('executor', '=', lit('client'))
    .where('tool', '=', p.tool)
    .where('arguments', '=', p.arguments)
    .orderBy('settled_at', 'desc')
    .orderBy('id', 'desc')
    .limit(lit(20)),
)

/** The actions of a requester for a call with this id: the newest first. */
export const actionsOfCall = question<{ requested_by: string; tool_call_id: string }, ActionRow>((db, p) =>
  db
    .selectFrom('action')
    .selectAll()
    .where('tool_call_id', '=', p.tool_call_id)
    .where('requested_by', '=', p.requested_by)
    .where('session_id', 'is', null)
    .orderBy('id', 'desc')
    .limit(lit(20)),
)
