import { formatMoney } from '../money.ts'
import {
  describeOrder,
  describeOrders,
  describeProducts,
  type Outcome,
  readOrders,
  readProducts,
  reportChanges,
  reportFailedRead,
  type ToolResult,
} from './answer.ts'
import { readBasket } from './basket.ts'
import { MAX_CALLS, type Request, readRequest, type StatusChange } from './request.ts'
import { listWords } from './words.ts'

/** A person's last message and the tool results since then, oldest first. */
export interface Turn {
  text: string
  results: readonly ToolResult[]
}

type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

interface Call {
  tool: 'getOrders' | 'getOrder' | 'getProducts' | 'updateOrderStatus' | 'checkout'
  arguments: { [name: string]: Json }
}

/** Returns the desk's next step: a message, tool calls, or both. A step without calls ends the turn. */
export interface Decision {
  text: string
  calls?: Call[]
}

/**
 * The order desk's whole understanding: a pure function from a turn to the next step, shared by the remote brain and the scripted
 * model. It reads before it proposes where it has to, and it never proposes the same change twice in a turn, whatever came of it.
 * @example
 * understand({ text: 'ship ORD-004', results: [] })
 * // { text: '…', calls: [{ tool: 'updateOrderStatus', arguments: { orderId: 'ORD-004', newStatus: 'shipped' } }] }
 */
export function understand({ text, results }: Turn): Decision {
  const changes = results.filter(({ tool }) => tool === 'updateOrderStatus' || tool === 'checkout')
  if (changes.length > 0) return { text: reportChanges(changes) }

  const request = readRequest(text)
  switch (request.kind) {
    case 'say':
      return { text: request.text }
    case 'change':
      return proposeChanges(request.changes)
    case 'show_orders':
      return showOrders(request.orderIds, results)
    default:
      return afterRead(request, text, results)
  }
}

/** The requests that first read a list: the orders or the products. */
function afterRead(
  request: Exclude<Request, { kind: 'say' | 'change' | 'show_orders' }>,
  text: string,
  results: readonly ToolResult[],
): Decision {
  const tool = request.kind === 'checkout' || request.kind === 'list_products' ? 'getProducts' : 'getOrders'
  const what = tool === 'getProducts' ? 'the products' : 'the orders'
  const outcome = lastOutcome(results, tool)
  if (!outcome) return { text: `Let me look at ${what}.`, calls: [{ tool, arguments: {} }] }
  if (outcome.type !== 'output') return { text: reportFailedRead(outcome, what) }

  switch (request.kind) {
    case 'checkout':
      return proposeCheckout(text, outcome.value)
    case 'list_products':
      return { text: describeProducts(outcome.value) }
    case 'list_orders':
      return { text: describeOrders(outcome.value, request.statuses, request.title) }
    case 'change_all':
      return proposeAll(request, outcome.value)
  }
}

function proposeChanges(changes: readonly StatusChange[]): Decision {
  const byStatus = Map.groupBy(changes, (change) => change.newStatus)
  const wishes = [...byStatus].map(([status, group]) => `set ${listWords(group.map(({ orderId }) => orderId))} to ${status}`)
  return {
    text: `I propose to ${listWords(wishes)}.`,
    calls: changes.map((change) => ({ tool: 'updateOrderStatus', arguments: { ...change } })),
  }
}

function proposeAll({ from, to }: Extract<Request, { kind: 'change_all' }>, value: unknown): Decision {
  const orderIds = readOrders(value)
    .orders.filter((order) => order.status === from)
    .map((order) => order.id)
  if (orderIds.length === 0) return { text: `There are no ${from} orders, so there is nothing to change.` }
  const first = orderIds.slice(0, MAX_CALLS)
  const decision = proposeChanges(first.map((orderId) => ({ orderId, newStatus: to })))
  const rest = orderIds.length - first.length
  return rest === 0 ? decision : { ...decision, text: `${decision.text} That leaves ${rest} more for another time.` }
}

function showOrders(orderIds: readonly string[], results: readonly ToolResult[]): Decision {
  const reads = results.filter(({ tool }) => tool === 'getOrder')
  if (reads.length === 0) {
    return {
      text: `Let me look at ${listWords(orderIds)}.`,
      calls: orderIds.map((orderId) => ({ tool: 'getOrder', arguments: { orderId } })),
    }
  }
  const parts = reads.map(({ arguments: args, outcome }) =>
    outcome.type === 'output' ? describeOrder(outcome.value) : reportFailedRead(outcome, `order ${String(args.orderId)}`),
  )
  return { text: parts.join('\n\n') }
}

function proposeCheckout(text: string, value: unknown): Decision {
  const catalogue = readProducts(value)
  const { items, unknown, ambiguous, customerName, customerEmail } = readBasket(text, catalogue)
  const [unsure] = ambiguous
  if (unsure) {
    return { text: `“${unsure.words}” could be ${listWords(unsure.candidates.map(({ name }) => name))}. Which one? I ordered nothing yet.` }
  }
  if (unknown.length > 0 || items.length === 0) {
    const missing =
      unknown.length > 0 ? `I do not know ${listWords(unknown.map((words) => `“${words}”`))}` : 'I do not see what to check out'
    return { text: `${missing}. I ordered nothing. ${describeProducts(value)}` }
  }
  const short = items.find(({ product, quantity }) => quantity > product.stock)
  if (short) {
    const left = short.product.stock === 0 ? 'sold out' : `down to ${short.product.stock}`
    return { text: `${short.product.name} is ${left}, so I cannot check out ${short.quantity}. I ordered nothing.` }
  }

  const totalCents = items.reduce((sum, { product, quantity }) => sum + product.priceCents * quantity, 0)
  const what = listWords(items.map(({ product, quantity }) => `${quantity} × ${product.name}`))
  return {
    text: `I propose to check out ${what}${customerName ? ` for ${customerName}` : ''}, ${formatMoney(totalCents)} in total.`,
    calls: [
      {
        tool: 'checkout',
        arguments: {
          items: items.map(({ product, quantity }) => ({ productId: product.id, quantity })),
          ...(customerName && { customerName }),
          ...(customerEmail && { customerEmail }),
        },
      },
    ],
  }
}

const lastOutcome = (results: readonly ToolResult[], tool: string): Outcome | undefined =>
  results.filter((result) => result.tool === tool).at(-1)?.outcome
