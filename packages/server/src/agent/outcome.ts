import { assert, type CountersignError, isCountersignError, isSettled, type ToolCall } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { outcomeOf } from '../gate/execute/tool-result.ts'
import {
  countNear,
  countRepeat,
  INSISTED,
  insertPrepared,
  isRepeatedTooOften,
  limitsOf,
  noteRefusedAsk,
  type OtherEvent,
  queueNearLimit,
  type RunContext,
  recordImpossible,
  type SessionWriter,
  stopRun,
  type WaitingLimits,
  writeSession,
} from '../gate/index.ts'
import {
  type ActionRow,
  modelCalls,
  newId,
  noteHappening,
  type Outbox,
  principals,
  type RunRow,
  type SessionRow,
  type Tx,
} from '../store/index.ts'
import type { Agent, AgentDeps } from './agent.ts'
import type { PreparedCall } from './calls.ts'
import { disabledBehind } from './disabled.ts'
import type { Heard } from './listen.ts'
import { assistantPayload } from './look-ups.ts'
import { startQueuedRun } from './run.ts'
import { addNote } from './session.ts'
import { totalUsage, usageColumns } from './usage.ts'

const EMPTY = 'The model’s answer was empty.'

interface StepOf {
  session: SessionRow
  run: RunRow
  messageId: string
}

interface StepResult extends StepOf {
  agent: Agent
  heard: Heard
  calls: PreparedCall[]
  /** Events of the step that its stream had no time for. */
  unsaid: OtherEvent[]
}

interface RefusedAsk {
  tool: string
  error: CountersignError
}

/** A step while it is stored. */
interface StoredStep extends StepResult {
  /** Takes the calls for which too much waits already. */
  refused: RefusedAsk[]
}

/**
 * Stores a whole step: the message, its actions with their verdicts, results of refused calls, the request to people, and the end of the
 * run if nothing was called. Returns true when the model should be called again at once, because no call became an open action. Stores
 * nothing when another loop made this step, the run has ended, or another version of the policy came into force since the calls were
 * prepared; then they are prepared again.
 */
export async function finishStep(deps: AgentDeps, step: StepResult): Promise<boolean | 'policy_changed'> {
  checkpoint('step.before_store')
  const refused: RefusedAsk[] = []
  const stored = await deps.store.transact((outbox) => {
    // The transaction may be tried again.
    refused.length = 0
    return storeStep(deps, outbox, { ...step, refused }, deps.clock.nowMs())
  })
  const { id: sessionId, owner_id: actor } = step.session
  for (const { tool, error } of refused) noteRefusedAsk(deps.refusals, { actor, tool, sessionId }, error)
  checkpoint('step.after_store')
  return stored
}

function* storeStep({ policies }: AgentDeps, outbox: Outbox, step: StoredStep, now: number): Tx<boolean | 'policy_changed'> {
  const { run, messageId, heard, calls } = step
  const { usage } = heard
  assert(usage, 'a step that did not fail counted something')
  const said = calls.flatMap((call) => ('prepared' in call ? [call.prepared.policy] : []))
  // Whether this version is in force is only known below: if it is not, nothing is stored.
  let limits = limitsOf(policies.current.document)
  const asks = said.some(({ verdict }) => verdict === 'ask')
  const { owner_id: owner } = step.session
  // The owner is read for the cards.
  const soon = said.length > 0 ? [policies.inForce(), principals.findPrincipal.first({ id: owner })] : []
  const writer = yield* writeSession(outbox, step.session.id, now, { soon: asks ? [countNear(owner, limits), ...soon] : soon })
  const waitingNow = asks ? yield* queueNearLimit(owner, limits) : undefined
  if (said.length > 0) {
    const force = yield* policies.inForce()
    if (said.some(({ version }) => version !== force.version)) return 'policy_changed'
    limits = limitsOf(force.document)
  }
  // The loop ends it then, with nothing of this step.
  if (yield* disabledBehind(writer.state, run)) return true
  if (!writer.countStep(run, usageColumns(usage))) return false
  yield* keepCall(outbox, step, now)
  let isAnswered = false
  yield* writer.dropDeltas(messageId)
  for (const event of step.unsaid) writer.passingEvent(event)
  const toolCalls: ToolCall[] = calls.map((call) => ({ id: call.toolCallId, name: call.name, arguments: call.arguments }))
  const isEmpty = heard.text.trim() === '' && toolCalls.length === 0 && !heard.lookedUp.lookUps
  if (!isEmpty) yield* addAnswer(writer, step, heard.text, toolCalls)
  if (heard.note !== undefined) yield* addNote(writer, heard.note, now)
  // Otherwise the run would be over with nothing to see.
  if (isEmpty) yield* addNote(writer, EMPTY, now, run.id)
  if (toolCalls.length === 0) {
    writer.endRun(run.id, 'done')
    writer.event({ type: 'done', data: { messageId, runId: run.id, usage: totalUsage(run, usage) } })
    yield* startQueuedRun(outbox, writer, now)
  } else {
    const rows = yield* insertCalls({ outbox, session: writer, nowMs: now, caller: undefined }, step, { limits, waitingNow })
    checkpoint('step.storing')
    isAnswered = rows.every((row) => isSettled(row.state))
    if (yield* insists(rows)) {
      isAnswered = false
      yield* stopInsisting(outbox, writer, run.id, now)
    } else yield* askPeople(writer, run.id, rows, now)
  }
  yield* writer.finish()
  return isAnswered
}

