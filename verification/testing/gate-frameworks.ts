import { pathToFileURL } from 'node:url'
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { tool as langchainTool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { Agent, tool as agentsTool, Runner } from '@openai/agents-core'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing'
import { tool as aiTool, generateText, isStepCount } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { createAgent } from 'langchain'
import { z } from 'zod'
import { gate as gateAiSdk } from '../../packages/client/src/gate/ai-sdk.ts'
import { gate as gateLangchain } from '../../packages/client/src/gate/langchain.ts'
import { gate as gateMastra } from '../../packages/client/src/gate/mastra.ts'
import { gate as gateAgents } from '../../packages/client/src/gate/openai-agents.ts'
import type { ParkedAtGate } from '../../packages/client/src/gate/parked-call.ts'
import { type Client, type GateOptions, gate as gateFunctions } from '../../packages/client/src/index.ts'
import { counterpart } from './counterparts.ts'
import type { openLedger } from './gate-server.ts'

type Work = Pick<ReturnType<typeof openLedger>, 'readOrder' | 'setStatus'>

/** A call that the model makes. */
export interface ScriptedCall {
  id: string
  name: 'readOrder' | 'setStatus'
  args: Record<string, unknown>
}

export type RunOptions = GateOptions & {
  signal?: AbortSignal
  /** Another declaration of the tool `setStatus` in the agent's program. */
  set?: Pick<typeof SET, 'schema'>
}

/** Runs an agent whose model makes these calls in one step, then says something. Resolves with what the model was told, by tool call id. */
export type RunAgent = (client: Client, work: Work, calls: readonly ScriptedCall[], options?: RunOptions) => Promise<Record<string, string>>

export const READ = { description: 'Reads an order.', schema: z.object({ order: z.string() }) }
export const SET = { description: 'Sets the status of an order.', schema: z.object({ order: z.string(), status: z.string() }) }

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** A model of the AI SDK that makes these calls, if there are any, then says something. */
export const aiModel = (...calls: ScriptedCall[]): MockLanguageModelV4 => {
  const more = { usage: USAGE, warnings: [] }
  const content = calls.map(({ id, name, args }) => ({
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    input: JSON.stringify(args),
  }))
  const step = { content, finishReason: { unified: 'tool-calls' as const, raw: undefined }, ...more }
  const end = { content: [{ type: 'text' as const, text: 'I see.' }], finishReason: { unified: 'stop' as const, raw: undefined }, ...more }
  return new MockLanguageModelV4({ doGenerate: calls.length > 0 ? [step, end] : [end] })
}

/** The same for the OpenAI Agents SDK. */
export const agentsModel = (...calls: ScriptedCall[]): ScriptedModel =>
  new ScriptedModel([
    ...(calls.length > 0 ? [calls.map(({ id, name, args }) => functionCall(name, args, { callId: id }))] : []),
    [assistantMessage('I see.')],
  ])

/** The same for LangChain. */
export const langchainModel = (...calls: ScriptedCall[]) =>
  (calls.length > 0 ? fakeModel().respondWithTools(calls) : fakeModel()).respond(new AIMessage('I see.'))

const langchainTools = (client: Client, work: Work, options: GateOptions, set: Pick<typeof SET, 'schema'>) =>
  [langchainTool(work.readOrder, { name: 'readOrder', ...READ }), langchainTool(work.setStatus, { name: 'setStatus', ...SET, ...set })].map(
    (tool) => gateLangchain(client, tool, options),
  )

export const toldToLangchain = (messages: readonly BaseMessage[]): Record<string, string> =>
  Object.fromEntries(
    messages.flatMap((message) => (ToolMessage.isInstance(message) ? [[message.tool_call_id, String(message.content)]] : [])),
  )

/** A model that makes calls, then says something, for each framework that has models. */
export const MODELS = {
  'ai-sdk': aiModel,
  'openai-agents': agentsModel,
  langchain: langchainModel,
  langgraph: langchainModel,
  mastra: aiModel,
} as const

/** The tool results that the model of the AI SDK had before its last step, by tool call id. */
export const toldToAiModel = ({ doGenerateCalls }: MockLanguageModelV4): Record<string, string> => {
  const results = doGenerateCalls.at(-1)?.prompt.flatMap(({ role, content }) => (role === 'tool' ? content : [])) ?? []
  return Object.fromEntries(
    results.flatMap((part) => {
      if (part.type !== 'tool-result') return []
      const { toolCallId, output } = part
      const value = 'value' in output ? output.value : output
      return [[toolCallId, typeof value === 'string' ? value : JSON.stringify(value)]]
    }),
  )
}

/** The same for a model of the OpenAI Agents SDK. */
export const toldToAgents = ({ calls }: ScriptedModel): Record<string, string> => {
  const input = calls.at(-1)?.request.input
  return Object.fromEntries(
    (Array.isArray(input) ? input : []).flatMap((item) => {
      if (item.type !== 'function_call_result') return []
      const { callId, output } = item
      const text = typeof output === 'string' ? output : 'text' in output ? String(output.text) : JSON.stringify(output)
      return [[callId, text]]
    }),
  )
}

interface MastraStream {
  textStream: AsyncIterable<string>
}

/** The output of an agent of Mastra, or the call at which a tool suspended it. */
interface MastraOutput {
  finishReason: string
  runId: string
  suspendPayload?: { suspendPayload: ParkedAtGate }
}

/** The members of Mastra that the tests use. It is a program of others for tests only, so its types are not here. */
export interface Mastra {
  Agent: new (
    options: object,
  ) => {
    generate(prompt: string, options: object): Promise<MastraOutput>
    resumeGenerate(resumeData: object, options: { runId: string }): Promise<MastraOutput>
    stream(prompt: string): Promise<MastraStream & { runId: string; fullStream: AsyncIterable<{ type: string }> }>
    approveToolCall(call: { runId: string }): Promise<MastraStream>
  }
  createTool<Input extends z.ZodType>(options: {
    id: string
    description: string
    inputSchema: Input
    outputSchema?: z.ZodType
    requireApproval?: boolean
    execute(input: z.infer<Input>): unknown
  }): { id: string }
  Mastra: new (options: { agents: object; storage: object; logger: false }) => object
  InMemoryStore: new () => { stores: { workflows: { db: { workflows: Map<string, unknown> } } } }
}
export const importMastra = async (): Promise<Mastra> => {
  process.env.MASTRA_TELEMETRY_DISABLED = '1'
  const parts = await Promise.all(
    ['agent', 'tools', 'mastra', 'storage'].map((name) => import(pathToFileURL(counterpart(`@mastra/core/dist/${name}/index.js`)).href)),
  )
  return Object.assign({}, ...parts)
}

/** Every way to put tools behind the gate, by name. */
export const FRAMEWORKS: Readonly<Record<'functions' | 'ai-sdk' | 'openai-agents' | 'langchain' | 'langgraph' | 'mastra', RunAgent>> = {
  async functions(client, work, calls, { signal, set: _, ...options } = {}) {
    const tools = gateFunctions(client, work, options)
    const heard = await Promise.all(
      calls.map(async ({ id, name, args }) => {
        const call = { toolCallId: id, ...(signal && { signal }) }
        return [id, (await tools[name](args as { order: string; status: string }, call)).text] as const
      }),
    )
    return Object.fromEntries(heard)
  },

  async 'ai-sdk'(client, work, calls, { signal, set = SET, ...options } = {}) {
    const model = aiModel(...calls)
    const tools = {
      readOrder: aiTool({ description: READ.description, inputSchema: READ.schema, execute: work.readOrder }),
      setStatus: aiTool({ description: SET.description, inputSchema: set.schema, execute: work.setStatus }),
    }
    const gated = gateAiSdk(client, tools, options)
    await generateText({ model, tools: gated, prompt: 'go', stopWhen: isStepCount(3), ...(signal && { abortSignal: signal }) })
    return toldToAiModel(model)
  },

  async 'openai-agents'(client, work, calls, { signal, set = SET, ...options } = {}) {
    const model = agentsModel(...calls)
    const gatedTool = gateAgents(client, agentsTool, options)
    const tools = [
      gatedTool({ name: 'readOrder', description: READ.description, parameters: READ.schema, execute: work.readOrder }),
      gatedTool({ name: 'setStatus', description: SET.description, parameters: set.schema, execute: work.setStatus }),
    ]
    const agent = new Agent({ name: 'desk', model, tools })
    await new Runner({ tracingDisabled: true }).run(agent, 'go', { ...(signal && { signal }) })
    return toldToAgents(model)
  },

  async langchain(client, work, calls, { signal, set = SET, ...options } = {}) {
    const agent = createAgent({ model: langchainModel(...calls), tools: langchainTools(client, work, options, set) })
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'go' }] }, { ...(signal && { signal }) })
    return toldToLangchain(messages)
  },

  async langgraph(client, work, calls, { signal, set = SET, ...options } = {}) {
    const agent = createReactAgent({ llm: langchainModel(...calls), tools: langchainTools(client, work, options, set) })
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'go' }] }, { ...(signal && { signal }) })
    return toldToLangchain(messages)
  },

  async mastra(client, work, calls, { signal, set = SET, ...options } = {}) {
    const { Agent: MastraAgent, createTool } = await importMastra()
    const model = aiModel(...calls)
    const tool = (id: 'readOrder' | 'setStatus', { description, schema }: { description: string; schema: z.ZodType }) =>
      gateMastra(client, createTool({ id, description, inputSchema: schema, execute: work[id] }), options)
    const tools = { readOrder: tool('readOrder', READ), setStatus: tool('setStatus', { ...SET, ...set }) }
    const agent = new MastraAgent({ id: 'desk', name: 'desk', instructions: 'go', model, tools })
    await agent.generate('go', { maxSteps: 3, ...(signal && { abortSignal: signal }) })
    signal?.throwIfAborted()
    return toldToAiModel(model)
  },
}
