import {
  type Action,
  CountersignError,
  isCountersignError,
  type PreviewField,
  type Requirements,
  type Requires,
  type Tool,
} from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, findAnswer, revisions, stored, type Tx } from '../../store/index.ts'
import { type Caller, isAdminInScope, requireUnarchived, whyNeverDecides } from '../caller.ts'
import { type CallerContext, openSession } from '../context.ts'
import { ConflictError, retryOnConflict } from '../execute/begin-attempt.ts'
import { whatChanged, whyMoved } from '../execute/revalidate.ts'
import type { GateDeps } from '../gate.ts'
import { isInForce } from '../policy.ts'
import type { PreparedAction } from '../propose/prepare.ts'
import { prepareAgain } from '../propose/prepare-again.ts'
import { isSamePreview } from '../propose/same-preview.ts'
import { viewAction } from '../read/view.ts'
import { findVisibleAction } from '../read/visible.ts'
import { transactOnce } from '../transact-once.ts'
import { findForRole, findForVote } from './decide.ts'
import { revise, type Why } from './revise.ts'
import { findRight, withRoles } from './rights.ts'

/** A target is not read more often than this for one action, however many ask. */
const AT_MOST_EVERY_MS = 1_000
/** Readings that are remembered for that. */
const MAX_REMEMBERED = 1_000

/** A reading of a target that is remembered. */
interface Remembered {
  atMs: number
  tool: Tool
  /** The revision that it was read for, and the one that was made of it. */
  revisions: Set<number>
  prepared: Promise<PreparedAction>
}

/** Reads again what a waiting action would change. @throws CountersignError `not_found`, `forbidden`, `illegal_transition`. */
export type Refresh = (actionId: string, caller: Caller) => Promise<Action>

/**
 * Reads waiting actions again on request. If nothing has changed, the revision stays and gets the time of the reading. If something has
 * changed, or other people have to decide, there is a new revision without votes. A request during a reading, or shortly after one, gets the
 * answer of that reading.
 */
export function createRefresh(deps: GateDeps): Refresh {
  const readings = new Map<string, Remembered>()

  function readOnce(row: ActionRow, tool: Tool): Remembered {
    const nowMs = deps.clock.nowMs()
    const last = readings.get(row.id)
    // The reading of an earlier revision would bring back what has changed since: the arguments before an edit, the values before a start.
    const isOfThis = last?.tool === tool && last.revisions.has(row.revision)
    if (isOfThis && Math.abs(nowMs - last.atMs) < AT_MOST_EVERY_MS) return last
    const wasShown = row.precondition !== null && !whyMoved(tool, row)
    const reading = { atMs: nowMs, tool, revisions: new Set([row.revision]), prepared: prepareAgain(deps, row, { tool, wasShown }) }
    readings.delete(row.id)
    readings.set(row.id, reading)
    const [oldest] = readings.size > MAX_REMEMBERED ? readings.keys() : []
    if (oldest !== undefined) readings.delete(oldest)
    return reading
  }

  async function refresh(actionId: string, caller: Caller): Promise<Action> {
    const { once } = caller
    const seen = await deps.store.read(function* () {
      const answer = once && (yield* findAnswer<Action>(once))
      if (answer) return { answer }
      const nowMs = deps.clock.nowMs()
      const row = yield* findForReading(actionId, caller, nowMs)
      const action = yield* viewAction(row, { nowMs })
      const refuse = (why: string) => new CountersignError('illegal_transition', `action ${actionId} ${why}`, { action })
      if (row.state !== 'proposed') throw refuse(`is ${row.state}; only what waits for a decision is read again`)
      return { row, refuse }
    })
    if (seen.answer) return seen.answer
    const { row, refuse } = seen
    await deps.refreshTool?.(row.tool)
    const tool = deps.tools.byName(row.tool)
    if (!tool) throw refuse(`cannot be read again: the tool ${row.tool} is no longer configured`)
    const reading = readOnce(row, tool)
    const prepared = await reading.prepared.catch((error: unknown) => {
      if (isCountersignError(error)) throw refuse(`cannot go back for approval: ${error.message}`)
      throw error
    })
    checkpoint('refresh.before_store')
    let made: number | undefined
    const stored = transactOnce(deps, caller, (context) => {
      made = undefined
      return takeReading(deps, context, {
        ...{ row, tool, prepared },
        onRevised: (revision) => {
          made = revision
        },
      })
    })
    // Read under a policy that is not in force any more: nobody is answered with it again.
    stored.catch(() => readings.delete(row.id))
    const action = await stored
    if (made !== undefined) reading.revisions.add(made)
    checkpoint('refresh.after_store')
    return action
  }

  return (actionId, caller) => retryOnConflict(() => refresh(actionId, caller))
}

