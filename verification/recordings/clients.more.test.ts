import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { serve } from '../../packages/client/src/testing/log-server.ts'
import type { ScriptStep } from '../../packages/server/src/models/index.ts'
import { defineTool } from '../../packages/toolkit/src/define.ts'
import { openChat } from '../testing/ai-chat.ts'
import { startTestServer } from '../testing/test-server.ts'

// What unmodified clients sent to other servers, byte for byte, is sent to ours. Only ids that a server gives are replaced by those that
// ours gave: in a later request, the client repeats the ids of the answer before.

interface Chunk {
  type: string
  [member: string]: unknown
}

interface Exchange {
  /** The bytes that the client sent. */
  body: string
  answer: Chunk[]
}

const FIXTURES = new URL('../../../shared/fixtures/clients/', import.meta.url)

function exchangesOf(file: string): Exchange[] {
  const lines = readFileSync(new URL(file, FIXTURES), 'utf8').trim().split('\n')
  const rows = lines.map((line): { n: number; kind: string; body?: string; data?: string } => JSON.parse(line))
  return rows
    .filter(({ kind }) => kind === 'request')
    .map(({ n, body = '' }) => ({
      body,
      answer: chunksIn(rows.flatMap((row) => (row.n === n && row.kind === 'chunk' ? [row.data ?? ''] : [])).join('')),
    }))
}

const chunksIn = (text: string): Chunk[] => [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '']): Chunk => JSON.parse(json))

const calls = (answer: readonly Chunk[]) =>
  answer.flatMap(({ type, toolName, input }) =>
    type === 'tool-input-available' ? [{ tool: String(toolName), arguments: input as object }] : [],
  )
const textOf = (answer: readonly Chunk[]) =>
  answer.flatMap(({ type, delta }) => (type.startsWith('text-delta') || type === 'TEXT_MESSAGE_CONTENT' ? [delta] : [])).join('')

