import { type Action, CountersignError, canonicalJson, type DecisionBody, type JsonObject, type PreviewField } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, findAnswer, revisions, stored, type Tx } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { type CallerContext, openSession } from '../context.ts'
import { ConflictError } from '../execute/begin-attempt.ts'
import { whyMoved } from '../execute/revalidate.ts'
import type { GateDeps } from '../gate.ts'
import { isInForce } from '../policy.ts'
import { requireFittingArguments } from '../propose/argument-size.ts'
import type { PreparedAction } from '../propose/prepare.ts'
import { prepareAgain } from '../propose/prepare-again.ts'
import { isSameOldValue } from '../propose/same-preview.ts'
import { viewAction } from '../read/view.ts'
import { transactOnce } from '../transact-once.ts'
import { alreadyDecided, changedSinceShown, decide, findForVote, names, takeVote } from './decide.ts'
import { requireDeciders } from './deciders.ts'
import { refuseHostDecided } from './host-decided.ts'
import { revise } from './revise.ts'
import { findRight } from './rights.ts'

/** An approval that says what is to be done instead. */
export type EditBody = DecisionBody & { arguments: JsonObject }

/**
 * Approves an action with other arguments. They are checked as any others, by the tool and by policy, and make a new revision that no
 * earlier vote belongs to. The editor's vote is the first one for it, if they may decide about what it is now, saw the tool and its target
 * as they are, and wrote the arguments as the tool takes them; with that it may be approved at once, or wait for others. The editor is one
 * of those who asked for it from then on, and it takes no less than before: the stricter of both requirements, and the higher risk.
 * @throws CountersignError As a decision does, and `invalid_arguments` with `issues`, also where the tool takes the edited arguments for
 * those that it has; `forbidden` where policy denies the edited call, or too few people could decide about it. Then the action is as it was.
 */
export async function approveEdited(deps: GateDeps, actionId: string, body: EditBody, caller: Caller): Promise<Action> {
  if (body.verdict !== 'approve')
    throw new CountersignError('bad_request', 'arguments go with an approval only: what is declined is not edited')
  requireFittingArguments(body.arguments)
  const { once } = caller
  checkpoint('edit.before_read')
  const seen = await deps.store.read(function* () {
    const answer = once && (yield* findAnswer<Action>(once))
    if (answer) return { answer }
    const nowMs = deps.clock.nowMs()
    const { row } = yield* findForVote(actionId, caller, nowMs)
    const action = yield* viewAction(row, { nowMs })
    return (yield* isOwnEdit(row, body, caller)) ? { answer: action } : { row, action }
  })
  if (seen.answer) return seen.answer
  const { row, action } = seen
  const { arguments: args, ...plain } = body
  const sent = canonicalJson(args)
  const isSame = row.arguments === sent
  // A repeat of an edit that was accepted gets the same answer.
  if (row.state !== 'proposed' && !isSame) throw alreadyDecided(action)
  if (row.state !== 'proposed') return decide(deps, actionId, plain, caller)
  if (!names(body, row)) throw changedSinceShown(action)
  await deps.refreshTool?.(row.tool)
  const tool = deps.tools.byName(row.tool)
  if (!tool)
    throw new CountersignError('illegal_transition', `action ${actionId} cannot be edited: the tool ${row.tool} is no longer configured`, {
      action,
    })
  refuseHostDecided(tool, stored.argumentsOf(row), args)
  const prepared = await prepareAgain(deps, row, { tool, arguments: args, editor: caller.principal })
  // What a host runs is what was written: the rest of its arguments are what this server reads out of them.
  const isAsWritten = prepared.argumentsText === sent || tool.isHostRun === true
  if (prepared.argumentsText === row.arguments) {
    if (isAsWritten) return decide(deps, actionId, plain, caller)
    throw takenAsBefore(row)
  }
  if (prepared.policy.verdict === 'deny') {
    throw new CountersignError('forbidden', `action ${actionId} was not changed: ${prepared.policy.reason}`, { action })
  }
  checkpoint('edit.before_store')
  const edited = await transactOnce(deps, caller, (context) => storeEdit(deps, context, { row, prepared, isAsWritten, body: plain }))
  checkpoint('edit.after_store')
  return edited
}

