import { createHash } from 'node:crypto'
import { type Action, CountersignError, canonicalJson, type JsonObject, type Tool } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { type HostTool, isHostTool, runFolder, toArguments, toHostInput } from '../coding-agent/index.ts'
import type { IdempotencyKey } from '../store/index.ts'
import { type ActionRow, hostCalls, newSalt, type Store, stored, type Tx } from '../store/index.ts'

/** A call of a host as the gate sees it. Session, id and exact arguments name it: some hooks carry no id. */
export interface GateCall {
  /** As the host makes it. */
  made: HostTool
  /** What to propose for the call, or the error when it cannot be proposed now. An action that the call has already is found without it. */
  proposal: Proposal | { refused: CountersignError }
  /** The session of the host, as the action's context shows it. */
  run: string
  callId: string | undefined
  /** The agent's reason for the call, unverified. */
  reason: string | undefined
}

export interface Proposal {
  tool: Tool
  args: JsonObject
  /** Canonical, as an action stores them. */
  argumentsText: string
}

export const runOf = (host: string, session: string): string => `${host} ${session}`.slice(0, 200)

/** Returns the call as a tool of the configuration with checked arguments. */
export const toGateCall = (tools: readonly Tool[], made: HostTool, session: string, callId: string | undefined): GateCall => ({
  made,
  proposal: proposalOf(tools, made),
  run: runOf(made.host, session),
  callId,
  reason: made.reason,
})

function proposalOf(tools: readonly Tool[], made: HostTool): GateCall['proposal'] {
  const { kind, args } = toArguments(made)
  const tool = tools.find((one) => isHostTool(one, kind))
  if (!tool) {
    const message = 'this server has no tools for coding agents: add "tools: { host: { coding-agent: {} } }" to its configuration'
    return { refused: new CountersignError('not_found', message) }
  }
  const checked = tool.check(args)
  if (checked.ok) return { tool, args: checked.value, argumentsText: canonicalJson(checked.value) }
  const [first] = checked.issues
  const message = `${made.tool}: ${first?.path ?? ''} ${first?.message ?? 'the input does not fit'}`
  return { refused: new CountersignError('invalid_arguments', message) }
}

/** @throws CountersignError `not_found` without tools for coding agents, `invalid_arguments`. */
export function requireProposal({ proposal }: GateCall): Proposal {
  if ('refused' in proposal) throw proposal.refused
  return proposal
}

/** The input with which the host is to run a call; undefined when people left it unchanged. */
export function changedInput(call: HostTool, args: JsonObject): JsonObject | undefined {
  const input = toHostInput(call.host, args)
  return canonicalJson(input) === canonicalJson(call.input) ? undefined : input
}

/** The key under which a call is proposed once. A call without an id has none of its own. */
export function onceKeyOf({ run, callId }: GateCall, { argumentsText }: Proposal, principalId: string): IdempotencyKey {
  const requestHash = createHash('sha256').update(argumentsText).digest('hex')
  const key = createHash('sha256')
    .update(JSON.stringify([run, callId ?? newSalt(), requestHash]))
    .digest('hex')
  return { scope: `${principalId} hooks`, key, requestHash, keptFor: 'action' }
}

/**
 * The key under which a call claims its action, so that the same call, asked about in two places, has one claim, and another call with the same
 * input has none. A call without an id has no key.
 */
export function claimKeyOf(
  callId: string | undefined,
  { id, revision }: Pick<Action, 'id' | 'revision'>,
  principalId: string,
): IdempotencyKey | undefined {
  if (callId === undefined) return undefined
  const key = createHash('sha256')
    .update(JSON.stringify([id, revision, callId]))
    .digest('hex')
  return { scope: `${principalId} hooks claim`, key, requestHash: key }
}

const hasInput = (row: ActionRow, { proposal }: GateCall): boolean =>
  'tool' in proposal && row.tool === proposal.tool.name && row.arguments === proposal.argumentsText

/**
 * True for an action of the same tool of the host with the same input, or with an input that people edited. What this server derives from an
 * input is not compared: a later version may derive something else.
 */
function isOfInput(row: ActionRow, { made }: GateCall): boolean {
  const [args, given] = [stored.sharedArgumentsOf(row), toArguments(made).args]
  if (args.host !== given.host || args.hostTool !== given.hostTool) return false
  if (row.edited_by !== null) return true
  // The folder of a command that names one is read from the command.
  const folders = [made.folder, isObject(args.options) ? runFolder(args.options, made.folder) : made.folder]
  return folders.includes(String(args.folder)) && changedInput(made, args) === undefined
}

