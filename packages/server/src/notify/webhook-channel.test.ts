import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { startReceiver } from '../../../../verification/testing/receiver.ts'
import { STORES } from '../../../../verification/testing/temp-store.ts'
import { newId, webhookDeliveries, webhooks } from '../store/index.ts'
import { addEvent, addWebhook, listed, openSender } from './testing/open-sender.ts'

const HOUR_MS = 60 * 60_000

for (const { database, open } of STORES) {
  test(`a receiver that asks for a pause with 429 or 503 is left alone for it, and for a day at most (${database})`, async () => {
    await using temp = await open()
    let asked = ''
    let status = 429
    await using receiver = await startReceiver((response) =>
      response.writeHead(status, { ...(asked !== '' && { 'retry-after': asked }), date: 'Sat, 21 Nov 2026 10:00:00 GMT' }).end(),
    )
    const clock = manualClock()
    const { send } = openSender(temp.store, clock)
    const id = await addWebhook(temp.store, receiver.url, clock.nowMs())
    await addEvent(temp.store, clock.nowMs())
    const cases: [string, number, number][] = [
      ['2', 429, 5_000],
      ['3600', 503, 3_600_000],
      ['Sat, 21 Nov 2026 12:00:00 GMT', 429, 7_200_000],
      ['3153600000', 503, 86_400_000],
      ['Fri, 31 Dec 9999 23:59:59 GMT', 429, 86_400_000],
      // Of another answer the header says nothing about the next request.
      ['86400', 500, 36_000_000],
    ]
    for (const [text, code, waitMs] of cases) {
      asked = text
      status = code
      expect(await send(), text).toBe(waitMs)
      clock.pass(waitMs)
    }
    const before = receiver.events.length
    asked = '3600'
    status = 429
    expect(await send()).toBe(50_400_000)
    expect(receiver.events).toHaveLength(before + 1)
    // Nor is anything else sent there by itself, but an admin's test is.
    const other = await addEvent(temp.store, clock.nowMs())
    expect(await send()).toBe(3_600_000)
    expect(receiver.ids()).not.toContain(other)
    asked = ''
    status = 204
    await temp.store.transact(() =>
      webhookDeliveries.insertTest.run({ webhook_id: id, id: newId('evt', clock.nowMs()), facts: '{}', now: clock.nowMs() }),
    )
    await send()
    expect(receiver.events).toHaveLength(before + 2)
    const next = await addEvent(temp.store, clock.nowMs())
    await send()
    expect(receiver.ids()).toContain(next)
    expect(receiver.ids()).not.toContain(other)
    clock.pass(3_600_000)
    await send()
    expect(receiver.ids()).toContain(other)
  })

  test(`a pause stays although a request that was sent before it is answered with success (${database})`, async () => {
    await using temp = await open()
    const find = () => temp.store.read(() => webhooks.findWebhook.first({ id }))
    const bothSent = Promise.withResolvers<void>()
    await using receiver = await startReceiver(async (response, _event, nth) => {
      if (nth === 2) bothSent.resolve()
      await bothSent.promise
      if (nth === 1) return response.writeHead(429, { 'retry-after': '3600' }).end()
      if (nth === 2) await expect.poll(async () => (await find())?.paused_until).toEqual(expect.any(Number))
      response.writeHead(204).end()
    })
    const clock = manualClock()
    const { send } = openSender(temp.store, clock)
    const id = await addWebhook(temp.store, receiver.url, clock.nowMs())
    for (let nth = 0; nth < 2; nth++) await addEvent(temp.store, clock.nowMs())
    expect(await send()).toBe(HOUR_MS)
    expect((await listed(temp.store, id)).map(({ state }) => state).sort()).toEqual(['delivered', 'waiting'])
    expect((await find())?.paused_until).toBe(clock.nowMs() + HOUR_MS)
    // A test that is sent in the pause shows that it is over.
    await temp.store.transact(() =>
      webhookDeliveries.insertTest.run({ webhook_id: id, id: newId('evt', clock.nowMs()), facts: '{}', now: clock.nowMs() }),
    )
    await send()
    expect((await find())?.paused_until).toBeNull()
  })

  test(`a webhook that failed for five days without a success is disabled, and the record says so (${database})`, async () => {
    await using temp = await open()
    let status = 503
    await using receiver = await startReceiver((response) => response.writeHead(status).end())
    const clock = manualClock()
    const { send } = openSender(temp.store, clock)
    const id = await addWebhook(temp.store, receiver.url, clock.nowMs())
    const find = () => temp.store.read(() => webhooks.findWebhook.first({ id }))
    const tell = async () => {
      await addEvent(temp.store, clock.nowMs())
      await send()
    }
    await tell()
    clock.pass(100 * HOUR_MS)
    status = 204
    await tell()
    expect(await find()).toMatchObject({ failing_since: null, disabled_at: null })
    status = 503
    await tell()
    const since = clock.nowMs()
    clock.pass(5 * 24 * HOUR_MS - 1)
    await tell()
    expect(await find()).toMatchObject({ failing_since: since, disabled_at: null })
    clock.pass(1)
    await tell()
    expect(await find()).toMatchObject({ disabled_at: clock.nowMs(), disabled_why: 'failing' })
    expect(temp.committed.filter(({ isAudited }) => isAudited)).toHaveLength(1)
    expect(await send()).toBeUndefined()
  })

  test(`a webhook that was moved to another address is judged by that one alone (${database})`, async () => {
    await using temp = await open()
    const { store } = temp
    const clock = manualClock()
    await using receiver = await startReceiver()
    let status = 503
    let isMovedMeanwhile = false
    await using old = await startReceiver(async (response) => {
      if (isMovedMeanwhile) await moveTo(receiver.url)
      response.writeHead(status, { 'retry-after': '3600' }).end()
    })
    const { send } = openSender(store, clock)
    const id = await addWebhook(store, old.url, clock.nowMs())
    const find = () => store.read(() => webhooks.findWebhook.first({ id }))
    const moveTo = (url: string) =>
      store.transact(() => webhooks.changeWebhook.run({ id, url, description: '', events: '["action.settled"]', callbacks: 0 }))
    const tell = async () => {
      await addEvent(store, clock.nowMs())
      await send()
    }
    const isAsNew = { failing_since: null, paused_until: null, disabled_at: null }
    await tell()
    expect(await find()).toMatchObject({ failing_since: clock.nowMs() })
    // A change that keeps the address keeps the failures and the pause.
    await moveTo(old.url)
    expect(await find()).toMatchObject({ failing_since: clock.nowMs(), paused_until: expect.any(Number) })
    await moveTo(receiver.url)
    expect(await find()).toMatchObject(isAsNew)
    // The earlier address answers when the webhook has left it.
    isMovedMeanwhile = true
    for (const answer of [503, 410]) {
      status = answer
      await moveTo(old.url)
      await tell()
      expect(await find()).toMatchObject({ ...isAsNew, url: receiver.url })
    }
    clock.pass(24 * HOUR_MS)
    await send()
    expect(receiver.ids()).toEqual(expect.arrayContaining(old.ids()))
    expect((await listed(store, id)).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered'])
  })

  test(`what is under way as its webhook is moved is sent to the new address at once, and with all its attempts (${database})`, async () => {
    await using temp = await open()
    const { store } = temp
    const clock = manualClock()
    await using receiver = await startReceiver()
    let moves = 0
    await using old = await startReceiver(async (response) => {
      moves++
      const to = { id, url: receiver.url, description: '', events: '["action.settled"]', callbacks: 0 }
      await store.transact(() => webhooks.changeWebhook.run(to))
      response.writeHead(503, { 'retry-after': '3600' }).end()
    })
    const { send } = openSender(store, clock)
    const id = await addWebhook(store, old.url, clock.nowMs())
    await addEvent(store, clock.nowMs())
    expect(await send()).toBeUndefined()
    expect([moves, receiver.events.length]).toEqual([1, 1])
    const rows = await listed(store, id)
    expect(rows).toMatchObject([{ state: 'delivered', tries: 0 }])
    expect(JSON.parse(rows[0]?.attempts ?? '').map(({ status }: { status: number }) => status)).toEqual([503, 204])
  })
}
