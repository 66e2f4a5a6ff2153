import { lit, question, type Tx } from '../query.ts'
import type { GatewayCallRow, Schema } from './schema.ts'

/**
 * Requests of MCP clients that wait for an action, as rows of `gateway_call`: every process knows them, so that a client takes its request
 * back wherever its message arrives. `once_key` holds what became of the request:
 *
 * - `waits`: it is held by a process.
 * - `lost`: its connection ended, and in the client's protocol that means nothing.
 * - `closed`: its connection ended, and in the client's protocol that takes the request back; `created_at` is when.
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

/** Notes that a request waits for an action. Its client is there again: whatever it closed before counts no more. */
export function* holdRequest(request: string, actionId: string, now: number): Tx<void> {
  yield* deleteClosed.run({ action_id: actionId })
  yield* saveRequest.run({ call: rowOf(request), once_key: 'waits', action_id: actionId, now })
}

const deleteRequest = question<{ call: string }>((db, p) => db.deleteFrom('gateway_call').where('call', '=', p.call))

/** Notes that a request was answered: its client knows the action. */
export function* answerRequest(request: string, actionId: string): Tx<void> {
  yield* deleteClosed.run({ action_id: actionId })
  yield* deleteRequest.run({ call: rowOf(request) })
}

const changeRequest = question<{ call: string; once_key: RequestState; now: number }>((db, p) =>
  db.updateTable('gateway_call').set({ once_key: p.once_key, created_at: p.now }).where('call', '=', p.call),
)

/** Notes that the connection of a request ended before its answer. */
export const loseRequest = (request: string, state: Exclude<RequestState, 'waits'>, now: number): Tx<void> =>
  changeRequest.run({ call: rowOf(request), once_key: state, now })

/** Forgets a request. */
export const dropRequest = (request: string): Tx<void> => deleteRequest.run({ call: rowOf(request) })

const findRow = question<{ call: string }, GatewayCallRow>((db, p) => db.selectFrom('gateway_call').selectAll().where('call', '=', p.call))

/** The action that a request was for; undefined when there is no such request, or it was answered. */
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

/** True while another request, in whichever process, waits for the action. */
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

/** When the first of the requests was taken back that were taken back after `after`. */
export function* nextClosedAt(after: number): Tx<number | undefined> {
  const next = yield* findNextClosed.first({ after })
  return next && Number(next.created_at)
}

/** The requests that their clients took back by `before`, the oldest first, at most 100. */
export function* closedRequests(before: number): Tx<{ request: string; actionId: string }[]> {
  const rows = yield* listClosed.all({ before })
  return rows.map(({ call, action_id }) => ({ request: call.slice(rowOf('').length), actionId: action_id }))
}
