import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../../verification/testing/manual-clock.ts'
import { ana, openGate } from '../../../../../verification/testing/open-gate.ts'
import { startTarget, type TargetAnswer } from '../../../../../verification/testing/target.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000

interface Told {
  method: string
  at: number
  key: string | undefined
}

/** A gate over a service behind real HTTP, by a clock that the test moves while something is awaited. */
async function openShop(answer: (told: Told, nth: number) => TargetAnswer) {
  const stack = new AsyncDisposableStack()
  const clock = manualClock()
  const told: Told[] = []
  const target = stack.use(
    await startTarget(({ method, headers }) => {
      const key = headers['idempotency-key']
      const one = { method, at: clock.nowMs(), key: key === undefined ? undefined : String(key) }
      told.push(one)
      return answer(one, told.length)
    }),
  )
  const verify = { get: '/payments?key={idempotencyKey}', done: { state: 'paid' } }
  // As long as the window in which a late effect is looked for, so that no answer is late by the clock that runs ahead.
  const timeoutMs = 600 * SECOND_MS
  const routes = {
    baseUrl: target.url,
    tools: {
      pay: { method: 'POST' as const, path: '/payments', timeoutMs, verify },
      keyed: { method: 'POST' as const, path: '/keyed', timeoutMs, idempotent: true },
    },
  }
  const gate = stack.use(await openGate([], { clock, tools: { shop: { prefix: false, routes } } }))
  const read = (id: string): Promise<Action> => gate.until(id, () => true)
  return {
    ...{ clock, told, gate, read },
    async approve(tool: string): Promise<string> {
      const { id } = await gate.engine.gate.propose({ tool, arguments: {} }, { principal: ana })
      await gate.engine.gate.decide(id, { verdict: 'approve' }, { principal: ana })
      return id
    },
    /** Lets time pass until the action is as asked for. */
    async passUntil(id: string, isThere: (action: Action) => boolean, stepMs = SECOND_MS): Promise<Action> {
      await expect
        .poll(
          async () => {
            clock.pass(stepMs)
            return isThere(await read(id))
          },
          { interval: 5 },
        )
        .toBe(true)
      return read(id)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const busy = (seconds: number): TargetAnswer => ({ status: 503, headers: { 'retry-after': String(seconds) } })

test('a look-up comes no sooner than its target asked for, and at the latest after ten minutes', async () => {
  await using shop = await openShop((_, nth) => [busy(20), busy(25), busy(3_000)][nth - 1] ?? { status: 200, body: { state: 'paid' } })
  const id = await shop.approve('pay')
  const settled = await shop.passUntil(id, ({ state }) => state === 'succeeded')
  expect(settled).toMatchObject({ attempt: 1, result: { state: 'paid' } })
  const [sent, ...looks] = shop.told
  expect([sent?.method, ...looks.map(({ method }) => method)]).toEqual(['POST', 'GET', 'GET', 'GET'])
  const gaps = looks.map(({ at }, nth) => (at - (shop.told[nth]?.at ?? 0)) / SECOND_MS)
  expect(gaps[0]).toBeGreaterThanOrEqual(20)
  expect(gaps[1]).toBeGreaterThanOrEqual(25)
  expect(gaps[2]).toBeGreaterThanOrEqual(600)
  expect(gaps[2]).toBeLessThan(3_000)
})

test('a target that asks for an hour is not looked at until the bound, and people are told meanwhile', async () => {
  await using shop = await openShop((_, nth) => (nth === 1 ? busy(3_600) : { status: 200, body: { state: 'paid' } }))
  const id = await shop.approve('pay')
  expect(await shop.passUntil(id, ({ state }) => state === 'outcome_unknown')).toMatchObject({ checks: { ended: false, lastFound: null } })
  expect(shop.told).toHaveLength(1)
  await shop.passUntil(id, ({ state }) => state === 'succeeded')
  const [sent, look] = shop.told
  expect(((look?.at ?? 0) - (sent?.at ?? 0)) / SECOND_MS).toBeGreaterThanOrEqual(600)
})

test('an hour of 500s: nothing is stuck, nothing is called a failure, and nothing is done twice when the target is back', async () => {
  let isBack = false
  let paid = 0
  const done = new Set<string | undefined>()
  await using shop = await openShop(({ method, key }) => {
    if (!isBack) return { status: 500 }
    if (method === 'GET') return { status: 404 }
    if (key === undefined) paid++
    else done.add(key)
    return { status: 200, body: { id: 1 } }
  })
  const { clock, told, gate } = shop
  const [pay, keyed] = [await shop.approve('pay'), await shop.approve('keyed')]
  const until = clock.nowMs() + HOUR_MS
  const isOver = () => clock.nowMs() >= until
  // In steps of which a slow machine, too, makes enough before a wait counts as a hang.
  const states = [await shop.passUntil(pay, isOver, 5 * SECOND_MS), await shop.read(keyed)]
  expect(states).toMatchObject([
    { state: 'outcome_unknown', attempt: 1, error: { kind: 'ambiguous' }, checks: { ended: true, lastFound: 'no_answer' } },
    { state: 'outcome_unknown', attempt: 3, error: { kind: 'ambiguous' } },
  ])
  expect(told.filter(({ method }) => method === 'POST')).toHaveLength(4)
  isBack = true
  const by = { principal: ana }
  // Nothing was found, and that may change: only a person can say so. What its target knows by its key is sent again under it.
  expect(await gate.engine.gate.verify(pay, by)).toMatchObject({ state: 'outcome_unknown' })
  await gate.engine.gate.verify(keyed, by)
  expect(await shop.passUntil(keyed, ({ state }) => state === 'succeeded')).toMatchObject({ attempt: 4, result: { id: 1 } })
  expect({ paid, done: [...done] }).toEqual({ paid: 0, done: [`${keyed}.1`] })
  expect(await gate.engine.countWaitingJobs()).toBe(0)
})
