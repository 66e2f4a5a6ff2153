import { readFileSync } from 'node:fs'
import type { UIMessage } from 'ai'
import { expect, test } from 'vitest'
import { openChat } from '../testing/ai-chat.ts'

// The client halves of the recordings: what the AI SDK's chat made of the recorded answers. The chat that our tests drive must make the same
// of the same bytes and send the same bytes, so that what they show of it holds for the published client.

interface Recorded {
  events: { onFinish?: { finishReason?: string } }[]
  hist: { step: string; status: string; messages: UIMessage[] }[]
}
interface Row {
  n: number
  kind: string
  body?: string
  data?: string
}

const FIXTURES = new URL('../../../shared/fixtures/clients/ai-sdk-7/', import.meta.url)
const read = (file: string): string => readFileSync(new URL(file, FIXTURES), 'utf8')

const streamOf = (pieces: readonly string[]): ReadableStream =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
      controller.close()
    },
  })

test.each(['approve', 'deny', 'approve-parallel', 'auto-policy-deny', 'dynamic-approve', 'client-side-tool', 'invalid-args'])(
  'the recorded answers to the AI SDK, %s: after each step the chat has the recorded messages, and it sends the recorded requests',
  async (name) => {
    const recorded: Recorded = JSON.parse(read(`${name}.client.json`))
    const rows = read(`${name}.http.jsonl`)
      .trim()
      .split('\n')
      .map((line): Row => JSON.parse(line))
    const asked = rows.filter(({ kind }) => kind === 'request')
    const answers = asked.map(({ n }) => rows.flatMap((row) => (row.n === n && row.kind === 'chunk' ? [row.data ?? ''] : [])))
    const page = openChat({ url: 'http://nowhere', key: 'any', fetch: async () => new Response(streamOf(answers.shift() ?? [])) })
    const { chat } = page
    const openCall = () => page.calls.find(({ state }) => state === 'approval-requested' || state === 'input-available')

    const steps: Record<string, () => unknown> = {
      'after-send': () => chat.sendMessage({ ...(recorded.hist[0]?.messages[0] as UIMessage) }),
      'after-approve': () => chat.addToolApprovalResponse({ id: openCall()?.approval?.id ?? '', approved: true }),
      'after-deny': () => chat.addToolApprovalResponse({ id: openCall()?.approval?.id ?? '', approved: false, reason: 'not today' }),
      'after-tool-output': async () => {
        await chat.addToolOutput({ tool: 'ask_color', toolCallId: openCall()?.toolCallId ?? '', output: 'blue' })
        await chat.sendMessage()
      },
    }
    for (const { step, status, messages } of recorded.hist) {
      await steps[step]?.()
      // An answer that decides the last call sends by itself.
      await expect.poll(() => JSON.parse(JSON.stringify({ status: chat.status, messages: chat.messages }))).toEqual({ status, messages })
    }
    expect(page.requests).toEqual(asked.map(({ body }) => body))
    expect(page.finished).toEqual(recorded.events.flatMap(({ onFinish }) => (onFinish ? [onFinish.finishReason] : [])))
  },
)
