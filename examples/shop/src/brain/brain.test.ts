import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Brain, createBrain } from './brain.ts'

type Event = { type: string; delta?: string; toolCallId?: string; toolName?: string; input?: unknown; finishReason?: string }
type Message = Record<string, unknown>

let brain: Brain
beforeAll(async () => {
  brain = await createBrain({ port: 0, wordDelayMs: 0 })
})
afterAll(() => brain.close())

const post = (body: unknown, path = '/') =>
  fetch(brain.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

async function ask(messages: Message[], more: Message = {}, path?: string): Promise<Event[]> {
  const response = await post({ messages, ...more }, path)
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const frames = (await response.text()).split('\n\n')
  expect(frames.pop()).toBe('')
  return frames.map((frame) => {
    expect(frame).toMatch(/^data: \{.*\}$/)
    return JSON.parse(frame.slice('data: '.length)) as Event
  })
}

const said = (events: Event[]) => events.map((event) => event.delta ?? '').join('')
const actions = (events: Event[]) => events.filter((event) => event.type === 'require-action')
const user = (content: unknown): Message => ({ role: 'user', content })
const called = (...calls: [id: string, name: string, args: unknown][]): Message => ({
  role: 'assistant',
  content: 'Let me do that.',
  tool_calls: calls.map(([id, name, args]) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } })),
})
const result = (id: string, content: unknown): Message => ({ role: 'tool', tool_call_id: id, content: JSON.stringify(content) })

test.each(['/', '/chat'])('POST %s answers text, the call twice over, and a finish', async (path) => {
  const events = await ask([user('mark ORD-001 as processing')], {}, path)
  expect(said(events)).toBe('I propose to set ORD-001 to processing.')
  const rest = events.filter((event) => event.type !== 'text-delta')
  const call = { toolCallId: expect.stringMatching(/^call_/), toolName: 'updateOrderStatus' }
  const input = { orderId: 'ORD-001', newStatus: 'processing' }
  expect(rest).toEqual([
    { type: 'tool-input-available', ...call, input },
    { type: 'require-action', ...call, input },
    { type: 'finish', finishReason: 'tool-calls' },
  ])
  expect(rest[0]?.toolCallId).toBe(rest[1]?.toolCallId)
})

test('two orders are two actions with ids of their own', async () => {
  const found = actions(await ask([user('cancel ORD-003 and ORD-004')]))
  expect(found.map((event) => event.input)).toEqual([
    { orderId: 'ORD-003', newStatus: 'cancelled' },
    { orderId: 'ORD-004', newStatus: 'cancelled' },
  ])
  expect(new Set(found.map((event) => event.toolCallId)).size).toBe(2)
})

test('it goes on from a result, deciding from the messages alone', async () => {
  const messages = [
    { role: 'system', content: 'You run the order desk.' },
    user([{ type: 'text', text: 'check out two mugs for Ada' }]),
    called(['call_1', 'getProducts', {}]),
    result('call_1', { items: [{ id: 'mug', name: 'Stoneware mug', priceCents: 1450, stock: 5 }] }),
  ]
  const events = await ask(messages)
  expect(actions(events)).toMatchObject([
    { toolName: 'checkout', input: { items: [{ productId: 'mug', quantity: 2 }], customerName: 'Ada' } },
  ])
  const done = await ask([
    ...messages,
    called(['call_2', 'checkout', { items: [] }]),
    result('call_2', { id: 'ORD-013', status: 'pending', totalCents: 2900, customerName: 'Ada', lines: [] }),
  ])
  expect(said(done)).toContain('Order **ORD-013** for Ada is placed')
  expect(done.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })
})

test.each([
  [{ denied: true, reason: 'User declined' }, 'Order ORD-003 was not changed: the request was declined. Reason: “User declined”.'],
  [{ declined: true, reason: 'Timeout' }, 'Order ORD-003 was not changed: nobody decided in time (reason: “Timeout”).'],
  [{ error: 'Order ORD-003 is shipped' }, 'Order ORD-003 could not be changed: Order ORD-003 is shipped.'],
  [{ outcome_unknown: true, message: 'No answer' }, 'I do not know whether order ORD-003 was changed: No answer. I will not repeat it.'],
  [{ id: 'ORD-003', status: 'cancelled' }, 'Order ORD-003 is now **cancelled**.'],
])('the result %j is answered and nothing is asked for again', async (content, words) => {
  const events = await ask([
    user('cancel ORD-003'),
    called(['call_1', 'updateOrderStatus', { orderId: 'ORD-003', newStatus: 'cancelled' }]),
    result('call_1', content),
  ])
  expect(said(events)).toContain(words)
  expect(actions(events)).toEqual([])
})

test('without the tool it needs it says so', async () => {
  const events = await ask([user('cancel ORD-003')], { tools: [{ type: 'function', function: { name: 'getOrders' } }] })
  expect(said(events)).toBe('For that I need the tool updateOrderStatus, and I was not given it. I changed nothing.')
  expect(actions(events)).toEqual([])
})

test('words arrive one by one while it speaks', async () => {
  const slow = await createBrain({ port: 0, wordDelayMs: 20 })
  try {
    const response = await fetch(slow.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [user('help')] }),
    })
    const reader = response.body?.getReader()
    const first = new TextDecoder().decode((await reader?.read())?.value)
    expect(first).toContain('text-delta')
    expect(first).not.toContain('finish')
    await reader?.cancel()
  } finally {
    await slow.close()
  }
})

test.each([
  [{}],
  [{ messages: [] }],
  [{ messages: [{ role: 'wizard', content: 'x' }] }],
  [{ messages: [{ role: 'tool', content: 'x' }] }],
  ['text'],
])('the body %j is refused with 400', async (body) => {
  const response = await post(body)
  expect(response.status).toBe(400)
  expect(response.headers.get('content-type')).toContain('application/problem+json')
})
