import { type Action, assert, CountersignError } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, type Outbox, type Tx } from '../../store/index.ts'
import { requireUnarchived } from '../caller.ts'
import { openSession, type SessionContext } from '../context.ts'
import { approvalInvalidReason, validityQueries } from '../decide/approval-validity.ts'
import { revise, type Why } from '../decide/revise.ts'
import type { GateDeps } from '../gate.ts'
import { isInForce } from '../policy.ts'
import { failed, type Settled } from './attempt.ts'
import { type Revalidation, requestReapproval, revalidate } from './revalidate.ts'
import { beginAttempt, countUnderWay, enqueueNext, type NewAttempt, type Startable } from './start-attempt.ts'

/**
 * The result of a request to start an action: it began (with `end` if that is all that can be done), it goes back to people, or the
 * decision does not hold `because` of a change and the target has to be read before people are asked.
 */
export type Begun = { begun: ActionRow; end?: Settled } | { asked: ActionRow } | { because: Why }

/** An action starts only as it was decided. A lost attempt is sent again as it was, without another decision. */
export type Decided = Startable & { state: 'approved' | 'failed' }

/**
 * Starts an action if nothing changed since the decision; otherwise it goes back for approval. Returns undefined when another writer has
 * changed it since it was read.
 * @param start `look` is what was found of the world just before.
 */
export function* beginDecided(
  deps: Pick<GateDeps, 'tools' | 'policies' | 'clock' | 'executionsPerSession'>,
  context: SessionContext,
  { row, look, attempt }: { row: Decided; look: Revalidation; attempt: Omit<NewAttempt, 'version'> },
): Tx<Begun | undefined> {
  const { session } = context
  if (look.to === 'ask') {
    if (!(yield* isInForce(deps.policies, look.prepared.policy))) return { because: look.why }
    const asked = yield* revise(context, row, look.prepared, look.why)
    // Its turn is free: the next approved action of the session starts now, not when the reconciler finds it.
    if (asked && session) enqueueNext(context.outbox, yield* session.finish(), deps.executionsPerSession)
    return asked && { asked }
  }
  const because = look.to === 'start' ? yield* approvalInvalidReason(deps, row, { opened: session?.row }) : undefined
  if (because) return { because }
  const version = look.to === 'start' ? look.version : null
  const begun = yield* beginAttempt(context, row, { ...attempt, version })
  if (!begun) return undefined
  return look.to === 'fail' ? { begun, end: failed(look.kind, look.message, look.retryable) } : { begun }
}

/**
 * Starts an approved action in this process, as it was read. Undefined when there is nothing to start: somebody else has it, or its session
 * has enough under way.
 */
export function* startApproved(
  deps: Pick<GateDeps, 'clock' | 'processId' | 'executionsPerSession' | 'tools' | 'policies'>,
  outbox: Outbox,
  row: ActionRow,
  look: Revalidation,
): Tx<Begun | undefined> {
  const context = yield* openSession({ outbox, nowMs: deps.clock.nowMs(), caller: undefined }, row, validityQueries(deps, row))
  checkpoint('execute.starting')
  if (context.session && countUnderWay(context.session.state.open) >= deps.executionsPerSession) return undefined
  const attempt = { key: row.idempotency_key, runner: deps.processId, dueAtMs: null, cause: { kind: 'executing' } } as const
  return yield* beginDecided(deps, context, { row: { ...row, state: 'approved' }, look, attempt })
}

/** Reads what is needed before a person retries an action or a client claims it. As much as possible is read outside the transaction. */
export async function lookBefore(deps: GateDeps, row: ActionRow): Promise<Revalidation> {
  const look = await revalidate(deps, row)
  if (look.to !== 'start') return look
  const because = await deps.store.read(() => approvalInvalidReason(deps, row))
  return because ? requestReapproval(deps, row, because) : look
}

/** The action that another writer has changed since it was read. @throws CountersignError `gone` when that writer redacted or archived it. */
export function* findOpen(actionId: string): Tx<ActionRow> {
  const row = yield* actions.findAction.first({ id: actionId })
  assert(row, 'an action that was read is there')
  requireUnarchived(row)
  return row
}

/** The refusal to execute an action that went back to people, or that policy now denies. */
export function notAsDecided(action: Action): CountersignError {
  const [code, what] =
    action.state === 'proposed' ? (['stale_preview', 'went back for approval'] as const) : (['illegal_transition', 'was declined'] as const)
  const why = action.state === 'proposed' ? action.revised?.reason : action.policy.reason
  return new CountersignError(code, `action ${action.id} ${what}: ${why}`, { action })
}

/** The refusal where something changed between the last look and the write: another look finds out what. */
export class ConflictError extends CountersignError {
  constructor(actionId: string) {
    super('busy', `action ${actionId} changed just now; try again`)
  }
}

/** As long as people change things on purpose, a second look is enough. */
const LOOKS = 5

/** Looks and does it once more where something changed in between, so that nobody has to press a button twice. */
export async function retryOnConflict<T>(act: () => Promise<T>): Promise<T> {
  for (let looks = 1; ; looks++) {
    try {
      return await act()
    } catch (error) {
      if (looks === LOOKS || !(error instanceof ConflictError)) throw error
    }
  }
}
