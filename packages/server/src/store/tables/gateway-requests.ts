import { lit, question, type Tx } from '../query.ts'
import type { GatewayCallRow, Schema } from './schema.ts'

/**
 * Requests of MCP clients that wait for an action, as rows of `gateway_call`: every process can read them, so that a client can cancel its
 * request whichever process receives the message. `once_key` holds the state of the request:
 *
 * - `waits`: a process holds it.
 * - `lost`: its connection ended, which means nothing in the client's protocol.
 * - `closed`: its connection ended, which cancels the request in the client's protocol; `created_at` is when.
 */
type RequestState = 'waits' | 'lost' | 'closed'

/** No request is held for longer than 50 s: an older row was left by a process that died. */
const LONGEST_WAIT_MS = 60_000

const rowOf = (request: string): string => `request ${request}`

const saveRequest = question<{ call: string; once_key: RequestState; action_id: string; now: number }>((db, p) =>
  db
    .insertInto('gateway_call')
    .values({ call: p.call, once_key: p.once_key, action_id: p.action_id, created_at: p.now } satisfies Schema['gateway_call'])
    .onConflict((conflict) => conflict.column('call').doUpdateSet({ once_key: p.once_key, action_id: p.action_id, created_at: p.now })),
)

const deleteClosed = question<{ action_id: string }>((db, p) =>
  db.deleteFrom('gateway_call').where('action_id', '=', p.action_id).where('once_key', '=', lit('closed')),
)

/** Records that a request waits for an action. Its client has returned, so earlier closed requests no longer count. */
export function* holdRequest(request: string, actionId: string, now: number): Tx<void> {
  yield* deleteClosed.run({ action_id: actionId })
  yield* saveRequest.run({ call: rowOf(request), once_key: 'waits', action_id: actionId, now })
}

/** Deletes a row of the table, by its whole name. */
export const deleteRequest = question<{ call: string }>((db, p) => db.deleteFrom('gateway_call').where('call', '=', p.call))

/** Records that a request was answered: its client knows the action. */
export function* answerRequest(request: string, actionId: string): Tx<void> {
  yield* deleteClosed.run({ action_id: actionId })
  yield* deleteRequest.run({ call: rowOf(request) })
}

const changeRequest = question<{ call: string; once_key: RequestState; now: number }>((db, p) =>
  db.updateTable('gateway_call').set({ once_key: p.once_key, created_at: p.now }).where('call', '=', p.call),
)

/** Records that the connection of a request ended before its answer. */
export const loseRequest = (request: string, state: Exclude<RequestState, 'waits'>, now: number): Tx<void> =>
  changeRequest.run({ call: rowOf(request), once_key: state, now })

export const dropRequest = (request: string): Tx<void> => deleteRequest.run({ call: rowOf(request) })

const findRow = question<{ call: string }, GatewayCallRow>((db, p) => db.selectFrom('gateway_call').selectAll().where('call', '=', p.call))

/** Returns the action of a request; undefined when there is no such request, or it was answered. */
export function* actionOfRequest(request: string): Tx<string | undefined> {
  return (yield* findRow.first({ call: rowOf(request) }))?.action_id ?? undefined
}

const findOther = question<{ action_id: string; call: string; since: number }, { call: string }>((db, p) =>
  db
    .selectFrom('gateway_call')
    .select('call')
    .where('action_id', '=', p.action_id)
    .where('call', '<>', p.call)
    .where('once_key', '=', lit('waits'))
    .where('created_at', '>', p.since)
    .limit(lit(1)),
)

/** True while another request, in any process, waits for the action. */
export function* isWaitedFor(actionId: string, request: string, now: number): Tx<boolean> {
  return (yield* findOther.first({ action_id: actionId, call: rowOf(request), since: now - LONGEST_WAIT_MS })) !== undefined
}

const listClosed = question<{ before: number }, { call: string; action_id: string }>((db, p) =>
  db
    .selectFrom('gateway_call')
    .select(['call', 'action_id'])
    .$narrowType<{ action_id: string }>()
    .where('once_key', '=', lit('closed'))
    .where('created_at', '<=', p.before)
    .orderBy('created_at')
    .limit(lit(100)),
)

const findNextClosed = question<{ after: number }, { created_at: number }>((db, p) =>
  db
    .selectFrom('gateway_call')
    .select('created_at')
    .where('once_key', '=', lit('closed'))
    .where('created_at', '>', p.after)
    .orderBy('created_at')
    .limit(lit(1)),
)

/** Returns when the first request after `after` was cancelled. */
export function* nextClosedAt(after: number): Tx<number | undefined> {
  const next = yield* findNextClosed.first({ after })
  return next && Number(next.created_at)
}

/** The requests that their clients cancelled by `before`, the oldest first, at most 100. */
export function* closedRequests(before: number): Tx<{ request: string; actionId: string }[]> {
  const rows = yield* listClosed.all({ before })
  return rows.map(({ call, action_id }) => ({ request: call.slice(rowOf('').length), actionId: action_id }))
}
