import { expect, test } from 'vitest'
import type { Outcome, ToolResult } from './answer.ts'
import { readTurn } from './turn.ts'
import { understand } from './understand.ts'

const output = (value: unknown): Outcome => ({ type: 'output', value })
const products = output({
  items: [
    { id: 'mug', name: 'Stoneware mug', priceCents: 1450, stock: 24 },
    { id: 'poster', name: 'City map poster', priceCents: 2400, stock: 1 },
    { id: 'candle', name: 'Beeswax candle', priceCents: 1150, stock: 0 },
  ],
})
const order = (id: string, status: string, extra = {}) => ({ id, status, customerName: 'Ada', totalCents: 2900, lines: [], ...extra })
const orders = output({ items: [order('ORD-003', 'pending'), order('ORD-002', 'shipped'), order('ORD-001', 'processing')], total: 3 })
const read = (tool: string, outcome: Outcome): ToolResult => ({ tool, arguments: {}, outcome })
const moved = (orderId: string, outcome: Outcome): ToolResult => ({
  tool: 'updateOrderStatus',
  arguments: { orderId, newStatus: 'cancelled' },
  outcome,
})
const placed = (outcome: Outcome): ToolResult => ({ tool: 'checkout', arguments: { items: [{ productId: 'mug', quantity: 2 }] }, outcome })

test('a status change is proposed at once, with words', () => {
  const decision = understand({ text: 'mark ORD-001 as processing', results: [] })
  expect(decision.calls).toEqual([{ tool: 'updateOrderStatus', arguments: { orderId: 'ORD-001', newStatus: 'processing' } }])
  expect(decision.text).toBe('I propose to set ORD-001 to processing.')
})

test('two orders are two calls in one step', () => {
  expect(understand({ text: 'cancel ORD-003 and ORD-004', results: [] }).calls).toEqual([
    { tool: 'updateOrderStatus', arguments: { orderId: 'ORD-003', newStatus: 'cancelled' } },
    { tool: 'updateOrderStatus', arguments: { orderId: 'ORD-004', newStatus: 'cancelled' } },
  ])
})

test('what is proposed is said by status', () => {
  expect(understand({ text: 'cancel ORD-003, ORD-004 and ship ORD-007', results: [] }).text).toBe(
    'I propose to set ORD-003 and ORD-004 to cancelled and set ORD-007 to shipped.',
  )
})

test('a checkout reads the products first and then proposes what they say', () => {
  const text = 'check out two mugs for Ada, ada@example.com'
  expect(understand({ text, results: [] }).calls).toEqual([{ tool: 'getProducts', arguments: {} }])
  const decision = understand({ text, results: [read('getProducts', products)] })
  expect(decision.calls).toEqual([
    {
      tool: 'checkout',
      arguments: { items: [{ productId: 'mug', quantity: 2 }], customerName: 'Ada', customerEmail: 'ada@example.com' },
    },
  ])
  expect(decision.text).toBe('I propose to check out 2 × Stoneware mug for Ada, €29.00 in total.')
})

test.each([
  ['check out two unicorns', 'I do not know “two unicorns”. I ordered nothing.'],
  ['check out', 'I do not see what to check out. I ordered nothing.'],
  ['check out two posters', 'City map poster is down to 1, so I cannot check out 2. I ordered nothing.'],
  ['check out a candle', 'Beeswax candle is sold out'],
])('“%s” is answered without a proposal', (text, words) => {
  const decision = understand({ text, results: [read('getProducts', products)] })
  expect(decision.calls).toBeUndefined()
  expect(decision.text).toContain(words)
})

test('what is open is a list with money', () => {
  expect(understand({ text: 'what is open?', results: [] }).calls).toEqual([{ tool: 'getOrders', arguments: {} }])
  const { text, calls } = understand({ text: 'what is open?', results: [read('getOrders', orders)] })
  expect(calls).toBeUndefined()
  expect(text).toBe('2 open orders, €58.00 in all:\n\n- **ORD-003** pending, €29.00, Ada\n- **ORD-001** processing, €29.00, Ada')
})

test('a list that was cut says so, an empty one too', () => {
  const cut = output({ items: [order('ORD-003', 'pending')], total: 80 })
  expect(understand({ text: 'what is open?', results: [read('getOrders', cut)] }).text).toContain('newest 1 of 80 orders')
  expect(understand({ text: 'what is open?', results: [read('getOrders', output({ items: [] }))] }).text).toBe('There are no open orders.')
})

test('all orders of a status become one call each, at most ten', () => {
  const text = 'ship all processing orders'
  expect(understand({ text, results: [] }).calls).toEqual([{ tool: 'getOrders', arguments: {} }])
  expect(understand({ text, results: [read('getOrders', orders)] }).calls).toEqual([
    { tool: 'updateOrderStatus', arguments: { orderId: 'ORD-001', newStatus: 'shipped' } },
  ])
  const many = output({ items: Array.from({ length: 12 }, (_, index) => order(`ORD-${index}`, 'processing')) })
  const decision = understand({ text, results: [read('getOrders', many)] })
  expect(decision.calls).toHaveLength(10)
  expect(decision.text).toContain('2 more')
})

