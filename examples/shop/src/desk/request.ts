import { findOrderIds } from './order-ids.ts'
import { listWords, NUMBER_PATTERN, ORDER_STATUSES, type OrderStatus, statusOf, statusPattern } from './words.ts'

export interface StatusChange {
  orderId: string
  newStatus: OrderStatus
}

/** A person's request to the desk. `say` needs no tool: the answer is already here. */
export type Request =
  | { kind: 'change'; changes: StatusChange[] }
  | { kind: 'change_all'; from: OrderStatus; to: OrderStatus }
  | { kind: 'checkout' }
  | { kind: 'list_orders'; statuses: readonly OrderStatus[]; title: string }
  | { kind: 'show_orders'; orderIds: string[] }
  | { kind: 'list_products' }
  | { kind: 'say'; text: string }

/** More than this in one go is refused: a person has to read every card. */
export const MAX_CALLS = 10

const HELP = `I run the order desk. You can ask me, for example:

- **What is open?** I list the orders that wait or are in progress.
- **Show ORD-002.** I show one order with its lines.
- **What do you have in stock?** I list the products.
- **Mark ORD-001 as processing.** Also *ship* or *cancel*, and several orders at once.
- **Check out two mugs for Ada, ada@example.com.** I place an order.

What changes an order I only propose; whether it happens is for a person to decide.`

