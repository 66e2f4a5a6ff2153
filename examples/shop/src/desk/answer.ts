import { formatMoney } from '../money.ts'
import type { CatalogueProduct } from './basket.ts'
import { ORDER_STATUSES, type OrderStatus } from './words.ts'

/** How a tool call ended. */
export type Outcome =
  | { type: 'output'; value: unknown }
  | { type: 'declined'; reason: string }
  | { type: 'error'; message: string }
  | { type: 'outcome_unknown'; message: string }

/** One tool call of the turn and how it ended. */
export interface ToolResult {
  tool: string
  arguments: Record<string, unknown>
  outcome: Outcome
}

interface OrderFacts {
  id: string
  status: OrderStatus
  customerName: string | undefined
  totalCents: number
  lines: { name: string; quantity: number; lineTotalCents: number }[]
}

/** The answer to a finished turn of changes: one sentence, or one bullet per change when there were several. */
export function reportChanges(results: readonly ToolResult[]): string {
  const sentences = results.map(reportChange)
  return sentences.length === 1 ? sentences.join('') : sentences.map((sentence) => `- ${sentence}`).join('\n')
}

function reportChange(result: ToolResult): string {
  const isCheckout = result.tool === 'checkout'
  const subject = isCheckout ? 'The order' : `Order ${String(result.arguments.orderId)}`
  const { outcome } = result
  switch (outcome.type) {
    case 'output':
      return isCheckout ? reportPlaced(outcome.value) : reportMoved(subject, result.arguments, outcome.value)
    case 'declined':
      return `${subject} was ${isCheckout ? 'not placed' : 'not changed'}: ${describeDecline(outcome.reason)}`
    case 'error':
      return `${subject} could not be ${isCheckout ? 'placed' : 'changed'}: ${sentence(outcome.message)}`
    case 'outcome_unknown':
      return `I do not know whether ${isCheckout ? 'the order was placed' : `order ${String(result.arguments.orderId)} was changed`}: ${sentence(outcome.message)} I will not repeat it. Please look at the shop before anyone tries again.`
  }
}

function describeDecline(reason: string): string {
  if (reason === 'Timeout') return 'nobody decided in time (reason: “Timeout”).'
  return `the request was declined. Reason: “${reason}”.`
}

function reportMoved(subject: string, args: Record<string, unknown>, value: unknown): string {
  const order = readOrder(value)
  return order ? `Order ${order.id} is now **${order.status}**.` : `${subject} is now **${String(args.newStatus)}**.`
}

function reportPlaced(value: unknown): string {
  const order = readOrder(value)
  if (!order) return 'The order is placed.'
  const forWhom = order.customerName ? ` for ${plain(order.customerName)}` : ''
  const what = order.lines.map((line) => `${line.quantity} × ${plain(line.name)}`).join(', ')
  return `Order **${order.id}**${forWhom} is placed: ${what}, ${formatMoney(order.totalCents)} in total. It is ${order.status}.`
}

/** A read that did not work, in words. */
export function reportFailedRead(outcome: Exclude<Outcome, { type: 'output' }>, what: string): string {
  return outcome.type === 'declined'
    ? `I may not read ${what}: ${describeDecline(outcome.reason)}`
    : `I could not read ${what}: ${sentence(outcome.message)}`
}

/** A Markdown list of the orders with these statuses. */
export function describeOrders(value: unknown, statuses: readonly OrderStatus[], title: string): string {
  const { orders, total } = readOrders(value)
  const chosen = orders.filter((order) => statuses.includes(order.status))
  if (chosen.length === 0) return `There are no ${title}.`
  const lines = chosen.map(
    (order) =>
      `- **${order.id}** ${order.status}, ${formatMoney(order.totalCents)}${order.customerName ? `, ${plain(order.customerName)}` : ''}`,
  )
  const sum = chosen.reduce((cents, order) => cents + order.totalCents, 0)
  const partial = orders.length < total ? `\n\nI looked at the newest ${orders.length} of ${total} orders.` : ''
  return `${chosen.length} ${chosen.length === 1 ? title.replace(/\borders\b/, 'order') : title}, ${formatMoney(sum)} in all:\n\n${lines.join('\n')}${partial}`
}

/** One order as Markdown. */
export function describeOrder(value: unknown): string {
  const order = readOrder(value)
  if (!order) return 'The shop answered with something that is not an order.'
  const forWhom = order.customerName ? ` for ${plain(order.customerName)}` : ''
  const lines = order.lines.map((line) => `- ${line.quantity} × ${plain(line.name)}, ${formatMoney(line.lineTotalCents)}`)
  return `Order **${order.id}**${forWhom} is **${order.status}**.\n\n${lines.join('\n')}\n\nTotal: ${formatMoney(order.totalCents)}`
}

/** The catalogue as Markdown. */
export function describeProducts(value: unknown): string {
  const products = readProducts(value)
  if (products.length === 0) return 'The shop has no products.'
  const lines = products.map(
    ({ name, priceCents, stock }) => `- **${plain(name)}** ${formatMoney(priceCents)}, ${stock === 0 ? 'sold out' : `${stock} in stock`}`,
  )
  return `This is what we have:\n\n${lines.join('\n')}`
}

/** The orders of a `getOrders` answer; what does not look like an order is left out. */
export function readOrders(value: unknown): { orders: OrderFacts[]; total: number } {
  const items = itemsOf(value)
  const orders = items.map(readOrder).filter((order) => order !== undefined)
  return { orders, total: isRecord(value) && typeof value.total === 'number' ? value.total : orders.length }
}

/** The products of a `getProducts` answer. */
export const readProducts = (value: unknown): CatalogueProduct[] =>
  itemsOf(value).flatMap((item) =>
    isRecord(item) && typeof item.id === 'string' && typeof item.name === 'string'
      ? [{ id: item.id, name: item.name, priceCents: numberOr0(item.priceCents), stock: numberOr0(item.stock) }]
      : [],
  )

function readOrder(value: unknown): OrderFacts | undefined {
  if (!isRecord(value) || typeof value.id !== 'string') return undefined
  const status = ORDER_STATUSES.find((known) => known === value.status)
  if (!status) return undefined
  const lines = Array.isArray(value.lines) ? value.lines.filter(isRecord) : []
  return {
    id: value.id,
    status,
    customerName: typeof value.customerName === 'string' ? value.customerName : undefined,
    totalCents: numberOr0(value.totalCents),
    lines: lines.map((line) => ({
      name: String(line.name),
      quantity: numberOr0(line.quantity),
      lineTotalCents: numberOr0(line.lineTotalCents),
    })),
  }
}

const itemsOf = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value
  return isRecord(value) && Array.isArray(value.items) ? value.items : []
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const numberOr0 = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)

/** Data of the shop inside our Markdown: a customer called `[x](http://…)` must stay a name. */
const plain = (text: string): string => text.replace(/[\\`*_[\]<>#|!]/g, '\\$&').replace(/\s+/g, ' ')

const sentence = (text: string): string => (/[.!?]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`)
