import { randomBytes } from 'node:crypto'
import { isCountersignError, type JsonObject, makeId, parseJson, type Tool } from '@countersign/core'
import { type PreparedAction, prepareAction } from '../gate/index.ts'
import { actions } from '../store/index.ts'
import type { Agent, AgentParts } from './agent.ts'
import type { HeardCall } from './listen.ts'

/** A call of a step: on its way to become an action, or refused before it could be one. */
export type PreparedCall = { toolCallId: string; name: string; arguments: JsonObject } & (
  | { prepared: PreparedAction }
  | { rejection: string }
)

/** Checks a step's calls, all at once, in their order. A call that does not fit its tool never becomes an action: the model is told why. */
export async function prepareCalls(
  parts: AgentParts,
  agent: Agent,
  sessionId: string,
  calls: readonly HeardCall[],
): Promise<PreparedCall[]> {
  const ids = await chooseIds(parts, sessionId, calls)
  return Promise.all(calls.map((call, i) => prepareCall(parts, agent, call, ids[i] ?? newCallId(parts), i)))
}

async function prepareCall(parts: AgentParts, agent: Agent, call: HeardCall, toolCallId: string, position: number): Promise<PreparedCall> {
  const tool = findTool(agent, call.name)
  const parsed = parseJson(call.argumentsText.trim() === '' ? '{}' : call.argumentsText)
  const isObject = parsed.ok && typeof parsed.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value)
  const args: JsonObject = isObject ? (parsed.value as JsonObject) : {}
  const named = { toolCallId, name: tool?.name ?? call.name, arguments: args }
  if (!tool) return { ...named, rejection: `there is no tool ${JSON.stringify(call.name.slice(0, 100))}` }
  if (!parsed.ok) return { ...named, rejection: `the arguments are not valid: ${parsed.reason}` }
  if (!isObject) return { ...named, rejection: 'the arguments must be a JSON object' }
  if (agent.actionsPerStep === 'one' && position > 0) {
    return { ...named, rejection: 'one action at a time: propose this again when you have the result of the one before it' }
  }
  try {
    return {
      ...named,
      prepared: await prepareAction({ tool, arguments: args, agent: agent.name, policy: parts.policy, nowMs: parts.clock.nowMs() }),
    }
  } catch (error) {
    if (isCountersignError(error) && error.code === 'invalid_arguments') return { ...named, rejection: error.message }
    throw error
  }
}

/** Models use the name they were offered; a remote brain may know the tool by its API name. */
const findTool = (agent: Agent, name: string): Tool | undefined =>
  agent.tools.find((tool) => tool.modelName === name) ?? agent.tools.find((tool) => tool.name === name)

const newCallId = (parts: AgentParts): string => makeId('call', parts.clock.nowMs(), randomBytes(16))

/** Providers reuse their ids (`functions.add:0` in every run), leave them empty or send none: theirs stand only while they are unique here. */
async function chooseIds(parts: AgentParts, sessionId: string, calls: readonly HeardCall[]): Promise<string[]> {
  const used = new Set<string>()
  const ids: string[] = []
  for (const { providerCallId } of calls) {
    let id = newCallId(parts)
    if (providerCallId !== undefined && /^[\x21-\x7e]{1,128}$/.test(providerCallId) && !used.has(providerCallId)) {
      const taken = await parts.store.read(() => actions.callIdTaken.first({ session_id: sessionId, tool_call_id: providerCallId }))
      if (!taken) id = providerCallId
    }
    used.add(id)
    ids.push(id)
  }
  return ids
}