const NEGATION = /\b(?:don'?t|do not|never|not|isn'?t|shouldn'?t|must ?n'?t|without)\b/
const QUESTION =
  /^(?:so |and |hey |hi |ok |okay )?(?:(?:is|are|was|were|has|have|had|did|does|when|why|what|what's|whats|where|who|which|how)\b|(?:can|could|should|may|will|would) (?:ord|#))/
const SET = /\b(?:mark|marked|set|move|moved|change|changed|update|updated|put|make|turn|switch|flag)\b/g
const STRONG = /(?:\b(?:as|to|into|be|been|status|status is|=|:)|→|->)\s*$/
const CHECKOUT = new RegExp(
  `\\b(?:check\\s?-?out|buy|purchase|place (?:an? |a new )?order|new order|i(?:'d| would) like (?:${NUMBER_PATTERN})|(?:order|orders)(?: me| us)? (?:${NUMBER_PATTERN})\\b)`,
)
/** "it is pending" says how things are, not how they should be. */
const DESCRIBES = /\b(?:is|was|are|were)(?: still| already| now)?\s*$/
const ASKS_FOR_HELP = /^(?:help|hi|hello|hey)\b|\b(?:how (?:do|can|to|does)|what can you|what do you do)\b/
const PRODUCTS = /\b(?:stock|products?|catalog(?:ue)?|inventory|sell|for sale|price list|prices?|assortment|in the shop)\b/
const ORDERS = /\b(?:orders?|open|outstanding|unfinished|waiting|to do|todo|pending|processing|shipped|cancelled|canceled|in progress)\b/
const ALL = /\b(?:all|every|each|any)\b(?: of)?(?: the| our| my)? (pending|processing|shipped|cancelled|canceled) (?:orders?|ones?)\b/

/** Understands one message. It never guesses a change: what is unclear comes back as a question (`say`). */
export function readRequest(message: string): Request {
  const text = message.trim().toLowerCase().replaceAll('’', "'").replace(/\s+/g, ' ')
  const orderIds = [...new Set(findOrderIds(text).map((found) => found.orderId))]
  if (orderIds.length > MAX_CALLS) return say(`That is ${orderIds.length} orders. I take at most ${MAX_CALLS} at a time.`)
  if (orderIds.length > 0) return readAboutOrders(text, orderIds)
  if (CHECKOUT.test(text)) {
    return NEGATION.test(text)
      ? say('I ordered nothing. Tell me what to check out, for example “check out two mugs”.')
      : { kind: 'checkout' }
  }
  return readGeneral(text)
}

function readAboutOrders(text: string, orderIds: string[]): Request {
  const wantsChange = !QUESTION.test(text) && (statusPattern().test(text) || text.search(SET) >= 0)
  if (!wantsChange || /\b(?:show|display|view|look at|details?|tell me about)\b/.test(text)) return { kind: 'show_orders', orderIds }
  if (NEGATION.test(text)) {
    return say(`I changed nothing, because you said “not”. Tell me only what should happen, for example “ship ${orderIds[0]}”.`)
  }
  const { changes, unclear } = assignStatuses(text)
  if (unclear.length > 0 || changes.length === 0) {
    return say(
      `What should happen to ${listWords(unclear.length > 0 ? unclear : orderIds)}? An order can be ${listStatuses()}. I changed nothing yet.`,
    )
  }
  return { kind: 'change', changes }
}

/**
 * Gives each named order its status, reading from left to right: "cancel A and B", "mark A as shipped and B as cancelled",
 * "cancel A and ship B". An order without a status, or with two, is unclear.
 */
function assignStatuses(text: string): { changes: StatusChange[]; unclear: string[] } {
  const tokens = [
    ...findOrderIds(text).map(({ orderId, index }) => ({ index, orderId, status: undefined, strong: false })),
    ...[...text.matchAll(statusPattern())]
      .filter((match) => !DESCRIBES.test(text.slice(0, match.index)))
      .map((match) => ({
        index: match.index,
        orderId: undefined,
        status: statusOf(match[0]),
        strong: STRONG.test(text.slice(0, match.index)),
      })),
    ...[...text.matchAll(SET)].map((match) => ({ index: match.index, orderId: undefined, status: undefined, strong: false })),
  ].sort((a, b) => a.index - b.index)

  const statuses = new Map<string, Set<OrderStatus>>()
  let group: string[] = []
  let current: OrderStatus | undefined
  const assign = (orderId: string, status: OrderStatus) => statuses.set(orderId, (statuses.get(orderId) ?? new Set()).add(status))
  for (const { orderId, status, strong } of tokens) {
    if (orderId !== undefined) {
      if (!statuses.has(orderId)) statuses.set(orderId, new Set())
      group.push(orderId)
      if (current) assign(orderId, current)
    } else if (status === undefined) {
      group = []
      current = undefined
    } else if (group.length > 0 && (strong || current === undefined)) {
      // "mark the shipped ORD-001 as cancelled": what follows "as" is the wish, what came before described the order.
      for (const grouped of group) {
        if (strong) statuses.set(grouped, new Set())
        assign(grouped, status)
      }
      group = []
      current = undefined
    } else if (group.length > 0 || current === undefined) {
      group = []
      current = status
    }
  }

  const changes: StatusChange[] = []
  const unclear: string[] = []
  for (const [orderId, wished] of statuses) {
    const [newStatus, second] = wished
    if (newStatus === undefined || second !== undefined) unclear.push(orderId)
    else changes.push({ orderId, newStatus })
  }
  return { changes, unclear }
}

function readGeneral(text: string): Request {
  if (ASKS_FOR_HELP.test(text)) return say(HELP)
  const isQuestion = QUESTION.test(text)
  const bulk = ALL.exec(text)
  const verb = bulk && !isQuestion ? readBulkWish(text, bulk) : undefined
  if (bulk && verb && !NEGATION.test(text)) {
    const from = statusOf(bulk[1] ?? '')
    if (from) return { kind: 'change_all', from, to: verb }
  }
  const wishes =
    !isQuestion && /^(?:please |can you |could you |would you )*(?:cancel|ship|process|dispatch|mark|set|move|change|update)\b/.test(text)
  if (wishes) return say('Which order do you mean? Name it, for example ORD-001. I changed nothing yet.')
  if (PRODUCTS.test(text)) return { kind: 'list_products' }
  if (ORDERS.test(text)) return readOrderList(text)
  return say(HELP)
}

/** "ship all pending orders" and "mark all pending orders as processing": the status outside of the words that say which orders. */
function readBulkWish(text: string, bulk: RegExpExecArray): OrderStatus | undefined {
  const rest = `${text.slice(0, bulk.index)} ${text.slice(bulk.index + bulk[0].length)}`
  const wished = new Set([...rest.matchAll(statusPattern())].map((match) => statusOf(match[0])))
  const [status] = wished
  return wished.size === 1 ? status : undefined
}

function readOrderList(text: string): Request {
  if (/\b(?:to|ready|needs?)\b.* ship/.test(text)) return { kind: 'list_orders', statuses: ['processing'], title: 'orders ready to ship' }
  const named = ORDER_STATUSES.filter((status) =>
    text.split(/[^a-z]+/).some((word) => /(?:ed|ing)$/.test(word) && statusOf(word) === status),
  )
  if (named.length > 0) return { kind: 'list_orders', statuses: named, title: `${listWords(named)} orders` }
  if (/\b(?:open|outstanding|unfinished|waiting|to do|todo)\b/.test(text)) {
    return { kind: 'list_orders', statuses: ['pending', 'processing'], title: 'open orders' }
  }
  return { kind: 'list_orders', statuses: ORDER_STATUSES, title: 'orders' }
}

const say = (text: string): Request => ({ kind: 'say', text })
const listStatuses = (): string => ORDER_STATUSES.join(', ').replace(/, (\w+)$/, ' or $1')
