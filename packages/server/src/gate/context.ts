import { type ActionRow, ahead, lockUnderRights, type Outbox, type Tx } from '../store/index.ts'
import { type Caller, requireStanding } from './caller.ts'
import { type SessionWriter, writeSession } from './session-writer.ts'

/** The context of one transaction of the gate. */
export interface GateContext {
  readonly outbox: Outbox
  /** The time of everything that the transaction does, epoch ms. */
  readonly nowMs: number
  /** The caller of the request; undefined when the server acts by itself. */
  readonly caller: Caller | undefined
}

/**
 * The same with a session that is open for writing; undefined for an action without a session. The code that opens the session also
 * finishes it, as its last step.
 */
export interface SessionContext extends GateContext {
  readonly session: SessionWriter | undefined
}

/** A transaction on behalf of somebody. */
export type CallerContext<C extends GateContext = GateContext> = C & { readonly caller: Caller }

/**
 * Opens the session of an action for writing, before anything about the action is changed. An action without one is locked itself.
 * @throws CountersignError for a caller whose credential has ended: see {@link requireStanding}.
 * @param soon Queries that follow: their answers come with the session.
 * @example
 * const context = yield* openSession({ outbox, nowMs, caller }, row)
 * yield* transition(context, row, 'approve', { patch: { due_at: null }, cause: { kind: 'approved' } })
 * if (context.session) yield* context.session.finish()
 */
export function* openSession<C extends GateContext>(
  context: C,
  row: Pick<ActionRow, 'id' | 'session_id'>,
  soon: readonly Tx<unknown>[] = [],
): Tx<C & { readonly session: SessionWriter | undefined }> {
  const { outbox, caller, nowMs } = context
  const queries = caller?.standingIn ? [...soon, caller.standingIn(nowMs)] : soon
  const opened = { ...context, session: yield* openLocked(outbox, row, nowMs, queries) }
  if (caller) yield* requireStanding(caller, nowMs)
  return opened
}

function* openLocked(
  outbox: Outbox,
  { id, session_id }: Pick<ActionRow, 'id' | 'session_id'>,
  nowMs: number,
  soon: readonly Tx<unknown>[],
): Tx<SessionWriter | undefined> {
  if (session_id !== null) return yield* writeSession(outbox, session_id, nowMs, { soon })
  yield* lockUnderRights(id)
  yield* ahead(...soon)
  return undefined
}
