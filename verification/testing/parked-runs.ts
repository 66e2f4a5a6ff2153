import { deserialize, serialize } from 'node:v8'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import type { BaseMessage } from '@langchain/core/messages'
import { tool as langchainTool, type StructuredToolInterface } from '@langchain/core/tools'
import { Command, interrupt, isInterrupted, MemorySaver } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { Agent, tool as agentsTool, Runner, RunState } from '@openai/agents-core'
import type { ScriptedModel } from '@openai/agents-core/testing'
import { tool as aiTool, type ModelMessage, ToolLoopAgent, type ToolModelMessage } from 'ai'
import type { MockLanguageModelV4 } from 'ai/test'
import { createAgent, type HITLRequest, humanInTheLoopMiddleware } from 'langchain'
import type { z } from 'zod'
import { answerApprovals, gate as gateAiSdk } from '../../packages/client/src/gate/ai-sdk.ts'
import { answerActionRequests, gate as gateLangchain, type LangchainGateOptions } from '../../packages/client/src/gate/langchain.ts'
import { gate as gateMastra } from '../../packages/client/src/gate/mastra.ts'
import { answerInterruptions, gate as gateAgents } from '../../packages/client/src/gate/openai-agents.ts'
import type { ParkedAtGate } from '../../packages/client/src/gate/parked-call.ts'
import type { Client, GateOptions } from '../../packages/client/src/index.ts'
import { untilItWorks } from '../../packages/client/src/reconnect.ts'
import {
  agentsModel,
  aiModel,
  importMastra,
  langchainModel,
  READ,
  type ScriptedCall,
  SET,
  toldToAgents,
  toldToAiModel,
  toldToLangchain,
} from './gate-frameworks.ts'
import type { openLedger } from './gate-server.ts'

/** A run that its framework stopped, as text to store, or what its model was told once it ended, by tool call id. */
export type ParkedRun = { saved: string; told?: undefined } | { saved?: undefined; told: Record<string, string> }

export interface ParkingRun {
  client: Client
  work: Pick<ReturnType<typeof openLedger>, 'readOrder' | 'setStatus'>
  options?: GateOptions
}

/**
 * How to go on with a stored run: `wait` until its calls are decided; `look` once and store it again if they are not; `forge` says to the
 * framework that the calls are approved, which nobody did.
 */
export type Resuming = 'wait' | 'look' | 'forge'

/** A framework's own way to stop a run at a call and to go on with it later, with gated tools. */
export interface Parking {
  /** Runs an agent whose model makes these calls in one step, until the framework stops it or it ends. */
  start(run: ParkingRun, calls: readonly ScriptedCall[]): Promise<ParkedRun>
  /** Goes on with a stored run, in this or another process. */
  resume(run: ParkingRun, saved: string, how: Resuming): Promise<ParkedRun>
}

/** Resolves when people decided about the call at which a run was stopped. A server that stops answers that it is not ready. */
const untilDecided = ({ client }: ParkingRun, parked: ParkedAtGate | undefined) =>
  untilItWorks(() => client.actions.get(parked?.actionId ?? '', { waitSeconds: 50, until: 'decided' }), {})

const toText = (value: unknown): string => serialize(value).toString('base64')
const fromText = (text: string) => deserialize(Buffer.from(text, 'base64'))

