import { isCountersignError } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, stored, type Tx, type VoteRow } from '../../store/index.ts'
import type { SessionContext } from '../context.ts'
import { approvalInvalidReason } from '../decide/approval-validity.ts'
import type { GateDeps } from '../gate.ts'
import { orAdopt } from './recover.ts'
import { whyMoved } from './revalidate.ts'
import { runAttempt } from './run-attempt.ts'
import { countUnderWay, storeAttempt } from './start-attempt.ts'
import { isDatabaseAway } from './start-failures.ts'

/** The start of an action in the transaction that approves it: one commit less before the tool is called. */
export interface EarlyStart {
  /** To be called when the transaction begins, also when it is tried again. */
  reset(): void
  /** Stores the intent, if the action may start now and nothing has to be read again. Otherwise it starts as the outbox says. */
  start(context: SessionContext, approved: ActionRow, cast: readonly VoteRow[]): Tx<void>
  /**
   * Waits for the transaction, and carries out what it has started.
   * @param decideOnly The transaction without the start, for when that broke it.
   */
  carryOut<T>(actionId: string, decided: Promise<T>, decideOnly: () => Promise<T>): Promise<T>
}

export function createEarlyStart(deps: GateDeps): EarlyStart {
  let started: ActionRow | undefined
  let leaveLane: (() => void) | undefined
  return {
    reset: () => {
      started = undefined
    },
    *start(context, approved, cast) {
      if (!mayStartNow(deps, context, approved)) return
      leaveLane ??= deps.lanes.enter(approved.tool)
      if (!leaveLane) return
      if (yield* approvalInvalidReason(deps, approved, { opened: context.session?.row, cast })) return
      checkpoint('execute.starting')
      // Later than the approval: a reader keeps the later of two views.
      const nowMs = approved.updated_at + 1
      const attempt = { key: approved.idempotency_key, runner: deps.processId, dueAtMs: null, version: null } as const
      started = yield* storeAttempt(
        { ...context, nowMs, caller: undefined },
        { ...approved, state: 'approved' },
        { ...attempt, cause: { kind: 'executing' } },
      )
      if (started) context.outbox.actions.delete(approved.id)
    },
    async carryOut(actionId, decided, decideOnly) {
      const leave = () => leaveLane?.()
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
        if (!leaveLane || (isCountersignError(error) && error.status < 500)) throw error
        // It may be stored nevertheless, when only the answer of the commit was lost.
        if (isDatabaseAway(error)) return await orAdopt(deps, actionId, Promise.reject(error))
        // What keeps an action from starting does not keep people from deciding.
        return await decideOnly()
      }
    },
  }
}

/** True for an action of the server's that is as it was decided, when its session has room and nothing in it waits longer. */
function mayStartNow({ startsWithDecision, tools, executionsPerSession }: GateDeps, { session }: SessionContext, row: ActionRow): boolean {
  if (!startsWithDecision || row.executor !== 'server' || row.precondition !== null || actions.isInGrace(row)) return false
  const tool = tools.byName(row.tool)
  if (!tool || !stored.wasAsked(row) || whyMoved(tool, row) !== undefined) return false
  const open = session?.state.open ?? []
  const isFirst = open.every(({ id, state, executor }) => id === row.id || state !== 'approved' || executor !== 'server')
  return isFirst && countUnderWay(open) < executionsPerSession
}
