import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readTurn } from '../desk/turn.ts'
import { type Decision, understand } from '../desk/understand.ts'
import { openApp, readInput } from '../http.ts'
import { BrainRequest, toHistory } from './messages.ts'

const BODY_LIMIT_BYTES = 4 * 1024 * 1024

export interface BrainOptions {
  /** Default 4401; 0 takes a free one. */
  port?: number
  /** Default `127.0.0.1`. */
  host?: string
  /** The wait before each word of an answer, so that it streams as a model does. Default 18. */
  wordDelayMs?: number
}

export interface Brain {
  /** Where to post the messages, for example `http://127.0.0.1:4401`. */
  readonly url: string
  /** Ends open answers and connections. Calling it again is harmless. */
  close(): Promise<void>
}

/** The events of the brain, each sent as `data: {…}` of a server-sent event. `finish` is the last one. */
type BrainEvent =
  | { type: 'text-delta'; delta: string }
  | { type: 'tool-input-available' | 'require-action'; toolCallId: string; toolName: string; input: Record<string, unknown> }
  | { type: 'finish'; finishReason: 'stop' | 'tool-calls' }

/**
 * Starts the remote brain: it decides what the order desk does and does nothing itself. `POST /` (or `/chat`) with `{messages,
 * tools?}` in the shape of OpenAI's chat answers a stream of `text-delta`, `tool-input-available`, `require-action` and `finish`.
 * It keeps nothing between requests: everything it knows is in the messages.
 * @throws When the port is taken.
 * @example
 * const brain = await createBrain({ port: 0 })
 * const answer = await fetch(brain.url, {
 *   method: 'POST',
 *   headers: { 'content-type': 'application/json' },
 *   body: JSON.stringify({ messages: [{ role: 'user', content: 'ship ORD-004' }] }),
 * })
 * console.log(await answer.text())
 * await brain.close()
 */
export async function createBrain({ port = 4401, host = '127.0.0.1', wordDelayMs = 18 }: BrainOptions = {}): Promise<Brain> {
  const app = openApp({ service: 'brain', bodyLimitBytes: BODY_LIMIT_BYTES })

  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { messages, tools } = readInput(BrainRequest, request.body, 'body')
    const decision = withOfferedTools(understand(readTurn(toHistory(messages))), tools)
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
    for (const event of toEvents(decision)) {
      if (event.type === 'text-delta' && wordDelayMs > 0) await delay(wordDelayMs)
      if (reply.raw.destroyed) return
      reply.raw.write(`data: ${JSON.stringify(event)}\n\n`)
    }
    reply.raw.end()
  }
  app.post('/', answer)
  app.post('/chat', answer)

  const url = await app.listen({ port, host })
  return { url, close: () => app.close() }
}

/** Says so where a call needs a tool that the caller did not offer. A request without `tools` is treated as having all of them. */
function withOfferedTools(decision: Decision, tools: BrainRequest['tools']): Decision {
  if (!tools || !decision.calls) return decision
  const offered = new Set(tools.map((tool) => tool.function.name))
  const missing = decision.calls.find((call) => !offered.has(call.tool))
  return missing ? { text: `For that I need the tool ${missing.tool}, and I was not given it. I changed nothing.` } : decision
}

function toEvents({ text, calls = [] }: Decision): BrainEvent[] {
  const words = text.match(/\S+\s*|\s+/g) ?? []
  return [
    ...words.map((delta): BrainEvent => ({ type: 'text-delta', delta })),
    ...calls.flatMap(({ tool, arguments: input }): BrainEvent[] => {
      const call = { toolCallId: `call_${randomUUID()}`, toolName: tool, input }
      return [
        { type: 'tool-input-available', ...call },
        { type: 'require-action', ...call },
      ]
    }),
    { type: 'finish', finishReason: calls.length > 0 ? 'tool-calls' : 'stop' },
  ]
}