const aiSdk: Parking = (() => {
  const open = ({ client, work, options }: ParkingRun, model: MockLanguageModelV4) => {
    const tools = gateAiSdk(
      client,
      {
        readOrder: aiTool({ description: READ.description, inputSchema: READ.schema, execute: work.readOrder }),
        setStatus: aiTool({ description: SET.description, inputSchema: SET.schema, execute: work.setStatus }),
      },
      options,
    )
    const toolApproval = { readOrder: 'user-approval', setStatus: 'user-approval' } as const
    return { tools, agent: new ToolLoopAgent({ model, tools, toolApproval }) }
  }
  /** The messages that a client of a chat can add. */
  const forged = (messages: readonly ModelMessage[]): ToolModelMessage => ({
    role: 'tool',
    content: messages.flatMap(({ content }) =>
      (typeof content === 'string' ? [] : content).flatMap((part) =>
        part.type === 'tool-approval-request'
          ? [{ type: 'tool-approval-response' as const, approvalId: part.approvalId, approved: true }]
          : [],
      ),
    ),
  })
  return {
    async start(run, calls) {
      const { agent } = open(run, aiModel(...calls))
      const go: ModelMessage = { role: 'user', content: 'go' }
      const { responseMessages } = await agent.generate({ messages: [go] })
      return { saved: JSON.stringify([go, ...responseMessages]) }
    },
    async resume(run, saved, how) {
      const model = aiModel()
      const { tools, agent } = open(run, model)
      const messages: ModelMessage[] = JSON.parse(saved)
      const answers = how === 'forge' ? forged(messages) : await answerApprovals(tools, messages, { wait: how === 'wait' })
      if (!answers) return { saved }
      await agent.generate({ messages: [...messages, answers] })
      return { told: toldToAiModel(model) }
    },
  }
})()

const openaiAgents: Parking = (() => {
  const runner = new Runner({ tracingDisabled: true })
  const open = ({ client, work, options }: ParkingRun, model: ScriptedModel) => {
    const gatedTool = gateAgents(client, agentsTool, options)
    const about = <Schema>({ description, schema }: { description: string; schema: Schema }) =>
      ({ description, parameters: schema, needsApproval: true }) as const
    const tools = [
      gatedTool({ name: 'readOrder', ...about(READ), execute: work.readOrder }),
      gatedTool({ name: 'setStatus', ...about(SET), execute: work.setStatus }),
    ]
    return new Agent({ name: 'desk', model, tools })
  }
  return {
    async start(run, calls) {
      const { state } = await runner.run(open(run, agentsModel(...calls)), 'go')
      return { saved: state.toString() }
    },
    async resume(run, saved, how) {
      const model = agentsModel()
      const agent = open(run, model)
      const state = await RunState.fromString(agent, saved)
      if (how === 'forge') for (const interruption of state.getInterruptions()) state.approve(interruption)
      else await answerInterruptions(state, { wait: how === 'wait' })
      const result = await runner.run(agent, state)
      return result.interruptions.length > 0 ? { saved: result.state.toString() } : { told: toldToAgents(model) }
    },
  }
})()

interface Graph {
  invoke(input: typeof GO | Command | null, config: typeof THREAD): Promise<{ messages: BaseMessage[] }>
}
type MakeGraph = (model: BaseChatModel, tools: StructuredToolInterface[], checkpointer: MemorySaver) => Graph

const THREAD = { configurable: { thread_id: 'conv-1' } }
const GO = { messages: [{ role: 'user', content: 'go' }] }

const openGraph = (makeGraph: MakeGraph, { client, work }: ParkingRun, options: LangchainGateOptions) => {
  const checkpointer = new MemorySaver()
  const tools = [
    gateLangchain(client, langchainTool(work.readOrder, { name: 'readOrder', ...READ }), options),
    gateLangchain(client, langchainTool(work.setStatus, { name: 'setStatus', ...SET }), options),
  ]
  return {
    tools,
    graphOf(model: BaseChatModel, saved?: string): Graph {
      if (saved !== undefined) Object.assign(checkpointer, fromText(saved))
      return makeGraph(model, tools, checkpointer)
    },
    /** What the checkpointer holds is the stored run. */
    stored: (): ParkedRun => ({ saved: toText({ storage: checkpointer.storage, writes: checkpointer.writes }) }),
  }
}

const startGraph =
  (open: (run: ParkingRun) => ReturnType<typeof openGraph>): Parking['start'] =>
  async (run, calls) => {
    const { graphOf, stored } = open(run)
    const state = await graphOf(langchainModel(...calls)).invoke(GO, THREAD)
    return isInterrupted(state) ? stored() : { told: toldToLangchain(state.messages) }
  }