const isSame = (row: ActionRow, call: GateCall): boolean => hasInput(row, call) && stored.contextOf(row)?.run === call.run

/** The prompts of Claude Code over MCP name no session of Claude Code: there it is that of the connection, if it has one. */
const MCP_SESSION = 'mcp'

/** @param connection The id of the MCP session, a secret of its client. */
export const promptSession = (connection: string | undefined): string =>
  connection === undefined ? MCP_SESSION : `${MCP_SESSION} ${createHash('sha256').update(connection).digest('hex').slice(0, 16)}`

const PROMPTS = runOf('claude', MCP_SESSION)

const isOfPrompts = (run: string): boolean => run === PROMPTS || run.startsWith(`${PROMPTS} `)

/** The id of a call alone says which prompt a hook of Claude Code is about. */
function isOfRun(row: ActionRow, run: string): boolean {
  const said = stored.contextOf(row)?.run
  return said === run || (said !== undefined && isOfPrompts(said) && run.startsWith('claude ') && !isOfPrompts(run))
}

/** The action of this very call: by its id, and where the hook has none, the open one with the same input that an earlier hook named. */
function* sameCall(call: GateCall, requestedBy: string): Tx<ActionRow | undefined> {
  if (call.callId !== undefined) {
    const named = yield* hostCalls.actionsOfCall.all({ requested_by: requestedBy, tool_call_id: call.callId })
    return named.find((row) => row.executor === 'client' && isOfRun(row, call.run) && (hasInput(row, call) || isOfInput(row, call)))
  }
  const open = yield* hostCalls.openCallsOf.all({ requested_by: requestedBy })
  return open.find((row) => row.state === 'executing' && row.tool_call_id !== null && isSame(row, call))
}

export interface FoundCall {
  row: ActionRow
  /** True for an earlier call that nobody waits for any more: it is approved for the same input in the same session. */
  isParked: boolean
}

/** Returns the action that a call continues; undefined for a new call. */
export function findCall(
  store: Store,
  call: GateCall,
  requestedBy: string,
  isHeld: (id: string) => boolean,
): Promise<FoundCall | undefined> {
  return store.read(function* (): Tx<FoundCall | undefined> {
    const same = yield* sameCall(call, requestedBy)
    if (same) return { row: same, isParked: false }
    const open = yield* hostCalls.openCallsOf.all({ requested_by: requestedBy })
    // Without a session, the same call may be one of another run in another folder: an approval from before is not for it.
    const states = call.run === PROMPTS ? ['proposed'] : ['proposed', 'approved']
    const parked = open.find((row) => states.includes(row.state) && !isHeld(row.id) && isSame(row, call))
    return parked && { row: parked, isParked: true }
  })
}

/** For so long the report of a call without an id is looked for among those that are settled. */
const REPORTED_WITHIN_MS = 3_600_000

/** The newest settled action of a call that has no id: a host that runs what was refused reports it like any other. */
function* lastSettled(call: GateCall, requestedBy: string, nowMs: number): Tx<ActionRow | undefined> {
  if (call.callId !== undefined || 'refused' in call.proposal) return undefined
  const { tool, argumentsText } = call.proposal
  const asked = { requested_by: requestedBy, tool: tool.name, arguments: argumentsText, since: nowMs - REPORTED_WITHIN_MS }
  return (yield* hostCalls.settledCallsOf.all(asked)).find((row) => isSame(row, call))
}

/** Returns the action that a report is about: the one that runs, or else one that is still undecided, or else the one that was settled last. */
export function findReported(store: Store, call: GateCall, requestedBy: string, nowMs: number): Promise<ActionRow | undefined> {
  return store.read(function* (): Tx<ActionRow | undefined> {
    const same = yield* sameCall(call, requestedBy)
    if (same) return same
    // The oldest first: calls of one session run in turn.
    const open = (yield* hostCalls.openCallsOf.all({ requested_by: requestedBy })).reverse()
    const fitting = open.filter((row) => isSame(row, call))
    const running = fitting.find(({ state }) => state === 'executing') ?? fitting[0]
    return running ?? (yield* lastSettled(call, requestedBy, nowMs))
  })
}

/** The open actions of a session of a host. */
export function findOpenOf(store: Store, run: string, requestedBy: string): Promise<ActionRow[]> {
  return store.read(function* (): Tx<ActionRow[]> {
    const open = yield* hostCalls.openCallsOf.all({ requested_by: requestedBy })
    return open.filter((row) => stored.contextOf(row)?.run === run)
  })
}
