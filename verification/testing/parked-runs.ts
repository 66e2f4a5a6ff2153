import { deserialize, serialize } from 'node:v8'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import type { BaseMessage } from '@langchain/core/messages'
import { tool as langchainTool, type StructuredToolInterface } from '@langchain/core/tools'
import { interrupt, isInterrupted, MemorySaver } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { Agent, tool as agentsTool, Runner, RunState } from '@openai/agents-core'
import type { ScriptedModel } from '@openai/agents-core/testing'
import { tool as aiTool, type ModelMessage, ToolLoopAgent } from 'ai'
import type { MockLanguageModelV4 } from 'ai/test'
import { createAgent } from 'langchain'
import { answerApprovals, gate as gateAiSdk } from '../../packages/client/src/gate/ai-sdk.ts'
import { gate as gateLangchain } from '../../packages/client/src/gate/langchain.ts'
import { gate as gateMastra } from '../../packages/client/src/gate/mastra.ts'
import { answerInterruptions, gate as gateAgents } from '../../packages/client/src/gate/openai-agents.ts'
import type { ParkedAtGate } from '../../packages/client/src/gate/parked-call.ts'
import type { Client, GateOptions } from '../../packages/client/src/index.ts'
import {
  agentsModel,
  aiModel,
  importMastra,
  langchainModel,
  type ScriptedCall,
  SET,
  toldToAgents,
  toldToAiModel,
  toldToLangchain,
} from './gate-frameworks.ts'
import type { openLedger } from './gate-server.ts'

type Work = Pick<ReturnType<typeof openLedger>, 'setStatus'>

/** A run that its framework stopped, as text to store, or what its model was told once it ended, by tool call id. */
export type ParkedRun = { saved: string; told?: undefined } | { saved?: undefined; told: Record<string, string> }

export interface ParkingRun {
  client: Client
  work: Work
  options?: GateOptions
}

/** A framework's own way to stop a run at a call and to go on with it later, with gated tools. */
export interface Parking {
  /** Runs an agent whose model makes these calls in one step, until the framework stops it. */
  start(run: ParkingRun, calls: readonly ScriptedCall[]): Promise<ParkedRun>
  /** Goes on with a stored run, in this or another process. @param wait Whether to wait until every call is decided. */
  resume(run: ParkingRun, saved: string, wait: boolean): Promise<ParkedRun>
}

const parkedAgent = ({ client, work, options }: ParkingRun, model: ScriptedModel) => {
  const setStatus = gateAgents(
    client,
    agentsTool,
    options,
  )({
    name: 'setStatus',
    description: SET.description,
    parameters: SET.schema,
    needsApproval: true,
    execute: work.setStatus,
  })
  return new Agent({ name: 'desk', model, tools: [setStatus] })
}

const openaiAgents: Parking = {
  async start(run, calls) {
    const { state } = await new Runner({ tracingDisabled: true }).run(parkedAgent(run, agentsModel(...calls)), 'go')
    return { saved: state.toString() }
  },
  async resume(run, saved, wait) {
    const model = agentsModel()
    const agent = parkedAgent(run, model)
    const state = await RunState.fromString(agent, saved)
    await answerInterruptions(state, { wait })
    const result = await new Runner({ tracingDisabled: true }).run(agent, state)
    return result.interruptions.length > 0 ? { saved: result.state.toString() } : { told: toldToAgents(model) }
  },
}

const aiSdk: Parking = (() => {
  const open = ({ client, work, options }: ParkingRun, model: MockLanguageModelV4) => {
    const setStatus = aiTool({ description: SET.description, inputSchema: SET.schema, execute: work.setStatus })
    const tools = gateAiSdk(client, { setStatus }, options)
    return { tools, agent: new ToolLoopAgent({ model, tools, toolApproval: { setStatus: 'user-approval' } }) }
  }
  return {
    async start(run, calls) {
      const { agent } = open(run, aiModel(...calls))
      const go: ModelMessage = { role: 'user', content: 'go' }
      const { responseMessages } = await agent.generate({ messages: [go] })
      return { saved: JSON.stringify([go, ...responseMessages]) }
    },
    async resume(run, saved, wait) {
      const model = aiModel()
      const { tools, agent } = open(run, model)
      const messages: ModelMessage[] = JSON.parse(saved)
      const answers = await answerApprovals(tools, messages, { wait })
      if (!answers) return { saved }
      await agent.generate({ messages: [...messages, answers] })
      return { told: toldToAiModel(model) }
    },
  }
})()