/**
 * The action, for somebody who has a vote on it, or whose own role would give them one, and for an admin: a reading decides nothing, and it may
 * wait for a role that nobody has any more. @throws CountersignError as {@link findForRole}.
 */
function* findForReading(actionId: string, caller: Caller, nowMs: number): Tx<ActionRow> {
  const found = yield* actions.findAction.first({ id: actionId })
  const mayVote = found !== undefined && (yield* findRight(found, caller.principal, nowMs)).refusal === undefined
  if (mayVote) return (yield* findForVote(actionId, caller, nowMs)).row
  if (!looksAsAdmin(caller)) return yield* findForRole(actionId, caller, nowMs)
  const row = yield* findVisibleAction(caller.principal, actionId, nowMs)
  requireUnarchived(row)
  return row
}

/** Not with an embed token: the revision would outlive it. */
const looksAsAdmin = ({ principal }: Caller): boolean =>
  isAdminInScope(principal) && principal.host === undefined && whyNeverDecides(principal) === undefined

interface Reading {
  row: ActionRow
  tool: Tool
  prepared: PreparedAction
  /** Is told of the revision that the reading makes. */
  onRevised: (revision: number) => void
}

function* takeReading(deps: GateDeps, context: CallerContext, { row, tool, prepared, onRevised }: Reading): Tx<Action> {
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
  const isForOthers = isAskedOtherwise(row, prepared)
  if (!moved && prepared.policy.verdict !== 'deny' && (isUnreadable || (isAsShown && !isForOthers))) {
    // The action did not change, so only the caller gets an answer.
    const previewed_at = isUnreadable ? row.previewed_at : prepared.previewedAtMs
    const { id, revision } = row
    yield* revisions.notePreview.run({ id, revision, previewed_at, preview_error: prepared.previewError })
  } else {
    const why = moved ?? (isAsShown && isForOthers ? FOR_OTHERS : { why: 'preview', reason: whatChanged(shown, prepared.preview ?? []) })
    const revised = yield* revise(opened, { ...row, state: 'proposed' }, prepared, { ...why, by: context.caller })
    if (revised) onRevised(revised.revision)
    if (opened.session) yield* opened.session.finish()
  }
  return yield* viewAction((yield* actions.findAction.first({ id: row.id })) ?? row, { nowMs: context.nowMs })
}

const FOR_OTHERS: Why = { why: 'policy', reason: 'The policy says otherwise now who has to decide.' }

/**
 * True where another version of the policy asks other people, or another number of them. Not for an edited action: its requirements are never
 * less than those of the call before the edit, so that a new revision would only ask for both.
 */
function isAskedOtherwise(row: ActionRow, { policy }: PreparedAction): boolean {
  if (policy.verdict !== 'ask' || policy.version === stored.policyOf(row).version || row.edited_by !== null) return false
  const { escalation, ...waitsFor }: Requires = stored.requirementsOf(row)
  // Those whom an escalation has added are asked in the new revision too, where the policy still names them.
  const now = escalation?.isDone ? withRoles(policy.requires, policy.escalateTo ?? escalation.roles) : policy.requires
  return textOf(now) !== textOf(waitsFor)
}

/** The same text for the same people, in whichever order they are named. */
function textOf({ roles, alsoRoles = [], quorum, declineQuorum, notRequester }: Requirements): string {
  const lists = [roles, ...alsoRoles].map((list) => JSON.stringify([...new Set(list)].sort()))
  return JSON.stringify([lists.sort(), quorum, declineQuorum, notRequester])
}
