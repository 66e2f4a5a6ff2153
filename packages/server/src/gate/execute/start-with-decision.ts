import { isCountersignError } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, stored, type Tx, type VoteRow } from '../../store/index.ts'
import type { SessionContext } from '../context.ts'
import { approvalInvalidReason } from '../decide/approval-validity.ts'
import type { GateDeps } from '../gate.ts'
import { approveAndStart, type Change, type StartAtOnce } from '../transition.ts'
import { orAdopt } from './recover.ts'
import { whyMoved } from './revalidate.ts'
import { runAttempt } from './run-attempt.ts'
import { attemptOf, countUnderWay } from './start-attempt.ts'
import { isDatabaseAway } from './start-failures.ts'

/** The start of an action in the transaction that approves it: one commit less before the tool is called. */
export interface EarlyStart {
  /** To be called when the transaction begins, also when it is tried again. */
  reset(): void
  /**
   * Approves an action, and stores the intent with it if the action may start now and nothing has to be read again. Otherwise it starts as the
   * outbox says. Returns the action as it is approved; undefined when it is no longer as it was read.
   * @param cast The votes that approve it.
   */
  approve(context: SessionContext, row: ActionRow, change: Change<'approve'>, cast: readonly VoteRow[]): Tx<ActionRow | undefined>
  /**
   * Waits for the transaction, and carries out what it has started.
   * @param decideOnly The transaction without the start, for when that broke it.
   */
  carryOut<T>(actionId: string, decided: Promise<T>, decideOnly: () => Promise<T>): Promise<T>
}

export function createEarlyStart(deps: GateDeps): EarlyStart {
  let started: ActionRow | undefined
  let releaseSlot: (() => void) | undefined
  function* startOf(context: SessionContext, approved: ActionRow, cast: readonly VoteRow[]): Tx<StartAtOnce | undefined> {
    if (!mayStartNow(deps, context, approved)) return undefined
    releaseSlot ??= deps.limiter.enter(approved.tool)
    if (!releaseSlot) return undefined
    if (yield* approvalInvalidReason(deps, approved, { opened: context.session?.row, cast })) return undefined
    checkpoint('execute.starting')
    // Later than the approval: a reader keeps the later of two views.
    const nowMs = approved.updated_at + 1
    const attempt = { key: approved.idempotency_key, runner: deps.processId, dueAtMs: null, version: null } as const
    return {
      nowMs,
      change: attemptOf({ ...approved, state: 'approved' }, { ...attempt, cause: { kind: 'executing' } }, nowMs) as Change<'start'>,
    }
  }
  return {
    reset: () => {
      started = undefined
    },
    *approve(context, row, change, cast) {
      const moved = yield* approveAndStart(context, row, change, (approved) => startOf(context, approved, cast))
      started = moved?.started
      if (started) context.outbox.actions.delete(row.id)
      return moved?.approved
    },
    async carryOut(actionId, decided, decideOnly) {
      const leave = () => releaseSlot?.()
      try {
        const answer = await decided
        if (!started) leave()
        else {
          checkpoint('execute.started')
          deps.background(runAttempt(deps, started).finally(leave))
        }
        return answer
      } catch (error) {
        leave()
        if (!releaseSlot || (isCountersignError(error) && error.status < 500)) throw error
        // It may be stored nevertheless, when only the answer of the commit was lost.
        if (isDatabaseAway(error)) return await orAdopt(deps, actionId, Promise.reject(error))
        // An obstacle to the start does not prevent the decision.
        return await decideOnly()
      }
    },
  }
}

/** True for an action of the server's that is as it was decided, when its session has room and nothing in it waits longer. */
function mayStartNow(
  { startsWithDecision, life, tools, executionsPerSession }: GateDeps,
  { session }: SessionContext,
  row: ActionRow,
): boolean {
  // Its job goes to a process that is alive.
  if (!startsWithDecision || !life.isAlive) return false
  if (row.executor !== 'server' || row.precondition !== null || actions.isInGrace(row)) return false
  const tool = tools.byName(row.tool)
  if (!tool || !stored.wasAsked(row) || whyMoved(tool, row) !== undefined) return false
  const open = session?.state.open ?? []
  const isFirst = open.every(({ id, state, executor }) => id === row.id || state !== 'approved' || executor !== 'server')
  return isFirst && countUnderWay(open) < executionsPerSession
}