/** Stores which model made the step and its token counts, for budgets and statistics. */
function* keepCall(outbox: Outbox, { session, run, heard }: { session: SessionRow; run: RunRow; heard: Heard }, now: number): Tx<void> {
  const { model, passedOver, failure, usage, tookMs } = heard
  const call = {
    session_id: run.session_id,
    run_id: run.id,
    step: run.steps + 1,
    agent: session.agent,
    model,
    fell_back: passedOver[0]?.code ?? null,
    error: failure?.code ?? null,
    ...usageColumns(usage),
    created_at: now,
  }
  yield* modelCalls.insertModelCall.run(call)
  noteHappening(outbox, { what: 'model_call', call, tookMs })
}

function* addAnswer(writer: SessionWriter, { run, messageId, heard }: StepResult, text: string, toolCalls: ToolCall[]): Tx<void> {
  yield* writer.message({
    id: messageId,
    run_id: run.id,
    role: 'assistant',
    content: text,
    model: heard.model,
    payload: assistantPayload(heard.providerData, heard.lookedUp),
    inHistory: true,
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
  })
}

/** How much may wait, and how much does; undefined where it has to be counted. */
interface Room {
  limits: WaitingLimits
  waitingNow: number | undefined
}

function* insertCalls(context: RunContext, step: StoredStep, { limits, waitingNow }: Room): Tx<ActionRow[]> {
  const { outbox, session: writer, nowMs: now } = context
  const rows: ActionRow[] = []
  for (const [position, call] of step.calls.entries()) {
    const toolCall = { id: call.toolCallId, name: call.name }
    const result = { messageId: newId('msg', now), runId: step.run.id, toolCall }
    if ('rejection' in call) {
      const { impossible } = call
      if (impossible) yield* recordImpossible(outbox, writer, { ...impossible, agent: step.agent.name, actor: step.session.owner_id }, now)
      yield* writer.toolResult({ ...result, outcome: { type: 'error', message: call.rejection } })
      continue
    }
    if ('answer' in call) {
      yield* writer.toolResult({ ...result, outcome: { type: 'output', value: call.answer } })
      continue
    }
    const first = rows.find((row) => row.state === 'proposed' && row.tool === call.name && row.digest === call.prepared.digest)
    if (first) {
      yield* countRepeat(context, first)
      yield* writer.toolResult({ ...result, outcome: { type: 'error', message: sameAs(first) } })
      continue
    }
    const inserted = yield* insertOrRefuse(outbox, writer, {
      prepared: call.prepared,
      placement: { sessionId: step.session.id, runId: step.run.id, messageId: step.messageId, toolCallId: call.toolCallId, position },
      // Actions run for who owns the session, never with the rights of who approves them. Policy has held for all who wrote in it.
      requestedBy: step.session.owner_id,
      limits,
      waitingNow: waitingNow === undefined ? undefined : waitingNow + rows.filter(({ state }) => state === 'proposed').length,
      nowMs: now,
    })
    if ('refusal' in inserted) {
      step.refused.push({ tool: call.name, error: inserted.refusal })
      yield* writer.toolResult({ ...result, outcome: { type: 'error', message: inserted.refusal.message } })
      continue
    }
    const { row } = inserted
    // Policy refused it, or an earlier read knows it: the model hears that at once.
    if (isSettled(row.state)) yield* writer.toolResult({ ...result, outcome: outcomeOf(row, undefined), actionId: row.id })
    rows.push(row)
  }
  return rows
}

