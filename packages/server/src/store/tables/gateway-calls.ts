import { lit, question, type Tx } from '../query.ts'
import type { GatewayCallRow, Schema } from './schema.ts'

/** The call that is open under this hash. */
export const findCall = question<{ call: string }, GatewayCallRow>((db, p) =>
  db.selectFrom('gateway_call').selectAll().where('call', '=', p.call),
)

const insertCall = question<{ call: string; once_key: string; now: number }>((db, p) =>
  db
    .insertInto('gateway_call')
    .values({ call: p.call, once_key: p.once_key, action_id: null, created_at: p.now } satisfies Schema['gateway_call'])
    .onConflict((conflict) => conflict.doNothing()),
)

/** Returns the open call under this hash, or creates one with `onceKey`. */
export function* openCall(call: string, onceKey: string, now: number): Tx<GatewayCallRow | undefined> {
  yield* insertCall.run({ call, once_key: onceKey, now })
  return yield* findCall.first({ call })
}

/** Records the action of a call. */
export const nameAction = question<{ call: string; once_key: string; action_id: string }>((db, p) =>
  db.updateTable('gateway_call').set({ action_id: p.action_id }).where('call', '=', p.call).where('once_key', '=', p.once_key),
)

/** Closes an open call: the next identical one is a new action. */
export const endCall = question<{ call: string; once_key: string }>((db, p) =>
  db.deleteFrom('gateway_call').where('call', '=', p.call).where('once_key', '=', p.once_key),
)

/** The same for the call of an action. */
export const endCallOf = question<{ action_id: string }>((db, p) => db.deleteFrom('gateway_call').where('action_id', '=', p.action_id))

/** The tools of a requester's open calls. */
export const toolsOfOpenCalls = question<{ requested_by: string }, { tool: string }>((db, p) =>
  db
    .selectFrom('gateway_call')
    .innerJoin('action', 'action.id', 'gateway_call.action_id')
    .select('action.tool')
    .distinct()
    .where('action.requested_by', '=', p.requested_by)
    .orderBy('action.tool')
    .limit(lit(1_000)),
)
