import { type ActionRow, ahead, lock, type Outbox, type Tx } from '../store/index.ts'
import type { Caller } from './caller.ts'
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
  if (row.session_id !== null) return { ...context, session: yield* writeSession(context.outbox, row.session_id, context.nowMs, { soon }) }
  yield* lock(row.id)
  yield* ahead(...soon)
  return { ...context, session: undefined }
}
