import { hash } from 'node:crypto'
import {
  type Action,
  CountersignError,
  canonicalJson,
  checkJson,
  isCountersignError,
  isSettled,
  type JsonObject,
  type Tool,
} from '@countersign/core'
import { mayBeModelName } from '@countersign/toolkit/internal'
import {
  type CallToolRequestParams,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { requireWriter } from '../gate/index.ts'
import { newSalt } from '../store/index.ts'
import { APPROVE_TOOL, answerAbout, complaint, WAIT_TOOL } from './answers.ts'
import type { Exchange, GatewayDeps } from './exchange.ts'
import type { GatewayCall } from './open-calls.ts'
import { MAX_WAIT_SECONDS } from './tool-list.ts'
import { waitForAction } from './wait-for-action.ts'

/** The state that a client sends back with its answer to `input_required`. */
export interface PausedCall {
  actionId: string
  tool: string
  /** SHA-256 (hex) over the canonical arguments. */
  argumentsHash: string
}

export interface CallDeps {
  deps: GatewayDeps
  exchange: Exchange
  codec: RequestStateCodec<PausedCall>
}

/** The longest that any call is held: clients give up after 60 s. */
const PATIENCE_SECONDS = 50

/** The key under which a client marks repeats of one call. */
const KEY = 'countersign/idempotencyKey'
const Key = z.string().regex(/^[\x21-\x7e]{1,255}$/, 'must be 1–255 printable ASCII characters')

const WaitArguments = z.strictObject({ actionId: z.string().max(100), seconds: z.number().min(0).max(MAX_WAIT_SECONDS).optional() })

/** The one request that a client gets with `input_required`. */
const APPROVAL = 'approval'

/**
 * Answers `tools/call`: proposes the action, waits a little for people, and returns its state. A call is never held longer than its client
 * waits, and nothing in it can decide anything.
 */
export async function callTool(
  call: CallDeps,
  { name, arguments: args = {} }: CallToolRequestParams,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    const read = checkJson(args)
    if (!read.ok) return complaint(`${name}: the arguments are not acceptable JSON: ${read.reason}`)
    if (name === WAIT_TOOL) return await waitAsAsked(call, args, ctx)
    if (name === APPROVE_TOOL && call.deps.answerPrompt) return await answerPrompt(call, read.value as JsonObject)
    const tool = call.exchange.tools.find(({ modelName }) => modelName === name)
    if (!tool) return await tellOfRepeat(call, name, read.value as JsonObject, ctx)
    return await proposeAndWait(call, tool, read.value as JsonObject, ctx)
  } catch (error) {
    if (isCountersignError(error) && error.code !== 'internal') return complaint(error.message)
    if (!(error instanceof ProtocolError)) call.deps.log.error({ error, tool: name }, 'gateway.call_failed')
    throw error
  }
}

const Prompt = z.looseObject({
  tool_name: z.string().min(1).max(200),
  input: z.record(z.string(), z.json()).default({}),
  tool_use_id: z.string().min(1).max(200).optional(),
})

/** Claude Code reads one text that holds JSON, and refuses the call for anything else. */
async function answerPrompt({ deps, exchange }: CallDeps, args: JsonObject): Promise<CallToolResult> {
  const read = Prompt.safeParse(args)
  const answer = read.success
    ? await deps.answerPrompt?.({ tool: read.data.tool_name, input: read.data.input, callId: read.data.tool_use_id }, exchange)
    : { behavior: 'deny', message: `Not allowed: this prompt cannot be read: ${z.prettifyError(read.error)}` }
  return { content: [{ type: 'text', text: JSON.stringify(answer) }] }
}

