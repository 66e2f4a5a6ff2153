import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { startTarget, type Target } from './target.ts'

interface Order {
  status: string
  note: string | null
  version: number
}

/** A service with one order per id, made on first sight, that takes changes and honours `If-Match`. */
export interface Orders extends Target {
  /** The order as it is; what is given is changed, as if somebody else did. */
  order(id: string, changed?: Partial<Omit<Order, 'version'>>): Order
  /** Called before each write is looked at; what it changes comes between the last look and the send. */
  beforeWrite: ((id: string) => void) | undefined
  /** Writes that were carried out: which order, from what, to what. */
  readonly done: readonly { id: string; from: string; to: string }[]
  /** True while every request is answered with 503. */
  isAway: boolean
}

/** Starts a service of orders on the loopback. */
export async function startOrders(): Promise<Orders> {
  const orders = new Map<string, Order>()
  const done: { id: string; from: string; to: string }[] = []
  function order(id: string, changed: Partial<Omit<Order, 'version'>> = {}): Order {
    const held = orders.get(id) ?? { status: 'pending', note: null, version: 1 }
    const now = Object.keys(changed).length === 0 ? held : { ...held, ...changed, version: held.version + 1 }
    orders.set(id, now)
    return now
  }
  const target = await startTarget(({ method, path, headers, body }) => {
    if (service.isAway) return { status: 503, body: { error: 'closed for today' } }
    const id = path.split('/')[2] ?? ''
    if (method === 'GET') return { status: 200, body: order(id), headers: { etag: `"${order(id).version}"` } }
    service.beforeWrite?.(id)
    const { status: from, version } = order(id)
    const asked = headers['if-match']
    if (asked !== undefined && asked !== `"${version}"`) return { status: 412, body: { error: 'the order has another version' } }
    const { status } = body as { status: string }
    order(id, { status })
    done.push({ id, from, to: status })
    return { status: 200, body: { id, ...order(id) } }
  })
  const service: Orders = {
    ...target,
    order,
    done,
    beforeWrite: undefined,
    isAway: false,
    [Symbol.asyncDispose]: () => target[Symbol.asyncDispose](),
  }
  return service
}

const INPUT = {
  type: 'object',
  required: ['id', 'status'],
  additionalProperties: false,
  properties: { id: { type: 'string' }, status: { type: 'string', enum: ['pending', 'paid', 'shipped', 'cancelled'] } },
}
const before = { get: '/orders/{id}', compare: { status: '{status}' } }

/** A group of tools over the orders: `set` is held against what was shown, `setGuarded` by the service, too, `read` only reads. */
export const orderTools = ({ url }: Orders, headers: Record<string, string> = {}): NonNullable<ConfigInput['tools']> => ({
  orders: {
    prefix: false,
    routes: {
      baseUrl: url,
      headers,
      tools: {
        set: { method: 'PUT', path: '/orders/{id}', body: { status: '{status}' }, input: INPUT, describe: 'Set {id} to {status}', before },
        setGuarded: {
          method: 'PUT',
          path: '/orders/{id}',
          body: { status: '{status}' },
          input: INPUT,
          describe: 'Set {id} to {status}',
          before: { ...before, ifMatch: true },
        },
        read: { method: 'GET', path: '/orders/{id}' },
      },
    },
  },
})
