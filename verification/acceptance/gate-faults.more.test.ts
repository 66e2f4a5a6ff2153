import type { Action } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { createClient, gate } from '../../packages/client/src/index.ts'
import { seededRandom } from '../simulation/random.ts'
import { openGateServer } from '../testing/gate-server.ts'

const CALLS = 40

test('whatever breaks on the way, each call is asked once, runs at most once, and is answered with what the record says', async () => {
  // Of several answers lost in a row, the last is repeated after 30 s: within a hold of 60 s, the claim would sometimes come too late.
  await using desk = await openGateServer({ timeoutMs: 600_000 })
  const random = seededRandom(inject('propertySeed'))
  const breaks = { before: 0, after: 0 }
  const client = createClient({
    baseUrl: desk.server.url,
    key: desk.key,
    async fetch(url, init) {
      // An answer that is lost is worse than a request that is: the server has acted.
      const fault = random.next()
      if (fault < 0.1) {
        breaks.before++
        throw new TypeError('fetch failed')
      }
      const response = await fetch(url, init)
      if (fault > 0.8) {
        breaks.after++
        await response.body?.cancel()
        throw new TypeError('fetch failed')
      }
      return response
    },
  })
  const ran = new Map<string, string[]>()
  const { setStatus } = gate(client, {
    setStatus: ({ order, status }: { order: string; status: string }) => {
      ran.set(order, [...(ran.get(order) ?? []), status])
      return { done: status }
    },
  })

  const orders = Array.from({ length: CALLS }, (_, at) => `ORD-${at}`)
  let isAnswered = false
  const answering = Promise.all(
    // Each call is made twice, as by a framework that repeats a step.
    orders.flatMap((order) => {
      const make = () => setStatus({ order, status: 'shipped' }, { toolCallId: order })
      return [make(), make()]
    }),
  ).finally(() => {
    isAnswered = true
  })
  answering.catch(() => undefined)
  await expect
    .poll(async () => {
      const { items }: { items: Action[] } = await desk.server.admin.get('/api/actions?state=proposed&limit=200')
      for (const action of items) await decideSomehow(desk, action)
      return isAnswered
    })
    .toBe(true)

  const answers = await answering
  const { items }: { items: Action[] } = await desk.server.admin.get('/api/actions?limit=200')
  expect(items).toHaveLength(CALLS)
  const byOrder = new Map(items.map((action) => [orderOf(action), action]))
  for (const [at, order] of orders.entries()) {
    const action = byOrder.get(order)
    const pair = answers.slice(at * 2, at * 2 + 2)
    expect(
      pair.map(({ status }) => status),
      order,
    ).toEqual([action?.outcome?.status, action?.outcome?.status])
    const approved = action?.arguments.status
    expect(ran.get(order) ?? [], order).toEqual(action?.state === 'succeeded' ? [approved] : [])
  }
  expect(new Set(items.map(({ state }) => state))).toEqual(new Set(['succeeded', 'declined']))
  expect(breaks.before).toBeGreaterThan(5)
  expect(breaks.after).toBeGreaterThan(5)
})

const orderOf = ({ arguments: args }: Action): string => String(args.order)

/** A third is approved, a third with other arguments, a third declined. */
async function decideSomehow(desk: Awaited<ReturnType<typeof openGateServer>>, action: Action): Promise<void> {
  const turn = Number(orderOf(action).slice(4)) % 3
  if (turn === 0) await desk.decide(action, 'approve')
  else if (turn === 1) await desk.decide(action, 'approve', { arguments: { order: orderOf(action), status: 'cancelled' } })
  else await desk.decide(action, 'decline')
}