async function waitAsAsked(call: CallDeps, args: Record<string, unknown>, ctx: ServerContext): Promise<CallToolResult> {
  const read = WaitArguments.safeParse(args)
  if (!read.success) return complaint(`${WAIT_TOOL}: ${z.prettifyError(read.error)}`)
  const { actionId, seconds = call.deps.gateway.waitSeconds } = read.data
  const { caller, delivered } = call.exchange
  // A client that cancels this request stops the waiting, not the call.
  await call.deps.heldRequests.hold({ name: newSalt(), actionId, caller, isClosedByHangUp: false, delivered })
  return tellAbout(call, await waitFor(call, actionId, { decision: seconds, result: seconds }, ctx), false)
}

async function proposeAndWait(
  call: CallDeps,
  tool: Tool,
  args: JsonObject,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { deps, exchange } = call
  const { waitSeconds } = deps.gateway
  const paused = ctx.mcpReq.requestState<PausedCall>()
  if (paused) {
    if (paused.tool !== tool.name) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'this requestState is of another tool')
    return goOn(call, paused, args, ctx)
  }
  // Checked first, so that a caller without the right to write leaves no open call behind.
  requireWriter(exchange.caller.principal)
  const startedAt = deps.clock.nowMs()
  const made: GatewayCall = { tool: tool.name, arguments: args, agent: exchange.agent, key: readKey(ctx) }
  // A repeated call gets the answer of its action, even when the tool takes other arguments since then.
  const { action, isRepeated } = await deps.openCalls.actionOf(made, exchange.caller).catch((error: unknown) => {
    throw inFull(error, tool, args)
  })
  if (action.state === 'proposed' && !isRepeated && ShowsLinks.safeParse(ctx.mcpReq.envelope).success)
    return askToOpen(call, { action, args }, ctx)
  // Creating the preview may have used up some of the client's timeout already.
  const taken = (deps.clock.nowMs() - startedAt) / 1_000
  const waits = { decision: Math.max(waitSeconds - taken, 0), result: Math.max(PATIENCE_SECONDS - taken, 1) }
  return tellAbout(call, await waitUnlessWithdrawn(call, action.id, waits, ctx), isRepeated)
}

/** Goes on with a call that was answered with `input_required`. */
async function goOn(call: CallDeps, paused: PausedCall, args: JsonObject, ctx: ServerContext): Promise<CallToolResult> {
  // Otherwise the client would get the result of an earlier call for this one.
  if (paused.argumentsHash !== hashOf(args))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'this requestState is of other arguments')
  const view = inputResponse(ctx.mcpReq.inputResponses, APPROVAL)
  // The client's report of what was clicked decides nothing; it only affects how long to wait.
  const seconds = view.kind === 'elicit' && view.action === 'accept' ? call.deps.gateway.waitSeconds : 0
  return tellAbout(call, await waitUnlessWithdrawn(call, paused.actionId, { decision: seconds, result: PATIENCE_SECONDS }, ctx), false)
}

/**
 * Answers a call of a tool that is not there, where it repeats one that was made while it was: told that there is no such tool, a model
 * would do in another way what may have been carried out.
 */