async function openOurs(script: ScriptStep[]) {
  const ran: { tool: string; args: unknown }[] = []
  const tool = (name: string, shape: z.ZodRawShape, effect: 'read' | 'write' = 'write') =>
    defineTool({
      name,
      description: name,
      effect,
      input: z.object(shape),
      execute: async (args) => {
        ran.push({ tool: name, args })
        return { sent: true }
      },
    })
  const text = z.string()
  const server = await startTestServer({
    config: {
      agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
      tools: {
        own: {
          prefix: false,
          tools: [
            tool('send_email', { to: text, subject: text.optional() }),
            tool('mcp_write', { path: text }),
            tool('drop_table', { name: text }),
            tool('get_weather', { city: text }, 'read'),
          ],
        },
      },
      policy: {
        rules: [
          { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
          { name: 'no drops', match: { tool: 'drop_table' }, verdict: 'deny', reason: 'no drops' },
        ],
      },
    },
    scripts: { desk: script },
  })
  const { key } = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['approver', 'member'] })
  return {
    ran,
    async send(path: string, body: string): Promise<Chunk[]> {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: '*/*' }
      const answer = await fetch(server.url + path, { method: 'POST', headers, body })
      const text = await answer.text()
      expect(answer.status, text).toBe(200)
      return chunksIn(text)
    },
    async states(): Promise<string[]> {
      const answer = await fetch(`${server.url}/api/actions`, { headers: { authorization: `Bearer ${key}` } })
      const { items } = (await answer.json()) as { items: { state: string }[] }
      return items.map(({ state }) => state)
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** The ids of an answer, each kind in the order in which they came: those of the recorded server and of ours stand for the same things. */
function idsIn(answer: readonly Chunk[], kinds: readonly ((chunk: Chunk) => unknown)[]): string[] {
  const ids = kinds.flatMap((idOf) => answer.flatMap(idOf))
  return [...new Set(ids.filter((id): id is string => typeof id === 'string'))]
}

function withOurIds(body: string, recorded: readonly string[], ours: readonly string[]): string {
  expect(ours).toHaveLength(recorded.length)
  return recorded.reduce((text, id, at) => text.replaceAll(JSON.stringify(id), JSON.stringify(ours[at])), body)
}

// How an input or a text is cut is up to the server, and so are its ids; between the calls of one step the order is free.
const LEFT_OUT = new Set(['tool-input-delta', 'text-start', 'text-end'])
function shapeOf(answer: readonly Chunk[], ids: readonly string[]): string[] {
  const shape = answer.flatMap(({ type, toolCallId, delta, finishReason }) => {
    if (LEFT_OUT.has(type)) return []
    if (type === 'text-delta') return [`text ${delta}`]
    const about = toolCallId === undefined ? '' : ` of call ${ids.indexOf(String(toolCallId))}`
    return [`${type}${about}${finishReason === undefined ? '' : ` ${finishReason}`}`]
  })
  const joined: string[] = []
  for (const one of shape) {
    if (one.startsWith('text ') && joined.at(-1)?.startsWith('text ')) joined.push(`${joined.pop()}${one.slice('text '.length)}`)
    else joined.push(one)
  }
  return joined.map((one) => one.trimEnd())
}

const inAnyOrder = (shape: readonly string[]) => {
  const sorted: string[] = []
  let run: string[] = []
  for (const one of [...shape, '']) {
    if (one.includes(' of call ')) run.push(one)
    else {
      sorted.push(...run.sort(), one)
      run = []
    }
  }
  return sorted
}

test.each([
  ['approve', [{ tool: 'send_email', args: { to: 'a@b.co', subject: 'Hi' } }]],
  ['deny', []],
  ['dynamic-approve', [{ tool: 'mcp_write', args: { path: '/x' } }]],
  ['auto-policy-deny', []],
  [
    'approve-parallel',
    [
      { tool: 'get_weather', args: { city: 'Paris' } },
      { tool: 'send_email', args: { to: 'a@b.co', subject: '1' } },
    ],
  ],
])(
  'the recorded requests of the AI SDK, %s: the answers have the recorded form, and each call ran as it was decided, once',
  async (name, effects) => {
    const [first, second] = exchangesOf(`ai-sdk-7/${name}.http.jsonl`) as [Exchange, Exchange | undefined]
    const says = textOf(first.answer)
    const text = second === undefined ? {} : says === '' ? {} : { text: says }
    await using ours = await openOurs([{ ...text, calls: calls(first.answer) as never }, { text: 'All done.' }])
    const kinds = [(chunk: Chunk) => chunk.messageId, (chunk: Chunk) => chunk.toolCallId, (chunk: Chunk) => chunk.approvalId]
    const answers = [await ours.send('/api/ai-sdk/chat', first.body)]
    const recorded = idsIn(first.answer, kinds)
    const given = idsIn(answers[0] ?? [], kinds)
    if (second) {
      const body = withOurIds(second.body, recorded, given)
      answers.push(await ours.send('/api/ai-sdk/chat', body))
      // The same bytes once more, as after a lost answer: the recorded server ran the tool a second time.
      await ours.send('/api/ai-sdk/chat', body)
    }
    for (const [at, { answer }] of [first, ...(second ? [second] : [])].entries()) {
      expect(inAnyOrder(shapeOf(answers[at] ?? [], given)), `answer ${at + 1}`).toEqual(inAnyOrder(shapeOf(answer, recorded)))
    }
    expect(ours.ran.toSorted((a, b) => a.tool.localeCompare(b.tool))).toEqual(effects)
  },
)

// Two equal calls of one step would be asked once here, so the second is another one.
const AG_UI_CALLS = ['a@b.co', 'c@d.co'].map((to) => ({ tool: 'send_email', arguments: { to } }))

/** The client sends back the calls that it was sent: ours. A page that shows other arguments than those that run gets a snapshot. */
function withOurArguments(body: string): string {
  const sent: { messages: { toolCalls?: { function: { arguments: string } }[] }[] } = JSON.parse(body)
  const calls = sent.messages.flatMap(({ toolCalls = [] }) => toolCalls)
  for (const [at, call] of calls.entries()) call.function.arguments = JSON.stringify(AG_UI_CALLS[at]?.arguments)
  return JSON.stringify(sent)
}

test.each([
  ['text', 0, 0],
  ['approve', 1, 1],
  ['deny', 1, 0],
  ['cancel', 1, 0],
  ['two', 2, 1],
])(
  'the recorded requests of the AG-UI client, %s: the answers have the recorded events, and each call ran as it was decided, once',
  async (name, asked, effects) => {
    const [first, second] = exchangesOf(`ag-ui-1.0/${name}.http.jsonl`) as [Exchange, Exchange | undefined]
    const step = asked === 0 ? [] : [{ calls: AG_UI_CALLS.slice(0, asked) }]
    await using ours = await openOurs([...step, { text: textOf((second ?? first).answer) }])
    const kinds = [
      (chunk: Chunk) => chunk.parentMessageId,
      (chunk: Chunk) => chunk.toolCallId,
      ({ outcome }: Chunk) => (outcome as { interrupts?: { id: string }[] } | undefined)?.interrupts?.map(({ id }) => id),
    ]
    const answers = [await ours.send('/api/ag-ui/desk', first.body)]
    if (second) {
      const body = withOurArguments(withOurIds(second.body, idsIn(first.answer, kinds), idsIn(answers[0] ?? [], kinds)))
      answers.push(await ours.send('/api/ag-ui/desk', body))
      await ours.send('/api/ag-ui/desk', body)
    }
    // A client that dismissed an interrupt got no result of the call from the recorded server; ours says that it was declined.
    const typesOf = (answer: readonly Chunk[]) =>
      answer.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1] && !(name === 'cancel' && type === 'TOOL_CALL_RESULT'))
    for (const [at, { answer }] of [first, ...(second ? [second] : [])].entries()) {
      expect(typesOf(answers[at] ?? []), `answer ${at + 1}`).toEqual(typesOf(answer))
    }
    expect(ours.ran).toHaveLength(effects)
  },
)