/** The result for a model that makes the same call twice in one step. If it meant both, it can say so once the first is done. */
const sameAs = ({ id, tool_call_id }: ActionRow): string =>
  `This is the same call as ${tool_call_id} of this step, which waits for approval as ${id}. It needs one approval and is carried out once. If you mean it twice, call again when you have the result of the first`

/** Stores a call, unless too much waits already: the refusal is then the result of the call, and the run continues. */
function* insertOrRefuse(
  outbox: Outbox,
  writer: SessionWriter,
  input: Parameters<typeof insertPrepared>[2],
): Tx<{ row: ActionRow } | { refusal: CountersignError }> {
  try {
    return yield* insertPrepared(outbox, writer, input)
  } catch (error) {
    if (isCountersignError(error) && error.code === 'too_many_waiting') return { refusal: error }
    throw error
  }
}

function* insists(rows: readonly ActionRow[]): Tx<boolean> {
  for (const row of rows) if (yield* isRepeatedTooOften(row)) return true
  return false
}

/** Ends a run whose model does not take no for an answer. */
function* stopInsisting(outbox: Outbox, writer: SessionWriter, runId: string, now: number): Tx<void> {
  yield* addNote(writer, `${INSISTED}.`, now, runId)
  yield* stopRun({ outbox, session: writer, nowMs: now, caller: undefined }, runId, { reason: INSISTED, by: undefined })
  outbox.sessions.add(writer.row.id)
}

/** Adds the request as a message too, so that a person who returns to the session reads what is waiting. The model never sees it. */
function* askPeople(writer: SessionWriter, runId: string, rows: readonly ActionRow[], now: number): Tx<void> {
  const waiting = rows.filter((row) => row.state === 'proposed')
  if (waiting.length === 0) return
  const what = waiting.map((row) => row.description)
  const content =
    waiting.length === 1
      ? `I need approval to use ${waiting[0]?.tool}: ${what[0]}. Please approve or decline this action.`
      : `I need approval for ${waiting.length} actions:\n${what.map((line) => `- ${line}`).join('\n')}\nPlease approve or decline each.`
  yield* writer.message({
    id: newId('msg', now),
    run_id: runId,
    role: 'assistant',
    kind: 'request',
    content,
    actionIds: waiting.map((row) => row.id),
    inHistory: false,
  })
}

interface Failure extends StepOf {
  text: string
  code: string
  error: string
  /** The part of the answer that arrived, if the model failed. */
  heard?: Heard
}

/** Ends a run that cannot continue, and puts the reason where a person will read it later. The partial answer of the model is kept. */
export async function failRun(
  deps: Pick<AgentDeps, 'store' | 'clock' | 'log'>,
  { session, run, messageId, text, code, error, heard }: Failure,
): Promise<false> {
  const now = deps.clock.nowMs()
  deps.log.warn({ sessionId: session.id, runId: run.id, code }, 'run.failed')
  checkpoint('run.before_fail')
  await deps.store.transact(function* (outbox) {
    const writer = yield* writeSession(outbox, session.id, now)
    // A loop that stood still does not end a run that others have gone on with.
    if (!writer.failRun(run)) return
    if (heard) yield* keepCall(outbox, { session, run, heard }, now)
    yield* writer.dropDeltas(messageId)
    const lookedUp = heard?.lookedUp ?? {}
    if (text !== '' || lookedUp.lookUps) {
      const payload = assistantPayload(undefined, lookedUp)
      // Look-ups go back only to the model that made them.
      const from = payload === null ? {} : { model: heard?.lookedUpBy }
      yield* writer.message({ id: messageId, run_id: run.id, role: 'assistant', content: text, payload, ...from, inHistory: true })
    }
    yield* addNote(writer, error, now, run.id)
    writer.event({ type: 'error', data: { code, error, runId: run.id } })
    yield* startQueuedRun(outbox, writer, now)
    yield* writer.finish()
  })
  checkpoint('run.after_fail')
  return false
}