async function tellOfRepeat(call: CallDeps, modelName: string, args: JsonObject, ctx: ServerContext): Promise<CallToolResult> {
  const { deps, exchange } = call
  const paused = ctx.mcpReq.requestState<PausedCall>()
  if (paused && mayBeModelName(modelName, paused.tool)) return goOn(call, paused, args, ctx)
  const made = { modelName, arguments: args, agent: exchange.agent, key: readKey(ctx) }
  const action = paused ? undefined : await deps.openCalls.repeatOf(made, exchange.caller)
  if (!action) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${modelName}`)
  requireWriter(exchange.caller.principal)
  const waits = { decision: deps.gateway.waitSeconds, result: PATIENCE_SECONDS }
  return tellAbout(call, await waitUnlessWithdrawn(call, action.id, waits, ctx), true)
}

/** Returns a refusal of arguments with all of their problems and the tool name that the model knows; any other error as it is. */
function inFull(error: unknown, tool: Tool, args: JsonObject): unknown {
  if (!isCountersignError(error) || error.code !== 'invalid_arguments') return error
  const checked = tool.check(args)
  if (checked.ok) return error
  return new CountersignError(error.code, `${tool.modelName}: ${checked.issues.map(({ message }) => message).join(' ')}`)
}

function readKey({ mcpReq }: ServerContext): string | undefined {
  const given = mcpReq._meta?.[KEY]
  if (given === undefined) return undefined
  const key = Key.safeParse(given)
  if (key.success) return key.data
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `_meta["${KEY}"] ${key.error.issues[0]?.message}`)
}

/** The capability that a client of 2026-07-28 declares with each request when it can show a link to a person. */
const ShowsLinks = z.object({ [CLIENT_CAPABILITIES_META_KEY]: z.object({ elicitation: z.object({ url: z.object({}) }) }) })

/** Asks the client to lead a person to the card. Afterwards the client repeats the call, with the state that is sealed here. */
async function askToOpen(
  { exchange, codec }: CallDeps,
  { action, args }: { action: Action; args: JsonObject },
  ctx: ServerContext,
): Promise<InputRequiredResult> {
  const message = `${action.description}: a person has to approve this (${action.id}).`
  return inputRequired({
    inputRequests: { [APPROVAL]: inputRequired.elicitUrl({ message, url: urlOf(exchange, action) }) },
    requestState: await codec.mint({ actionId: action.id, tool: action.tool, argumentsHash: hashOf(args) }, ctx),
  })
}

const hashOf = (args: JsonObject): string => hash('sha256', canonicalJson(args), 'hex')

const urlOf = ({ consoleUrl }: Exchange, { id }: Action): string => `${consoleUrl}/actions/${id}`

interface Waits {
  /** Seconds to wait for people. */
  decision: number
  /** Seconds in all, once no decision is needed. */
  result: number
}

/** Waits for the action of a call. When the client cancels the call, and no other call waits for the action, the action is withdrawn. */
async function waitUnlessWithdrawn(call: CallDeps, actionId: string, waits: Waits, ctx: ServerContext): Promise<Action> {
  const { heldRequests } = call.deps
  const { caller, requestName: name, delivered, isWithdrawn } = call.exchange
  await heldRequests.hold({ name, actionId, caller, isClosedByHangUp: ctx.mcpReq.envelope !== undefined, delivered })
  const action = await waitFor(call, actionId, waits, ctx)
  // The call was cancelled before its row existed.
  return (isWithdrawn() && !isSettled(action.state) && (await heldRequests.takeBack(name, caller))) || action
}

async function waitFor({ deps, exchange }: CallDeps, actionId: string, waits: Waits, ctx: ServerContext): Promise<Action> {
  const token = ctx.mcpReq._meta?.progressToken
  return waitForAction(deps, exchange, actionId, {
    decisionMs: waits.decision * 1_000,
    resultMs: waits.result * 1_000,
    stop: AbortSignal.any([exchange.hungUp, ctx.mcpReq.signal]),
    onBeat(action, waitedMs) {
      if (token === undefined) return
      const [message, total] =
        action.state === 'proposed'
          ? [`Waiting for approval ${action.id}`, waits.decision]
          : [`${action.id} is being carried out`, waits.result]
      const params = { progressToken: token, progress: waitedMs / 1_000, total: Math.ceil(total), message }
      // A client that cannot be notified does not fail the wait.
      ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
    },
  })
}

/** Builds the answer for an action; a settled result counts as delivered once this answer has been sent to the proposer. */
function tellAbout({ deps, exchange }: CallDeps, action: Action, isRepeated: boolean): CallToolResult {
  // Others may wait for an action that they see. The proposer's call stays open then: repeated, it must not run a second time.
  const isProposer = action.requestedBy.id === exchange.caller.principal.id
  if (isProposer && isSettled(action.state)) deps.openCalls.tell(action, exchange.delivered)
  return answerAbout(action, { url: urlOf(exchange, action), isRepeated })
}
