import { expect, test } from 'vitest'
import { findOrderIds } from './order-ids.ts'
import { readRequest } from './request.ts'

const changes: [message: string, ...wanted: string[]][] = [
  ['mark ORD-001 as processing', 'ORD-001 processing'],
  ['Mark order 1 as processing, please.', 'ORD-001 processing'],
  ['please move ord-1 to processing', 'ORD-001 processing'],
  ['set ORD-001 to in progress', 'ORD-001 processing'],
  ['start processing ORD-001', 'ORD-001 processing'],
  ['process #1', 'ORD-001 processing'],
  ['update the status of ORD-001 to shipped', 'ORD-001 shipped'],
  ['change ORD-001 status = shipped', 'ORD-001 shipped'],
  ['ORD-001 → shipped', 'ORD-001 shipped'],
  ['ORD-001: ship', 'ORD-001 shipped'],
  ['ship ORD-004', 'ORD-004 shipped'],
  ['Can you ship order #4?', 'ORD-004 shipped'],
  ['could you please dispatch ord 004', 'ORD-004 shipped'],
  ['ORD-004 is ready, please ship it', 'ORD-004 shipped'],
  ['ORD-001 is pending, please process it', 'ORD-001 processing'],
  ['mark as shipped ORD-004', 'ORD-004 shipped'],
  ['I’d like ORD-003 to be cancelled', 'ORD-003 cancelled'],
  ['cancel ORD-003', 'ORD-003 cancelled'],
  ['call off order 3', 'ORD-003 cancelled'],
  ['cancel the pending order ORD-003', 'ORD-003 cancelled'],
  ['mark the shipped order ORD-002 as cancelled', 'ORD-002 cancelled'],
  ['cancel ORD-003 and ORD-004', 'ORD-003 cancelled', 'ORD-004 cancelled'],
  ['cancel orders 3, 4 and 12', 'ORD-003 cancelled', 'ORD-004 cancelled', 'ORD-012 cancelled'],
  ['cancel ORD-003 and ORD-003', 'ORD-003 cancelled'],
  ['cancel ORD-003 and ship ORD-004', 'ORD-003 cancelled', 'ORD-004 shipped'],
  ['mark ORD-001 and ORD-010 as processing', 'ORD-001 processing', 'ORD-010 processing'],
  ['set ORD-004 to shipped and ORD-003 to cancelled', 'ORD-004 shipped', 'ORD-003 cancelled'],
  ['cancel ORD-003, mark ORD-001 as processing and ship ORD-007', 'ORD-003 cancelled', 'ORD-001 processing', 'ORD-007 shipped'],
]

test.each(changes)('“%s” asks for the change', (message, ...wanted) => {
  const request = readRequest(message)
  expect(request.kind === 'change' ? request.changes.map((change) => `${change.orderId} ${change.newStatus}`) : request).toEqual(wanted)
})

test.each([
  ['show ORD-002', ['ORD-002']],
  ['ORD-002', ['ORD-002']],
  ['what is in order 2?', ['ORD-002']],
  ['Is ORD-002 shipped?', ['ORD-002']],
  ['when was ORD-002 shipped', ['ORD-002']],
  ['can ORD-002 still be cancelled?', ['ORD-002']],
  ['what’s the status of ord-2 and ord-5', ['ORD-002', 'ORD-005']],
  ['details of #12 please', ['ORD-012']],
])('“%s” only looks', (message, orderIds) => {
  expect(readRequest(message)).toEqual({ kind: 'show_orders', orderIds })
})

test.each([
  ["don't cancel ORD-003"],
  ['do not ship ORD-004'],
  ['never cancel ORD-003'],
  ['mark ORD-001 as delivered'],
  ['mark ORD-001'],
  ['cancel the order'],
  ['ship it'],
  ['cancel all orders'],
  [`cancel ${Array.from({ length: 11 }, (_, index) => `ORD-${index + 1}`).join(', ')}`],
  ['do not check out two mugs'],
  ['how do I cancel an order?'],
  ['hello'],
  ['constructor'],
  [''],
  ['help'],
  ['yes'],
])('“%s” changes nothing and says something', (message) => {
  const request = readRequest(message)
  expect(request.kind).toBe('say')
  expect(request.kind === 'say' && request.text.length).toBeGreaterThan(20)
})

test('an order with two wishes is asked about', () => {
  expect(readRequest('cancel ORD-003 and ship ORD-003')).toMatchObject({ kind: 'say', text: expect.stringContaining('ORD-003') })
})

test.each([
  ['what is open?', ['pending', 'processing']],
  ['Which orders are waiting?', ['pending', 'processing']],
  ['show the pending orders', ['pending']],
  ['what did we ship? list shipped orders', ['shipped']],
  ['list canceled orders', ['cancelled']],
  ['which orders are ready to ship?', ['processing']],
  ['list orders', ['pending', 'processing', 'shipped', 'cancelled']],
])('“%s” lists orders', (message, statuses) => {
  expect(readRequest(message)).toMatchObject({ kind: 'list_orders', statuses })
})

test.each([['what do you have in stock?'], ['show me the products'], ['price list'], ['what do you sell?'], ['inventory']])(
  '“%s” lists products',
  (message) => {
    expect(readRequest(message)).toEqual({ kind: 'list_products' })
  },
)

test.each([
  ['ship all processing orders', 'processing', 'shipped'],
  ['cancel every pending order', 'pending', 'cancelled'],
  ['mark all of the pending orders as processing', 'pending', 'processing'],
])('“%s” changes all of them', (message, from, to) => {
  expect(readRequest(message)).toEqual({ kind: 'change_all', from, to })
})

test.each([
  ['check out two mugs'],
  ['Checkout 2 mugs for Ada'],
  ['buy a notebook'],
  ['order two mugs'],
  ['order 2 mugs'],
  ['I would like 3 pens'],
  ['place an order for two mugs'],
  ['please purchase a dozen pens'],
])('“%s” is a checkout', (message) => {
  expect(readRequest(message)).toEqual({ kind: 'checkout' })
})

test.each([
  ['order 2 mugs', []],
  ['orders 3 and 4', ['ORD-003', 'ORD-004']],
  ['order 3 as shipped', ['ORD-003']],
  ['word-3 border 7 ord-1234567', []],
])('the orders named in “%s”', (text, orderIds) => {
  expect(findOrderIds(text).map((found) => found.orderId)).toEqual(orderIds)
})
