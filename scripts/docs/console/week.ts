import type { Action } from '@countersign/core'
import { TALKS } from './desk.ts'
import { type Agent, decide, type Office, type Person } from './office.ts'
import { timetable } from './past.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long ago the office opened. */
export const WEEK_MS = 7 * DAY

type Ask = { agent: Agent; tool: string; arguments: object; context?: object }
type Answer = { by: Person; verdict: 'approve' | 'decline'; reason?: string; remember?: object }

const orderOf = (number: number): string => `ORD-${1_000 + number}`
const MAILS = ['Your parcel is late', 'Your invoice', 'We are out of stock', 'How was your order?']
const PRODUCTS = ['Stoneware mug', 'Desk lamp', 'Canvas tote bag', 'Gel pen', 'City map poster']
const SERVICES = ['checkout', 'search', 'catalogue']
const FLAGS = ['express-shipping', 'new-basket', 'gift-cards']
const pick = <Item>(items: readonly Item[], at: number): Item => items[at % items.length] as Item

/** The calls that agents make, by kind. */
const CALLS: Record<string, (no: number) => Ask> = {
  cancel: (no) => ({
    agent: 'orders',
    tool: 'updateOrderStatus',
    arguments: { orderId: orderOf(no), newStatus: 'cancelled' },
    context: { reason: 'Unpaid for 14 days' },
  }),
  ship: (no) => ({ agent: 'orders', tool: 'updateOrderStatus', arguments: { orderId: orderOf(no), newStatus: 'shipped' } }),
  refund: (no) => ({
    agent: 'billing',
    tool: 'refund',
    arguments: { orderId: orderOf(no), amount: 32 + ((no * 7) % 60), reason: pick(['Arrived damaged', 'Wrong size', 'Returned'], no) },
  }),
  smallRefund: (no) => ({
    agent: 'billing',
    tool: 'refund',
    arguments: { orderId: orderOf(no), amount: 6.9, reason: 'Parcel a week late' },
  }),
  largeRefund: (no) => ({
    agent: 'billing',
    tool: 'refund',
    arguments: { orderId: orderOf(no), amount: 620, reason: 'The whole order was returned' },
    context: { reason: 'The parcel came back unopened on Tuesday.', run: 'returns' },
  }),
  lostRefund: (no) => ({ agent: 'billing', tool: 'refund', arguments: { orderId: orderOf(no), amount: 64, reason: 'Returned' } }),
  mail: (no) => ({
    agent: 'support',
    tool: 'mail.send',
    arguments: {
      to: `customer-${no}@example.com`,
      subject: pick(MAILS, no),
      text: `Hello,\n\nthis is about your order ${orderOf(no)}. ${pick(MAILS, no)}.\n\nYour shop`,
    },
  }),
  price: (no) => ({ agent: 'support', tool: 'changePrice', arguments: { product: pick(PRODUCTS, no), price: 26 + (no % 5) } }),
  deploy: (no) => ({ agent: 'release', tool: 'ops.deploy', arguments: { service: pick(SERVICES, no), version: `v4.${2 + (no % 7)}.0` } }),
  flag: (no) => ({ agent: 'release', tool: 'ops.setFlag', arguments: { flag: pick(FLAGS, no), enabled: true } }),
  close: (no) => ({ agent: 'support', tool: 'closeAccount', arguments: { customer: `customer-${no}` } }),
}

/** The decisions of each of the last six days: kind, minutes of the day at which it was asked and for which it waited, by whom. */
const DAYS: readonly [kind: string, at: number, waited: number, by: Person, verdict?: 'decline', reason?: string][] = [
  ['ship', 35, 4, 'ben'],
  ['mail', 50, 12, 'cleo'],
  ['refund', 70, 22, 'ana'],
  ['price', 95, 65, 'ben', 'decline', 'Prices stay until the sale'],
  ['ship', 130, 3, 'ana'],
  ['smallRefund', 150, 0, 'ana'],
  ['deploy', 180, 41, 'cleo'],
  ['mail', 205, 7, 'cleo'],
  ['refund', 240, 95, 'ben', 'decline', 'Refunded already'],
  ['ship', 265, 2, 'ben'],
  ['close', 280, 0, 'ana'],
  ['cancel', 300, 130, 'ana'],
  ['mail', 320, 5, 'ana'],
  ['smallRefund', 345, 0, 'ana'],
  ['flag', 370, 18, 'cleo'],
  ['refund', 400, 31, 'ana'],
]

