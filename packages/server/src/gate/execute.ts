import {
  type Action,
  type ActionErrorView,
  assert,
  CountersignError,
  type JsonObject,
  type JsonValue,
  type Tool,
  ToolError,
} from '@countersign/core'
import { type ActionRow, actions, doOnce, newId, type Outbox, type Tx } from '../store/index.ts'
import { type Caller, mayDecide, requireVisible } from './caller.ts'
import { announceUpdate, writeSessionOf, writeToolResult } from './events.ts'
import type { GateParts } from './gate.ts'
import { definitionHashOf, digestAction } from './prepare.ts'
import type { SessionWriter } from './session-writer.ts'
import { viewAction } from './view.ts'

/** A result larger than this is no answer for a person or a model. */
const MAX_RESULT_BYTES = 1_000_000

type Settled =
  | { to: 'succeeded'; output: JsonValue; url: string | undefined }
  | { to: 'failed' | 'outcome_unknown'; error: ActionErrorView }

/**
 * Carries out an approved action: writes the intent, calls the tool, settles. Returns at once when another caller has it already.
 */
export async function execute(parts: GateParts, actionId: string): Promise<void> {
  const started = await parts.store.transact((outbox) => start(outbox, actionId, parts.clock.nowMs()))
  if (started) await carryOut(parts, started)
}

function* start(outbox: Outbox, actionId: string, nowMs: number): Tx<ActionRow | undefined> {
  return yield* announceStart(outbox, actionId, yield* actions.startAction.change({ id: actionId, now: nowMs }), nowMs)
}

/** Tells that an attempt began; `isStarted` is what the guarded update said. Answers the action as it is being carried out. */
function* announceStart(outbox: Outbox, actionId: string, isStarted: number, nowMs: number): Tx<ActionRow | undefined> {
  if (!isStarted) return undefined
  const row = yield* actions.findAction.first({ id: actionId })
  assert(row, 'a started action is there')
  const writer = yield* writeSessionOf(outbox, row, nowMs)
  yield* announceUpdate(outbox, writer, row, { attempt: row.attempt, idempotencyKey: row.idempotency_key, error: null }, nowMs)
  // A first attempt changes nothing about the session's status: approved or executing, it is at work.
  if (writer) yield* row.told ? writer.finish() : writer.save()
  return row
}

async function carryOut(parts: GateParts, row: ActionRow): Promise<void> {
  const settled = await attempt(parts, row)
  await parts.store.transact((outbox) => settle(outbox, row, settled, parts.clock.nowMs()))
}

async function attempt(parts: GateParts, row: ActionRow): Promise<Settled> {
  const tool = parts.tools.byName(row.tool)
  if (!tool) return failed('tool_missing', `the tool ${row.tool} is no longer configured`, false)
  if (definitionHashOf(tool) !== row.definition_hash) {
    return failed('tool_changed', `the tool ${row.tool} changed since this was decided; it was not carried out`, false)
  }
  // The bytes that were decided are the bytes that are sent: recomputed from what is stored, with the tool as it is now.
  if (digestAction(tool, row.definition_hash, row.arguments) !== row.digest) {
    return failed('digest_mismatch', 'the action is not what was approved; it was not carried out', false)
  }
  const args: JsonObject = JSON.parse(row.arguments)
  let output: JsonValue
  try {
    output = await withinTimeout(tool, (signal) =>
      tool.execute(args, { actionId: row.id, idempotencyKey: row.idempotency_key, signal, principalId: row.requested_by }),
    )
  } catch (error) {
    return settleError(parts, tool, row, error)
  }
  const text = JSON.stringify(output ?? null)
  if (Buffer.byteLength(text) > MAX_RESULT_BYTES) output = { truncated: true, bytes: Buffer.byteLength(text), start: text.slice(0, 10_000) }
  return { to: 'succeeded', output: output ?? null, url: resultUrl(tool, args, output) }
}

