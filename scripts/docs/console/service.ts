import { startTarget, type TargetAnswer } from '../../../verification/testing/target.ts'
import { passTime } from './past.ts'

const CUSTOMERS = [
  ...['Ines Moreau', 'Tomasz Zielinski', 'Grace Okafor', 'Henrik Dahl', 'Mei Tanaka', 'Rosa Delgado'],
  ...['Samir Haddad', 'Clara Lindqvist', 'Owen Price', 'Yara Santos', 'Felix Brandt', 'Noor Rahman'],
]

/** The customer of the order. */
const customerOf = (orderId: string): string => {
  const named: Record<string, string> = { 'ORD-1042': 'Grace Okafor', 'ORD-1051': 'Samir Haddad', 'ORD-1052': 'Samir Haddad' }
  return named[orderId] ?? CUSTOMERS[Number(orderId.slice(4)) % CUSTOMERS.length] ?? ''
}

const order = (id: string) => ({ id, customer: customerOf(id), status: 'pending', total: id === 'ORD-1042' ? 79 : 640, refunded: 0 })

/** The answers to a GET of each kind of thing. Nothing is kept: the same things can be proposed again. */
const THINGS: Record<string, (id: string) => object> = {
  orders: order,
  products: (id) => ({ id, price: 24 }),
  services: (id) => ({ id, version: 'v4.1.0' }),
  flags: (id) => ({ id, enabled: false }),
}

/** The service behind all tools. It refuses what concerns Felix Brandt's order ORD-1030, and breaks the connection over a refund of 64 EUR. */
export const startService = () =>
  startTarget(({ method, path, body }, nth): TargetAnswer => {
    const [, kind = '', id = ''] = path.split('/')
    const thing = THINGS[kind]?.(decodeURIComponent(id))
    if (method === 'GET') return thing ? { status: 200, body: thing } : { status: 404 }
    passTime(280 + 90 * (nth % 7))
    const sent = body as { amount?: number } | undefined
    if (sent?.amount === 64) return 'reset'
    if (path === '/orders/ORD-1030') return { status: 409, body: { message: 'ORD-1030 was shipped an hour ago' } }
    return { status: 200, body: { id: `re_${1_000 + nth}`, ...thing, ...sent } }
  })
