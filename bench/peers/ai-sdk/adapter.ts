import { randomUUID } from 'node:crypto'
import { type ModelMessage, ToolLoopAgent, type ToolModelMessage, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'
import type { Place, System, Verdicts } from '../adapter.ts'
import { openHandStore } from '../hand-store.ts'
import { answerTo, callsFor, TOOL } from '../script.ts'

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 50, text: 50, reasoning: 0 },
}

/** The scripted model, on the mock that the library ships. */
const createModel = () =>
  new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const results = prompt
        .flatMap(({ role, content }) => (role === 'tool' ? [...content] : []))
        .filter(({ type }) => type === 'tool-result').length
      if (results > 0) {
        return { content: [{ type: 'text', text: answerTo(results) }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] }
      }
      const asked = prompt.find(({ role }) => role === 'user')?.content[0]
      const text = typeof asked === 'object' && asked.type === 'text' ? asked.text : ''
      return {
        content: callsFor(text).map((call) => ({
          type: 'tool-call' as const,
          toolCallId: call.orderId,
          toolName: TOOL.name,
          input: JSON.stringify(call),
        })),
        finishReason: { unified: 'tool-calls', raw: 'tool-calls' },
        usage,
        warnings: [],
      }
    },
  })

/** The stored state: the messages, and the requests that wait. */
interface Stored {
  messages: ModelMessage[]
  requests: { approvalId: string; orderId: string }[]
}

/** The library stores nothing: the messages are saved at the pause and at the end. */
export async function open(place: Place): Promise<System> {
  const store = await openHandStore(place)
  const setStatus = tool({
    description: TOOL.description,
    inputSchema: z.object({ orderId: z.string(), status: z.string(), note: z.string() }),
    execute: (call) => place.effect(call),
  })
  const agent = new ToolLoopAgent({ model: createModel(), tools: { setStatus }, toolApproval: { setStatus: 'user-approval' } })
  const answers = new Map<string, string>()
  const decide = async (sessionId: string, verdicts: Verdicts): Promise<void> => {
    const { messages, requests } = JSON.parse(await store.load(sessionId)) as Stored
    const content: ToolModelMessage['content'] = requests.map(({ approvalId, orderId }) => ({
      type: 'tool-approval-response',
      approvalId,
      approved: verdicts[orderId] === 'approve',
    }))
    messages.push({ role: 'tool', content })
    const result = await agent.generate({ messages })
    await store.save(sessionId, JSON.stringify({ messages: [...messages, ...result.responseMessages], requests: [] } satisfies Stored))
    answers.set(sessionId, result.text)
  }
  return {
    async start(message) {
      const id = randomUUID()
      const messages: ModelMessage[] = [{ role: 'user', content: message }]
      const result = await agent.generate({ messages })
      const requests = result.content.flatMap((part) =>
        part.type === 'tool-approval-request' ? [{ approvalId: part.approvalId, orderId: part.toolCall.toolCallId }] : [],
      )
      if (requests.length === 0) throw new Error('the run did not ask')
      await store.save(id, JSON.stringify({ messages: [...messages, ...result.responseMessages], requests } satisfies Stored))
      return id
    },
    decide,
    finish: async (sessionId) => answers.get(sessionId) ?? '',
    async recover(sessionId, verdicts) {
      await decide(sessionId, verdicts)
      return 'the stored messages still asked, and the decision was sent again'
    },
    close: () => store.close(),
  }
}