interface Graph {
  invoke(input: typeof GO | null, config: typeof THREAD): Promise<{ messages: BaseMessage[] }>
}
type MakeGraph = (model: BaseChatModel, tools: StructuredToolInterface[], checkpointer: MemorySaver) => Graph

const THREAD = { configurable: { thread_id: 'conv-1' } }
const GO = { messages: [{ role: 'user', content: 'go' }] }

/** A graph whose gated tool stops it. What its checkpointer holds is the stored run. */
const graphParking = (makeGraph: MakeGraph): Parking => {
  const open = ({ client, work, options }: ParkingRun, model: BaseChatModel, saved?: string) => {
    const checkpointer = new MemorySaver()
    if (saved !== undefined) Object.assign(checkpointer, deserialize(Buffer.from(saved, 'base64')))
    const setStatus = gateLangchain(client, langchainTool(work.setStatus, { name: 'setStatus', ...SET }), { ...options, interrupt })
    return { checkpointer, graph: makeGraph(model, [setStatus], checkpointer) }
  }
  const parked = ({ storage, writes }: MemorySaver): ParkedRun => ({ saved: serialize({ storage, writes }).toString('base64') })
  return {
    async start(run, calls) {
      const { graph, checkpointer } = open(run, langchainModel(...calls))
      const state = await graph.invoke(GO, THREAD)
      return isInterrupted(state) ? parked(checkpointer) : { told: toldToLangchain(state.messages) }
    },
    async resume(run, saved, wait) {
      const { graph, checkpointer } = open(run, langchainModel(), saved)
      for (;;) {
        const state = await graph.invoke(null, THREAD)
        if (!isInterrupted<ParkedAtGate>(state)) return { told: toldToLangchain(state.messages) }
        if (!wait) return parked(checkpointer)
        await Promise.all(state.__interrupt__.map(({ value }) => untilDecided(run, value)))
      }
    },
  }
}

const mastra: Parking = (() => {
  const open = async ({ client, work, options }: ParkingRun, model: MockLanguageModelV4, stored: Iterable<[string, unknown]> = []) => {
    const { Agent: MastraAgent, createTool, Mastra, InMemoryStore } = await importMastra()
    const storage = new InMemoryStore()
    const { workflows } = storage.stores.workflows.db
    for (const [id, workflow] of stored) workflows.set(id, workflow)
    const about = { id: 'setStatus', description: SET.description, inputSchema: SET.schema }
    const setStatus = gateMastra(client, createTool({ ...about, execute: work.setStatus }), { ...options, suspend: true })
    const agent = new MastraAgent({ id: 'desk', name: 'desk', instructions: 'go', model, tools: { setStatus } })
    new Mastra({ agents: { desk: agent }, storage, logger: false })
    return { agent, save: (runId: string) => ({ saved: serialize([runId, [...workflows]]).toString('base64') }) }
  }
  return {
    async start(run, calls) {
      const { agent, save } = await open(run, aiModel(...calls))
      return save((await agent.generate('go', { maxSteps: 3 })).runId)
    },
    async resume(run, saved, wait) {
      const model = aiModel()
      const [runId, stored] = deserialize(Buffer.from(saved, 'base64'))
      const { agent, save } = await open(run, model, stored)
      for (;;) {
        const { finishReason, suspendPayload } = await agent.resumeGenerate({}, { runId })
        if (finishReason !== 'suspended') return { told: toldToAiModel(model) }
        if (!wait) return save(runId)
        await untilDecided(run, suspendPayload?.suspendPayload)
      }
    },
  }
})()

const untilDecided = ({ client }: ParkingRun, parked: ParkedAtGate | undefined) =>
  client.actions.get(parked?.actionId ?? '', { waitSeconds: 50, until: 'decided' })

/** Every framework that can stop a run, by name. */
export const PARKINGS: Readonly<Record<'ai-sdk' | 'openai-agents' | 'langgraph' | 'langchain' | 'mastra', Parking>> = {
  'ai-sdk': aiSdk,
  'openai-agents': openaiAgents,
  langgraph: graphParking((llm, tools, checkpointer) => createReactAgent({ llm, tools, checkpointer })),
  langchain: graphParking((model, tools, checkpointer) => createAgent({ model, tools, checkpointer })),
  mastra,
}