/** A tool that does not heed its signal would leave its action executing for good: after the timeout it may or may not have acted. */
async function withinTimeout(tool: Tool, run: (signal: AbortSignal) => Promise<JsonValue>): Promise<JsonValue> {
  const signal = AbortSignal.timeout(tool.timeoutMs)
  const { promise: late, reject } = Promise.withResolvers<never>()
  // A turn later, so that a tool which does heed the signal says better what became of it.
  const onAbort = () => setImmediate(reject, new ToolError('ambiguous', `${tool.name} did not answer within ${tool.timeoutMs / 1000} s`))
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([run(signal), late])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function resultUrl(tool: Tool, args: JsonObject, output: JsonValue): string | undefined {
  const url = tool.resultUrl?.(args, output)
  // What a tool answers is not trusted with a scheme: a link is http, https or a path here.
  return url !== undefined && (/^https?:\/\//i.test(url) || /^\/(?![/\\])/.test(url)) ? url : undefined
}

function settleError(parts: GateParts, tool: Tool, row: ActionRow, error: unknown): Settled {
  if (isToolError(error)) {
    // A target that honours our key can be asked again under it; anywhere else "maybe" must be shown, not repeated.
    if (error.kind === 'ambiguous' && !tool.idempotent && tool.effect === 'write') {
      return { to: 'outcome_unknown', error: { kind: 'ambiguous', message: error.message, retryable: false } }
    }
    return failed(error.kind, error.message, error.retryable)
  }
  parts.log.error({ actionId: row.id, tool: row.tool, error }, 'tool.broke')
  return tool.effect === 'write' && !tool.idempotent
    ? { to: 'outcome_unknown', error: { kind: 'broken', message: `${row.tool} broke while it ran`, retryable: false } }
    : failed('broken', `${row.tool} broke while it ran`, true)
}

const isToolError = (error: unknown): error is ToolError => error instanceof Error && error.name === 'ToolError' && 'kind' in error

const failed = (kind: string, message: string, retryable: boolean): Settled => ({ to: 'failed', error: { kind, message, retryable } })

function* settle(outbox: Outbox, attempted: ActionRow, settled: Settled, nowMs: number): Tx<void> {
  const succeeded = settled.to === 'succeeded'
  const ended = {
    result: succeeded ? JSON.stringify(settled.output) : null,
    result_url: succeeded ? (settled.url ?? null) : null,
    error: succeeded ? null : JSON.stringify(settled.error),
  }
  const { id, epoch } = attempted
  if (!(yield* actions.settleAction.change({ id, epoch, to: settled.to, ...ended, told: 1, now: nowMs }))) return
  const row: ActionRow = { ...attempted, ...ended, state: settled.to, updated_at: nowMs }
  const writer = yield* writeSessionOf(outbox, row, nowMs)
  const changed = succeeded ? { result: settled.output, resultUrl: row.result_url } : { error: settled.error }
  yield* announceUpdate(outbox, writer, row, changed, nowMs)
  if (!writer) return
  if (attempted.told) yield* writeNote(writer, row, nowMs)
  else yield* writeToolResult(writer, row, undefined, nowMs)
  yield* writer.finish()
  outbox.sessions.add(writer.row.id)
}

/**
 * The model was told of the first attempt and its history is never rewritten (signed reasoning is bound to it), so the outcome of a
 * retry is a note that waits in the queue like a person's message.
 */
function* writeNote(writer: SessionWriter, row: ActionRow, nowMs: number): Tx<void> {
  const ending =
    row.state === 'succeeded'
      ? `succeeded. Result: ${row.result}`
      : row.state === 'failed'
        ? 'failed again'
        : 'ended without a known outcome'
  yield* writer.message({
    id: newId('msg', nowMs),
    role: 'system',
    kind: 'note',
    content: `The action "${row.description}" (${row.tool}) was tried again and ${ending}`,
    queued: 1,
    inHistory: false,
  })
}

/**
 * Starts a failed action again, because a person said so. A definite failure gets a new idempotency key (many services replay the
 * stored failure for the old one), an ambiguous one keeps its key.
 * @throws CountersignError `not_found`, `forbidden`, `illegal_transition`.
 */
export async function retry(parts: GateParts, actionId: string, caller: Caller): Promise<Action> {
  const nowMs = parts.clock.nowMs()
  let toCarryOut: ActionRow | undefined
  const action = await parts.store.transact((outbox) =>
    doOnce(caller.once, nowMs, function* () {
      const before = yield* actions.findAction.first({ id: actionId })
      requireVisible(caller.principal, before?.requested_by, `action ${actionId}`)
      assert(before, 'a visible action exists')
      if (!mayDecide(caller.principal, JSON.parse(before.requires).roles)) {
        throw new CountersignError('forbidden', `${caller.principal.name} may not start ${actionId} again`)
      }
      const ambiguous = before.error !== null && JSON.parse(before.error).kind === 'ambiguous'
      const key = ambiguous ? before.idempotency_key : `${actionId}.${before.attempt + 1}`
      const isStarted = yield* actions.retryAction.change({ id: actionId, idempotency_key: key, now: nowMs })
      const row = yield* announceStart(outbox, actionId, isStarted, nowMs)
      if (!row) {
        throw new CountersignError('illegal_transition', `action ${actionId} is ${before.state}; only a failed action can be retried`, {
          action: yield* viewAction(before),
        })
      }
      toCarryOut = row
      return yield* viewAction(row)
    }),
  )
  if (toCarryOut) parts.background(carryOut(parts, toCarryOut))
  return action
}

/**
 * What a starting process does about actions that an earlier one left: an approved one is carried out; one that was executing is sent
 * again under the same key where the target honours it, and shown as of unknown outcome everywhere else.
 */
export async function recover(parts: GateParts): Promise<void> {
  const left = await parts.store.read(() => actions.unfinishedActions.all({}))
  for (const row of left) {
    if (row.executor !== 'server') continue
    if (row.state === 'approved') parts.background(execute(parts, row.id))
    else await recoverExecuting(parts, row)
  }
}

async function recoverExecuting(parts: GateParts, row: ActionRow): Promise<void> {
  const tool = parts.tools.byName(row.tool)
  const message = 'the server stopped while this was being carried out'
  if (!tool || (tool.effect === 'write' && !tool.idempotent)) {
    const lost: Settled = { to: 'outcome_unknown', error: { kind: 'ambiguous', message, retryable: false } }
    await parts.store.transact((outbox) => settle(outbox, row, lost, parts.clock.nowMs()))
    return
  }
  const resent = await parts.store.transact(function* (outbox) {
    const nowMs = parts.clock.nowMs()
    const lost = yield* actions.settleAction.change({
      id: row.id,
      epoch: row.epoch,
      to: 'outcome_unknown',
      result: null,
      result_url: null,
      error: JSON.stringify({ kind: 'ambiguous', message, retryable: false }),
      told: row.told,
      now: nowMs,
    })
    if (!lost) return undefined
    return yield* announceStart(outbox, row.id, yield* actions.resendAction.change({ id: row.id, now: nowMs }), nowMs)
  })
  if (resent) parts.background(carryOut(parts, resent))
}
