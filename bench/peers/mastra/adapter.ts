import { join } from 'node:path'
import { Agent, type AgentConfig } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import type { MastraStorage } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { PostgresStore } from '@mastra/pg'
import { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'
import type { Place, System, Verdicts } from '../adapter.ts'
import { answerTo, callsFor, TOOL } from '../script.ts'

process.env.MASTRA_TELEMETRY_DISABLED = '1'

type Model = InstanceType<typeof MockLanguageModelV4>
type Generated = Awaited<ReturnType<Model['doGenerate']>>
type Prompt = Parameters<Model['doGenerate']>[0]['prompt']

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 50, text: 50, reasoning: 0 },
}

/** Returns the scripted model's answer to a prompt. */
function say(prompt: Prompt): Generated {
  const answers = prompt.flatMap(({ role, content }) => (role === 'tool' ? [...content] : []))
  const results = answers.filter(({ type }) => type === 'tool-result').length
  if (results > 0) {
    return { content: [{ type: 'text', text: answerTo(results) }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] }
  }
  const asked = prompt.find(({ role }) => role === 'user')?.content[0]
  const calls = callsFor(typeof asked === 'object' && asked.type === 'text' ? asked.text : '')
  return {
    content: calls.map((call) => ({
      type: 'tool-call' as const,
      toolCallId: call.orderId,
      toolName: TOOL.name,
      input: JSON.stringify(call),
    })),
    finishReason: { unified: 'tool-calls', raw: 'tool-calls' },
    usage,
    warnings: [],
  }
}

// Its types want what their own wrapper returns from `doGenerate`; at run time every model of the AI SDK is wrapped.
const model = new MockLanguageModelV4({ doGenerate: async ({ prompt }) => say(prompt) }) as unknown as AgentConfig['model']

async function openStorage(place: Place): Promise<MastraStorage> {
  if (place.database === 'postgres') {
    const storage = new PostgresStore({ id: 'peers', connectionString: place.url })
    await storage.init()
    return storage
  }
  const storage = new LibSQLStore({ id: 'peers', url: `file:${join(place.folder, 'mastra.db')}` })
  await storage.init()
  // The store sets synchronous=NORMAL, which syncs only at a checkpoint, and has no option for it.
  const { client } = storage as unknown as { client: { execute(sql: string): Promise<unknown> } }
  await client.execute('pragma synchronous = full')
  return storage
}

/** An agent with a tool that requires approval, and `generate`: the run that waits is a snapshot in the storage. */
export async function open(place: Place): Promise<System> {
  const setStatus = createTool({
    id: TOOL.name,
    description: TOOL.description,
    inputSchema: z.object({ orderId: z.string(), status: z.string(), note: z.string() }),
    requireApproval: true,
    execute: (call) => place.effect(call),
  })
  const desk = new Agent({ id: 'desk', name: 'desk', instructions: 'Set statuses.', model, tools: { setStatus } })
  const storage = await openStorage(place)
  const mastra = new Mastra({ agents: { desk }, storage, logger: false })
  const agent = mastra.getAgent('desk')
  const answers = new Map<string, string>()
  /** One call after the other: each resumption asks for the next one that waits. */
  const decide = async (sessionId: string, verdicts: Verdicts): Promise<void> => {
    const [runId = '', first = ''] = sessionId.split('/')
    let toolCallId = first
    for (;;) {
      const isApproved = verdicts[toolCallId] === 'approve'
      const output = await (isApproved
        ? agent.approveToolCallGenerate({ runId, toolCallId })
        : agent.declineToolCallGenerate({ runId, toolCallId }))
      if (output.finishReason !== 'suspended') return void answers.set(sessionId, output.text)
      toolCallId = output.suspendPayload.toolCallId
    }
  }
  return {
    async start(message) {
      const output = await agent.generate(message)
      if (output.finishReason !== 'suspended') throw new Error('the run did not ask')
      return `${output.runId}/${output.suspendPayload.toolCallId}`
    },
    decide,
    finish: async (sessionId) => answers.get(sessionId) ?? '',
    async recover(sessionId, verdicts) {
      await decide(sessionId, verdicts)
      return 'the snapshot still asked, and the decision was sent again'
    },
    close: () => mastra.shutdown(),
  }
}
