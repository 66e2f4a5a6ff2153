import { isCountersignError, type JsonObject, type JsonValue, parseJson, type Tool } from '@countersign/core'
import { type ImpossibleCall, type PreparedAction, type PrepareInput, prepareAction, readImpossible, requestersIn } from '../gate/index.ts'
import type { SessionState } from '../store/index.ts'
import type { Agent, AgentDeps } from './agent.ts'
import { type Meant, readCall } from './catalogue/index.ts'
import type { HeardCall } from './listen.ts'

/** A call of a step: on its way to become an action, answered by the catalogue of tools, or refused before it could be an action. */
export type PreparedCall = { toolCallId: string; name: string; arguments: JsonObject } & (
  | { prepared: PreparedAction }
  | { answer: JsonValue }
  | { rejection: string; impossible?: ImpossibleCall }
)

/** Checks a step's calls, all at once, in their order. A call that does not fit its tool never becomes an action: the model is told why. */
export async function prepareCalls(
  deps: AgentDeps,
  agent: Agent,
  found: SessionState,
  calls: readonly HeardCall[],
): Promise<PreparedCall[]> {
  if (calls.length === 0) return []
  const requesters = await deps.store.read(() => requestersIn(found))
  const asked = { session: found.session, requesters }
  return Promise.all(calls.map((call, position) => prepareCall(deps, agent, asked, { ...call, position })))
}

async function prepareCall(
  deps: AgentDeps,
  agent: Agent,
  asked: Pick<PrepareInput, 'session' | 'requesters'>,
  { position, ...call }: HeardCall & { position: number },
): Promise<PreparedCall> {
  const parsed = parseJson(call.argumentsText.trim() === '' ? '{}' : call.argumentsText)
  const isObject = parsed.ok && typeof parsed.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value)
  const written = { name: call.name, arguments: isObject ? (parsed.value as JsonObject) : {} }
  const meant: Meant = isObject ? readCall(agent, written) : { call: written }
  if (!('call' in meant)) return { toolCallId: call.id, ...written, ...meant }
  const { name, arguments: args } = meant.call
  const tool = meant.tool ?? findTool(agent, name)
  const named = { toolCallId: call.id, name: tool?.name ?? name, arguments: args }
  if (!parsed.ok) return { ...named, rejection: `the arguments are not valid: ${parsed.reason}` }
  if (!isObject) return { ...named, rejection: 'the arguments must be a JSON object' }
  if (!tool) return { ...named, rejection: `there is no tool ${JSON.stringify(name.slice(0, 100))}` }
  if (agent.actionsPerStep === 'one' && position > 0) {
    return { ...named, rejection: 'one action at a time: propose this again when you have the result of the one before it' }
  }
  try {
    const { policies, clock, previewTimeoutMs } = deps
    const call = { tool, arguments: args, agent: agent.name, ...asked }
    return { ...named, prepared: await prepareAction({ ...call, policies, clock, previewTimeoutMs }) }
  } catch (error) {
    const impossible = readImpossible(error)
    if (isCountersignError(error) && (error.code === 'invalid_arguments' || impossible))
      return { ...named, rejection: error.message, ...(impossible && { impossible }) }
    // A tool written by others may fail while it describes itself: then there is no card to show, and the call is refused.
    deps.log.error({ tool: tool.name, error }, 'tool.prepare_failed')
    return { ...named, rejection: `${tool.name} is broken: the call could not be prepared` }
  }
}

/** Models use the name they were offered; a remote brain may know the tool by its API name. */
export const findTool = (agent: Agent, name: string): Tool | undefined =>
  agent.tools.find((tool) => tool.modelName === name) ?? agent.tools.find((tool) => tool.name === name)