test('the recorded request of the AI SDK, invalid-args: the call ends as an error as recorded, nothing runs, the model is told', async () => {
  const [recorded] = exchangesOf('ai-sdk-7/invalid-args.http.jsonl') as [Exchange]
  await using ours = await openOurs([
    { calls: [{ tool: 'send_email', arguments: { to: 5 } }] },
    { expect: { lastToolResult: 'to must be text' }, text: textOf(recorded.answer) },
  ])
  const answer = await ours.send('/api/ai-sdk/chat', recorded.body)
  // The AI SDK sends call and error in one chunk where its own schema refused the input. Both forms leave a part in `output-error`.
  const asRecorded = shapeOf(recorded.answer, ['call_1']).flatMap((one) =>
    one === 'tool-input-error of call 0' ? ['tool-input-available of call 0', 'tool-output-error of call 0'] : [one],
  )
  const [id = ''] = idsIn(answer, [({ toolCallId }) => toolCallId])
  expect(shapeOf(answer, [id])).toEqual(asRecorded)
  expect(answer.find(({ type }) => type === 'tool-output-error')).toMatchObject({ errorText: expect.stringContaining('to must be text') })
  expect(ours.ran).toEqual([])
})

test.each([
  ['ai-sdk-7/client-side-tool', '/api/ai-sdk/chat'],
  ['ag-ui-1.0/frontend_tool', '/api/ag-ui/desk'],
])('the recorded requests of %s: a result that the client writes itself is not believed, and the call still waits', async (name, path) => {
  const [first, second] = exchangesOf(`${name}.http.jsonl`) as [Exchange, Exchange]
  await using ours = await openOurs([{ calls: [{ tool: 'mcp_write', arguments: { path: '/x' } }] }, { text: 'All done.' }])
  const kinds = [(chunk: Chunk) => chunk.messageId, (chunk: Chunk) => chunk.parentMessageId, (chunk: Chunk) => chunk.toolCallId]
  const asked = await ours.send(path, first.body)
  const again = await ours.send(path, withOurIds(second.body, idsIn(first.answer, kinds), idsIn(asked, kinds)))
  expect(textOf(again)).not.toContain('All done.')
  expect(ours.ran).toEqual([])
  expect(await ours.states()).toEqual(['proposed'])
})

test('the recorded http-500 of the AI SDK: an answer that is lost on the way leaves the message with the page, which may send it again', async () => {
  const { hist } = JSON.parse(readFileSync(new URL('ai-sdk-7/http-500.client.json', FIXTURES), 'utf8'))
  const rows = readFileSync(new URL('ai-sdk-7/http-500.http.jsonl', FIXTURES), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const broken = rows.find(({ kind }) => kind === 'response')
  const text = rows.flatMap(({ kind, data }) => (kind === 'chunk' ? [data] : [])).join('')
  await using ours = await openOurs([{ calls: [{ tool: 'send_email', arguments: { to: 'a@b.co' } }] }, { text: 'All done.' }])
  // Our server takes the message, and a proxy in between loses the answer.
  await using proxy = await serve({
    async 'POST /api/ai-sdk/chat'(_, response, body) {
      await ours.send('/api/ai-sdk/chat', body)
      response.writeHead(broken.status, { 'content-type': 'application/json' }).end(text)
    },
  })
  const { chat, requests } = openChat({ url: proxy.baseUrl, key: 'any' })
  const [said] = hist[0].messages
  await chat.sendMessage({ ...said })
  const page = JSON.parse(JSON.stringify({ status: chat.status, error: chat.error?.message, messages: chat.messages }))
  const { step: _, ...recorded } = hist[0]
  expect(page).toEqual(recorded)
  expect(requests.map((body) => JSON.parse(body))).toEqual([JSON.parse(exchangesOf('ai-sdk-7/http-500.http.jsonl')[0]?.body ?? '')])
  // Byte for byte the same request once more: the same message, so the model is not asked again, and the answer is that which was lost.
  const again = await ours.send('/api/ai-sdk/chat', requests[0] ?? '')
  expect(again.filter(({ type }) => type === 'tool-approval-request')).toHaveLength(1)
  expect(await ours.states()).toEqual(['proposed'])
  expect(ours.ran).toEqual([])
})
