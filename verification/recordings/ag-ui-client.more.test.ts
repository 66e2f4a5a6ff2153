import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ScriptStep } from '../../packages/server/src/models/index.ts'
import { defineTool } from '../../packages/toolkit/src/define.ts'
import { type AgUiMessage, openHttpAgent } from '../testing/ag-ui-agent.ts'
import { startTestServer } from '../testing/test-server.ts'

// The recordings hold the messages and the state of the published AG-UI client after a conversation with another server. After the same
// conversation with this server the client must hold the same. Only ids and the text about a declined call may differ.

interface Recorded {
  events: (string | { finished?: string; new?: AgUiMessage[] })[]
  messages: AgUiMessage[]
  state: object
  pendingInterrupts: unknown[]
}

const FIXTURES = new URL('../../../shared/fixtures/clients/ag-ui-1.0/', import.meta.url)
const recordedOf = (name: string): Recorded => JSON.parse(readFileSync(new URL(`${name}.client.json`, FIXTURES), 'utf8'))

/** The answers to the interrupts, in the recorded requests. */
function answersOf(name: string): { status: 'resolved' | 'cancelled'; payload?: { approved: boolean } }[] {
  const lines = readFileSync(new URL(`${name}.http.jsonl`, FIXTURES), 'utf8')
    .trim()
    .split('\n')
  return lines.flatMap((line) => JSON.parse(JSON.parse(line).body ?? '{}').resume ?? [])
}

// Two equal calls of one step would be asked once here, so the second is another one.
const ADDRESSES = ['a@b.co', 'c@d.co']

async function openOurs(script: ScriptStep[]) {
  const ran: unknown[] = []
  const sendEmail = defineTool({
    name: 'send_email',
    description: 'Sends',
    effect: 'write',
    input: z.object({ to: z.string() }),
    execute: async (args) => {
      ran.push(args)
      return { sent: true }
    },
  })
  const server = await startTestServer({
    config: {
      agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
      tools: { own: { prefix: false, tools: [sendEmail] } },
      policy: { rules: [] },
    },
    scripts: { desk: script },
  })
  const { key } = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['approver', 'member'] })
  return { ran, url: server.url, key, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/**
 * Messages without the ids of a server: a call is its place among the calls, and the answer to it says whether it ran. The answers to the
 * calls of one step come in any order: ours tells first what was declined, because that is known at once.
 */
function shapeOf(messages: readonly AgUiMessage[]): object {
  const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id))
  const answered = messages.flatMap(({ toolCallId, content }) =>
    toolCallId === undefined ? [] : [{ of: calls.indexOf(toolCallId), ran: content === '{"sent":true}' }],
  )
  return {
    said: messages.map(({ role, content, toolCalls = [] }) => ({
      role,
      content: role === 'tool' ? 'an answer' : content || undefined,
      calls: toolCalls.map(({ function: { name, arguments: text } }) => [name, Object.keys(JSON.parse(text))]),
    })),
    answered: answered.toSorted((a, b) => a.of - b.of),
  }
}

test.each(['text', 'approve', 'deny', 'cancel', 'two'])(
  'after the conversation %s with this server, the AG-UI client holds the recorded messages and state, and no open interrupt',
  async (name) => {
    const recorded = recordedOf(name)
    const answers = answersOf(name)
    const calls = answers.map((_, at) => ({ tool: 'send_email', arguments: { to: ADDRESSES[at] ?? '' } }))
    const last = recorded.messages.at(-1)?.content ?? ''
    await using ours = await openOurs([...(calls.length > 0 ? [{ calls }] : []), { text: last }])
    const { agent, events } = await openHttpAgent(ours.url, ours.key, 'thread-1', recorded.messages.slice(0, 1))

    await agent.runAgent()
    expect(agent.pendingInterrupts).toHaveLength(answers.length)
    if (answers.length > 0) {
      await agent.runAgent({
        resume: agent.pendingInterrupts.map(({ id }, at) => ({ status: 'resolved', ...answers[at], interruptId: id })),
      })
    }

    const finished = recorded.events.flatMap((event) => (typeof event === 'object' && event.finished ? [event.finished] : []))
    expect(events.flatMap(({ outcome }) => (outcome ? [outcome.type] : []))).toEqual(finished)
    // The recorded server said nothing about a call whose interrupt was dismissed. Ours says that it was declined.
    const isExtra = ({ role }: AgUiMessage) => name === 'cancel' && role === 'tool'
    expect(shapeOf(agent.messages.filter((message) => !isExtra(message)))).toEqual(shapeOf(recorded.messages))
    expect(agent.messages.filter(isExtra)).toHaveLength(name === 'cancel' ? 1 : 0)
    expect({ state: agent.state, pendingInterrupts: agent.pendingInterrupts }).toEqual({ state: recorded.state, pendingInterrupts: [] })
    expect(ours.ran).toHaveLength(answers.filter(({ payload }) => payload?.approved).length)
  },
)