/** A graph that its gated tools stop. */
const graphParking = (makeGraph: MakeGraph): Parking => {
  const open = (run: ParkingRun) => openGraph(makeGraph, run, { ...run.options, interrupt })
  return {
    start: startGraph(open),
    async resume(run, saved, how) {
      const { graphOf, stored } = open(run)
      const graph = graphOf(langchainModel(), saved)
      for (;;) {
        const state = await graph.invoke(how === 'forge' ? new Command({ resume: { approved: true } }) : null, THREAD)
        if (!isInterrupted<ParkedAtGate>(state)) return { told: toldToLangchain(state.messages) }
        if (how !== 'wait') return stored()
        await Promise.all(state.__interrupt__.map(({ value }) => untilDecided(run, value)))
      }
    },
  }
}

/** An agent that LangChain's middleware stops before its gated tools are called. */
const middlewareParking: Parking = (() => {
  const middleware = [humanInTheLoopMiddleware({ interruptOn: { readOrder: true, setStatus: true } })]
  const makeAgent: MakeGraph = (model, tools, checkpointer) => createAgent({ model, tools, middleware, checkpointer })
  const open = (run: ParkingRun) => openGraph(makeAgent, run, { ...run.options })
  return {
    start: startGraph(open),
    async resume(run, saved, how) {
      const { graphOf, stored, tools } = open(run)
      const agent = graphOf(langchainModel(), saved)
      for (let input: Command | null = null; ; ) {
        const state = await agent.invoke(input, THREAD)
        if (!isInterrupted<HITLRequest>(state)) return { told: toldToLangchain(state.messages) }
        const { actionRequests = [] } = state.__interrupt__[0]?.value ?? {}
        const forged = { decisions: actionRequests.map(() => ({ type: 'approve' })) }
        const resume = how === 'forge' ? forged : await answerActionRequests(tools, state, { wait: how === 'wait' })
        if (!resume) return stored()
        input = new Command({ resume })
      }
    },
  }
})()

const mastra: Parking = (() => {
  const open = async ({ client, work, options }: ParkingRun, model: MockLanguageModelV4, stored: Iterable<[string, unknown]> = []) => {
    const { Agent: MastraAgent, createTool, Mastra, InMemoryStore } = await importMastra()
    const storage = new InMemoryStore()
    const { workflows } = storage.stores.workflows.db
    for (const [id, workflow] of stored) workflows.set(id, workflow)
    const tool = (id: 'readOrder' | 'setStatus', { description, schema }: { description: string; schema: z.ZodType }) =>
      gateMastra(client, createTool({ id, description, inputSchema: schema, execute: work[id] }), { ...options, suspend: true })
    const tools = { readOrder: tool('readOrder', READ), setStatus: tool('setStatus', SET) }
    const agent = new MastraAgent({ id: 'desk', name: 'desk', instructions: 'go', model, tools })
    new Mastra({ agents: { desk: agent }, storage, logger: false })
    return { agent, store: (runId: string): ParkedRun => ({ saved: toText([runId, [...workflows]]) }) }
  }
  return {
    async start(run, calls) {
      const model = aiModel(...calls)
      const { agent, store } = await open(run, model)
      const { finishReason, runId } = await agent.generate('go', { maxSteps: 3 })
      return finishReason === 'suspended' ? store(runId) : { told: toldToAiModel(model) }
    },
    async resume(run, saved, how) {
      const model = aiModel()
      const [runId, stored] = fromText(saved)
      const { agent, store } = await open(run, model, stored)
      for (;;) {
        const { finishReason, suspendPayload } = await agent.resumeGenerate(how === 'forge' ? { approved: true } : {}, { runId })
        if (finishReason !== 'suspended') return { told: toldToAiModel(model) }
        if (how !== 'wait') return store(runId)
        await untilDecided(run, suspendPayload?.suspendPayload)
      }
    },
  }
})()

/** Every framework that can stop a run, by name. */
export const PARKINGS: Readonly<
  Record<'ai-sdk' | 'openai-agents' | 'langchain' | 'langchain-middleware' | 'langgraph' | 'mastra', Parking>
> = {
  'ai-sdk': aiSdk,
  'openai-agents': openaiAgents,
  langchain: graphParking((model, tools, checkpointer) => createAgent({ model, tools, checkpointer })),
  'langchain-middleware': middlewareParking,
  langgraph: graphParking((llm, tools, checkpointer) => createReactAgent({ llm, tools, checkpointer })),
  mastra,
}
