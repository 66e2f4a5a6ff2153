import { type Action, CountersignError, isCountersignError, type PreviewField, type Tool } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, findAnswer, revisions, stored, type Tx } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { type CallerContext, openSession } from '../context.ts'
import { ConflictError, retryOnConflict } from '../execute/begin-attempt.ts'
import { textOf, whatChanged, whyMoved } from '../execute/revalidate.ts'
import type { GateDeps } from '../gate.ts'
import { isInForce } from '../policy.ts'
import type { PreparedAction } from '../propose/prepare.ts'
import { prepareAgain } from '../propose/prepare-again.ts'
import { viewAction } from '../read/view.ts'
import { transactOnce } from '../transact-once.ts'
import { findForRole, findForVote } from './decide.ts'
import { revise } from './revise.ts'
import { findRight } from './rights.ts'

/** A target is not read more often than this for one action, however many ask. */
const AT_MOST_EVERY_MS = 1_000
/** Readings that are remembered for that. */
const MAX_REMEMBERED = 1_000

/** Reads again what a waiting action would change. @throws CountersignError `not_found`, `forbidden`, `illegal_transition`. */
export type Refresh = (actionId: string, caller: Caller) => Promise<Action>

/**
 * Reads waiting actions again on request. If nothing has changed, the revision stays and gets the time of the reading. If something has
 * changed, there is a new revision without votes. A request during a reading, or shortly after one, gets the answer of that reading.
 */
export function createRefresh(deps: GateDeps): Refresh {
  const readings = new Map<string, { atMs: number; tool: Tool; argumentsText: string; prepared: Promise<PreparedAction> }>()

  function readOnce(row: ActionRow, tool: Tool): Promise<PreparedAction> {
    const nowMs = deps.clock.nowMs()
    const last = readings.get(row.id)
    // The reading of a call before it was edited would bring its arguments back.
    const isSameCall = last?.argumentsText === row.arguments && last.tool === tool
    if (isSameCall && Math.abs(nowMs - last.atMs) < AT_MOST_EVERY_MS) return last.prepared
    const prepared = prepareAgain(deps, row, { tool })
    readings.delete(row.id)
    readings.set(row.id, { atMs: nowMs, tool, argumentsText: row.arguments, prepared })
    const [oldest] = readings.size > MAX_REMEMBERED ? readings.keys() : []
    if (oldest !== undefined) readings.delete(oldest)
    return prepared
  }

  async function refresh(actionId: string, caller: Caller): Promise<Action> {
    const { once } = caller
    const seen = await deps.store.read(function* () {
      const answer = once && (yield* findAnswer<Action>(once))
      if (answer) return { answer }
      const row = yield* findForReading(actionId, caller, deps.clock.nowMs())
      const action = yield* viewAction(row)
      const refuse = (why: string) => new CountersignError('illegal_transition', `action ${actionId} ${why}`, { action })
      if (row.state !== 'proposed') throw refuse(`is ${row.state}; only what waits for a decision is read again`)
      const tool = deps.tools.byName(row.tool)
      if (!tool) throw refuse(`cannot be read again: the tool ${row.tool} is no longer configured`)
      return { row, tool, refuse }
    })
    if (seen.answer) return seen.answer
    const { row, tool, refuse } = seen
    const prepared = await readOnce(row, tool).catch((error: unknown) => {
      if (isCountersignError(error)) throw refuse(`cannot go back for approval: ${error.message}`)
      throw error
    })
    checkpoint('refresh.before_store')
    const stored = transactOnce(deps, caller, (context) => takeReading(deps, context, { row, tool, prepared }))
    // Read under a policy that is not in force any more: nobody is answered with it again.
    stored.catch(() => readings.delete(row.id))
    const action = await stored
    checkpoint('refresh.after_store')
    return action
  }

  return (actionId, caller) => retryOnConflict(() => refresh(actionId, caller))
}

/** The action, for somebody who has a vote on it, or whose own role would give them one. @throws CountersignError as {@link findForRole}. */
function* findForReading(actionId: string, caller: Caller, nowMs: number): Tx<ActionRow> {
  const found = yield* actions.findAction.first({ id: actionId })
  const mayVote = found !== undefined && (yield* findRight(found, caller.principal, nowMs)).refusal === undefined
  return mayVote ? (yield* findForVote(actionId, caller, nowMs)).row : yield* findForRole(actionId, caller, nowMs)
}

interface Reading {
  row: ActionRow
  tool: Tool
  prepared: PreparedAction
}

function* takeReading(deps: GateDeps, context: CallerContext, { row, tool, prepared }: Reading): Tx<Action> {
  const opened = yield* openSession(context, row)
  // A delegated right may have ended while the target was read.
  yield* findForReading(row.id, context.caller, context.nowMs)
  if (!(yield* isInForce(deps.policies, prepared.policy))) throw new ConflictError(row.id)
  checkpoint('refresh.storing')
  const moved = whyMoved(tool, row)
  const isUnreadable = prepared.previewError !== null && row.precondition !== null
  const shown: PreviewField[] = stored.previewOf(row) ?? []
  // The digest covers what the decision rests on. A card may show more than that, and says of all its values when they were read.
  const isAsShown = prepared.digest === row.digest && (prepared.previewError !== null || isSamePreview(shown, prepared.preview ?? []))
  if (!moved && prepared.policy.verdict !== 'deny' && (isUnreadable || isAsShown)) {
    // The action did not change, so only the caller gets an answer.
    const previewed_at = isUnreadable ? row.previewed_at : prepared.previewedAtMs
    const { id, revision } = row
    yield* revisions.notePreview.run({ id, revision, previewed_at, preview_error: prepared.previewError })
  } else {
    const why = moved ?? ({ why: 'preview', reason: whatChanged(shown, prepared.preview ?? []) } as const)
    yield* revise(opened, { ...row, state: 'proposed' }, prepared, { ...why, by: context.caller })
    if (opened.session) yield* opened.session.finish()
  }
  return yield* viewAction((yield* actions.findAction.first({ id: row.id })) ?? row)
}

const isSamePreview = (shown: readonly PreviewField[], now: readonly PreviewField[]): boolean => {
  const [before, after] = [shown, now].map((fields) => textOf(JSON.parse(JSON.stringify(fields))))
  return before === after
}