/** True for the repeat of an edit that waits for others: its editor is told what became of it. */
function* isOwnEdit(row: ActionRow, { revision = 1, digest, arguments: args }: EditBody, { principal }: Caller): Tx<boolean> {
  const revised = stored.revisedOf(row)
  if (row.state !== 'proposed' || revised?.why !== 'edit' || revised.by !== principal.id) return false
  if (revision !== row.revision - 1 || row.arguments !== canonicalJson(args)) return false
  const before = (yield* revisions.revisionsOf.all({ action_id: row.id })).at(-1)
  return digest === undefined || digest === before?.digest
}

interface Edit {
  row: ActionRow
  prepared: PreparedAction
  /** False where the tool filled in a default, or wrote a value in another way: a value that the editor never saw. */
  isAsWritten: boolean
  body: DecisionBody
}

/** An edit without effect is no approval: its editor saw a change that would not be made. */
function takenAsBefore({ id, tool }: ActionRow): CountersignError {
  const message = `${tool} takes these arguments for the ones that it has, by a default or another spelling, so action ${id} was not changed. Approve it without an edit, or write the value that you want.`
  return new CountersignError('invalid_arguments', message, { issues: [{ path: '', message }] })
}

function* storeEdit(deps: GateDeps, context: CallerContext, { row, prepared, isAsWritten, body }: Edit): Tx<Action> {
  const { caller, nowMs } = context
  const { principal } = caller
  const opened = yield* openSession(context, row)
  // A delegated right may have ended while the target was read.
  yield* findForVote(row.id, caller, nowMs)
  if (!(yield* isInForce(deps.policies, prepared.policy))) throw new ConflictError(row.id)
  checkpoint('edit.storing')
  // The editor saw the tool of the revision before: its new definition, destination or credential is for another look.
  const moved = whyMoved(prepared.tool, row)
  const filled = isAsWritten ? '' : ` ${row.tool} filled in a default or wrote a value in another way.`
  const reason = `${principal.name} changed the arguments.${filled}${moved ? ` ${moved.reason}` : ''}`
  const why = { why: 'edit', reason, by: caller } as const
  const asked = yield* revise(opened, { ...row, state: 'proposed' }, prepared, why)
  if (!asked) {
    const current = (yield* actions.findAction.first({ id: row.id })) ?? row
    throw changedSinceShown(yield* viewAction(current, { nowMs }))
  }
  yield* requireDeciders(asked)
  const right = yield* findRight(asked, principal, nowMs)
  if (right.refusal === undefined && isAsWritten && !moved && sawTarget(row, prepared)) {
    const { revision, digest } = asked
    return yield* takeVote(deps, context, { found: { row: asked, forId: right.forId }, body: { ...body, revision, digest }, opened })
  }
  if (opened.session) yield* opened.session.finish()
  return yield* viewAction(asked, { nowMs })
}

/** True when the editor saw what the edited call would change as it is: no value that they were shown is another one by now. */
function sawTarget(row: ActionRow, { preview, previewError, precondition, headline, argumentsText }: PreparedAction): boolean {
  if (previewError !== null && row.preview_error === null) return false
  // A headline may name what it is about: edited from order 7 to 8, another customer.
  if (headline !== null && !wordsOf(row.description, argumentsText).isSupersetOf(wordsOf(headline))) return false
  const shown: PreviewField[] = stored.previewOf(row) ?? []
  const before = new Map(shown.map((one) => [one.field, one]))
  const now = preview ?? []
  // A diff holds old and new in one, so that only what it rests on tells whether the old is the same.
  const hasDiff = now.some(({ field, diff }) => (diff ?? before.get(field)?.diff) !== undefined)
  if (hasDiff && precondition !== row.precondition) return false
  return now.every((one) => {
    const was = before.get(one.field)
    return was === undefined || isSameOldValue(was, one)
  })
}

const wordsOf = (...texts: readonly string[]): Set<string> => new Set(texts.flatMap((text) => text.match(/[\p{L}\p{N}]+/gu) ?? []))