/** The actions that wait now: how many of each kind, and the minutes since the first and from one to the next. */
const WAITING: readonly [kind: string, count: number, sinceMinutes: number, apartMinutes: number][] = [
  ['cancel', 14, 340, 3],
  ['mail', 9, 260, 21],
  ['refund', 8, 700, 74],
  ['price', 5, 190, 26],
  ['flag', 3, 150, 33],
  ['deploy', 3, 410, 97],
  ['largeRefund', 2, 530, 55],
]

/** Lets a week pass in an office: what agents asked, what people decided, and what waits at its end. */
export async function playWeek(office: Office): Promise<void> {
  const { add, play } = timetable()
  const { server, people, agents } = office
  let calls = 0

  const propose = async (kind: string): Promise<Action> => {
    const { agent, ...body } = callOf(kind, ++calls)
    const action: Action = await agents[agent].post('/api/actions', body, { 'idempotency-key': `call-${calls}` })
    // What policy or a grant allows runs at once.
    await server.settle()
    return action
  }
  const askAt = (agoMs: number, kind: string, waitedMs: number, answer: Answer): void =>
    add(agoMs, async () => {
      const action = await propose(kind)
      if (action.state !== 'proposed') return
      const { by, ...decision } = answer
      add(agoMs - waitedMs, async () => {
        await decide(people[by], action, decision)
        await server.settle()
      })
    })

  for (let day = 6; day >= 1; day--) {
    // More on some days than on others.
    for (const [kind, at, waited, by, verdict = 'approve', reason] of DAYS.slice(0, DAYS.length - ((day * 5) % 7)))
      askAt(day * DAY - at * MINUTE + 2 * HOUR, kind, waited * MINUTE, { by, verdict, ...(reason && { reason }) })
  }
  askAt(2 * DAY, 'lostRefund', 9 * MINUTE, { by: 'ben', verdict: 'approve' })
  const remember = { scope: 'agent', expiresIn: 'P14D', when: 'args.newStatus == "shipped"' }
  askAt(5 * HOUR, 'ship', 6 * MINUTE, { by: 'ana', verdict: 'approve', remember })
  askAt(4 * HOUR, 'flag', 6 * MINUTE, {
    by: 'cleo',
    verdict: 'approve',
    remember: { scope: 'agent', expiresIn: 'P7D', exact: true, uses: 5 },
  })

  const waiting: Action[] = []
  for (const [kind, count, sinceMinutes, apartMinutes] of WAITING) {
    for (let nth = 0; nth < count; nth++)
      add((sinceMinutes - nth * apartMinutes) * MINUTE, async () => void waiting.push(await propose(kind)))
  }

  Object.entries(TALKS).forEach(([title, { message }], nth) => {
    add((nth * 25 + 48) * MINUTE, async () => {
      const { id } = await people.ana.post('/api/sessions', { title, agent: 'desk' })
      await people.ana.post(`/api/sessions/${id}/messages`, { content: message })
      await server.settle()
      // The first waits at the end of the week; the others went on.
      if (nth > 0) approveAfter(id, (nth * 25 + 48) * MINUTE - 4 * MINUTE)
    })
  })
  /** Approves what a session waits for, until it is done. */
  const approveAfter = (sessionId: string, agoMs: number): void =>
    add(agoMs, async () => {
      const { pendingApprovals } = await people.ana.get(`/api/sessions/${sessionId}`)
      const [action]: Action[] = pendingApprovals
      if (!action) return
      await decide(people.ben, action, { verdict: 'approve' })
      await server.settle()
      approveAfter(sessionId, agoMs - 6 * MINUTE)
    })

  add(20 * MINUTE, async () => {
    const large = waiting.find(({ policy }) => policy.rule === 'large refunds need two')
    if (large) await decide(people.ben, large, { verdict: 'approve' })
    const [first, second] = waiting.filter(({ policy }) => policy.rule === 'refunds need finance')
    if (first) await people.ben.post(`/api/actions/${first.id}/seen`, { revision: first.revision, digest: first.digest })
    if (second) await people.ana.post(`/api/actions/${second.id}/assign`, { to: { person: people.ben.id } })
    await people.cleo.post('/api/delegations', { to: people.ana.id, expiresIn: 'P5D', reason: 'On leave until Monday' })
  })
  await play()
  // Reminders and escalations that came due on the way are made at the start of a server.
  await server.restart()
}

function callOf(kind: string, no: number): Ask {
  const call = CALLS[kind]
  if (!call) throw new Error(`no call is named ${kind}`)
  return call(no)
}