test('an order is shown with its lines', () => {
  expect(understand({ text: 'show ORD-002', results: [] }).calls).toEqual([{ tool: 'getOrder', arguments: { orderId: 'ORD-002' } }])
  const lines = [{ name: 'Stoneware mug', quantity: 2, lineTotalCents: 2900 }]
  const results = [{ tool: 'getOrder', arguments: { orderId: 'ORD-002' }, outcome: output(order('ORD-002', 'shipped', { lines })) }]
  expect(understand({ text: 'show ORD-002', results }).text).toBe(
    'Order **ORD-002** for Ada is **shipped**.\n\n- 2 × Stoneware mug, €29.00\n\nTotal: €29.00',
  )
})

const endings: [name: string, result: ToolResult, text: string][] = [
  ['done', moved('ORD-003', output(order('ORD-003', 'cancelled'))), 'Order ORD-003 is now **cancelled**.'],
  // A person may approve with edits: what counts is what the shop says.
  ['done with edits', moved('ORD-003', output(order('ORD-003', 'processing'))), 'Order ORD-003 is now **processing**.'],
  [
    'declined',
    moved('ORD-003', { type: 'declined', reason: 'Not before Monday' }),
    'Order ORD-003 was not changed: the request was declined. Reason: “Not before Monday”.',
  ],
  [
    'timed out',
    moved('ORD-003', { type: 'declined', reason: 'Timeout' }),
    'Order ORD-003 was not changed: nobody decided in time (reason: “Timeout”).',
  ],
  [
    'failed',
    moved('ORD-003', { type: 'error', message: 'Order ORD-003 is shipped and cannot become cancelled' }),
    'Order ORD-003 could not be changed: Order ORD-003 is shipped and cannot become cancelled.',
  ],
  [
    'placed',
    placed(output(order('ORD-013', 'pending', { lines: [{ name: 'Stoneware mug', quantity: 2, lineTotalCents: 2900 }] }))),
    'Order **ORD-013** for Ada is placed: 2 × Stoneware mug, €29.00 in total. It is pending.',
  ],
  [
    'not placed',
    placed({ type: 'declined', reason: 'User declined' }),
    'The order was not placed: the request was declined. Reason: “User declined”.',
  ],
  [
    'out of stock',
    placed({ type: 'error', message: 'Stoneware mug is out of stock.' }),
    'The order could not be placed: Stoneware mug is out of stock.',
  ],
]

test.each(endings)('%s: the answer says it and asks for nothing more', (_name, result, text) => {
  expect(understand({ text: 'cancel ORD-003', results: [result] })).toEqual({ text })
})

test('an unknown outcome is not repeated, and the answer says so', () => {
  const { text, calls } = understand({
    text: 'check out two mugs',
    results: [read('getProducts', products), placed({ type: 'outcome_unknown', message: 'the shop did not answer' })],
  })
  expect(calls).toBeUndefined()
  expect(text).toContain('I do not know whether the order was placed: the shop did not answer. I will not repeat it.')
})

test('one approved and one declined are told apart', () => {
  const results = [
    moved('ORD-003', output(order('ORD-003', 'cancelled'))),
    moved('ORD-004', { type: 'declined', reason: 'Already packed' }),
  ]
  expect(understand({ text: 'cancel ORD-003 and ORD-004', results }).text).toBe(
    '- Order ORD-003 is now **cancelled**.\n- Order ORD-004 was not changed: the request was declined. Reason: “Already packed”.',
  )
})

test('a read that failed is said in plain words', () => {
  const failed = read('getProducts', { type: 'error', message: 'The shop cannot be reached' })
  expect(understand({ text: 'check out two mugs', results: [failed] })).toEqual({
    text: 'I could not read the products: The shop cannot be reached.',
  })
})

test('a customer’s name cannot become a link in the answer', () => {
  const nasty = output({ items: [order('ORD-003', 'pending', { customerName: '[free money](http://evil.example) <b>' })] })
  expect(understand({ text: 'what is open?', results: [read('getOrders', nasty)] }).text).toContain(
    '\\[free money\\](http://evil.example) \\<b\\>',
  )
})

test('the turn is what came after the last request', () => {
  const turn = readTurn([
    { role: 'user', content: 'cancel ORD-003' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'updateOrderStatus', arguments: { orderId: 'ORD-003' } }] },
    { role: 'tool', toolCallId: 'a', outcome: { type: 'declined', reason: 'No' } },
    { role: 'assistant', content: 'Not changed.', toolCalls: [] },
    { role: 'user', content: 'show ORD-003' },
  ])
  expect(turn).toEqual({ text: 'show ORD-003', results: [] })
})

test('a decision typed as a message is not a new request', () => {
  const asked = [
    { role: 'user', content: 'cancel ORD-003' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'updateOrderStatus', arguments: { orderId: 'ORD-003' } }] },
    { role: 'tool', toolCallId: 'a', outcome: output(order('ORD-003', 'cancelled')) },
  ] as const
  const approve = { role: 'user', content: ' Approve ' } as const
  expect(readTurn([...asked, approve])).toMatchObject({ text: 'cancel ORD-003', results: [{ tool: 'updateOrderStatus' }] })
  const answered = [...asked, { role: 'assistant', content: 'Done.', toolCalls: [] } as const]
  expect(readTurn([...answered, approve])).toEqual({ text: ' Approve ', results: [] })
})
