import { CountersignError } from '@countersign/core'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { startReceiver } from '../../../../verification/testing/receiver.ts'
import { STORES } from '../../../../verification/testing/temp-store.ts'
import { instance, retention, type Store, webhookDeliveries, webhooks } from '../store/index.ts'
import { drawSecret } from './signature.ts'
import { addEvent, addWebhook, listed, openSender } from './testing/open-sender.ts'

const HOUR_MS = 60 * 60_000

for (const { database, open } of STORES) {
  test(`a delivery is tried ten times over three days and then given up (${database})`, async () => {
    await using temp = await open()
    await using receiver = await startReceiver((response) => response.writeHead(500).end('no'))
    const clock = manualClock()
    const { send } = openSender(temp.store, clock)
    expect(await send()).toBeUndefined()
    const webhookId = await addWebhook(temp.store, receiver.url, clock.nowMs())
    expect(await send()).toBeUndefined()
    await addEvent(temp.store, clock.nowMs())
    const waits: number[] = []
    for (let waitMs = await send(); waitMs !== undefined; waitMs = await send()) {
      waits.push(waitMs)
      clock.pass(waitMs - 1)
      expect(await send()).toBe(1)
      clock.pass(1)
    }
    expect(waits.map((ms) => ms / 1_000)).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400])
    expect(receiver.events).toHaveLength(10)
    expect(new Set(receiver.ids()).size).toBe(1)
    // Each attempt states when it was made: a receiver refuses timestamps older than five minutes.
    expect(new Set(receiver.events.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10)
    const [row] = await listed(temp.store, webhookId)
    expect(row).toMatchObject({ state: 'failed', next_at: null, tries: 10, answer: 'no', ended_at: clock.nowMs() })
    expect(JSON.parse(row?.attempts ?? '')).toHaveLength(10)
  })

  test(`what failed while the clock was years ahead is tried again once the clock is right (${database})`, async () => {
    await using temp = await open()
    let isUp = false
    await using receiver = await startReceiver((response) =>
      isUp ? response.writeHead(204).end() : response.writeHead(503, { 'retry-after': '3600' }).end(),
    )
    const clock = manualClock(Date.UTC(2036, 0, 1))
    const { send } = openSender(temp.store, clock)
    const webhookId = await addWebhook(temp.store, receiver.url, clock.nowMs())
    for (let nth = 0; nth < 2; nth++) await addEvent(temp.store, clock.nowMs())
    expect(await send()).toBe(HOUR_MS)
    isUp = true
    clock.set(Date.UTC(2026, 0, 1))
    expect(await send()).toBeUndefined()
    const rows = await listed(temp.store, webhookId)
    expect(rows.map(({ state }) => state)).toEqual(['delivered', 'delivered'])
    expect(new Set(receiver.ids())).toEqual(new Set(rows.map(({ id }) => id)))
  })

  test(`a delivery that is under way while the clock is set back is sent once (${database})`, async () => {
    await using temp = await open()
    const answers = Promise.withResolvers<void>()
    await using receiver = await startReceiver((response) => answers.promise.then(() => response.writeHead(204).end()))
    const clock = manualClock(Date.UTC(2036, 0, 1))
    const begun: Promise<unknown>[] = []
    const { sender } = openSender(temp.store, clock, { background: (work) => void begun.push(work) })
    const webhookId = await addWebhook(temp.store, receiver.url, clock.nowMs())
    await addEvent(temp.store, clock.nowMs())
    const { signal } = new AbortController()
    await sender.doWhatIsDue(signal)
    await expect.poll(() => receiver.events.length).toBe(1)
    clock.set(Date.UTC(2026, 0, 1))
    await sender.doWhatIsDue(signal)
    expect(begun).toHaveLength(1)
    answers.resolve()
    await Promise.all(begun)
    expect(await listed(temp.store, webhookId)).toMatchObject([{ state: 'delivered' }])
    expect(receiver.events).toHaveLength(1)
  })

  test(`at most four requests at a time go to one webhook (${database})`, async () => {
    await using temp = await open()
    const answers = Promise.withResolvers<void>()
    await using receiver = await startReceiver((response) => answers.promise.then(() => response.writeHead(204).end()))
    const clock = manualClock()
    const begun: Promise<unknown>[] = []
    const { sender } = openSender(temp.store, clock, { background: (work) => void begun.push(work) })
    await addWebhook(temp.store, receiver.url, clock.nowMs())
    for (let nth = 0; nth < 6; nth++) await addEvent(temp.store, clock.nowMs())
    const { signal } = new AbortController()
    for (let nth = 0; nth < 2; nth++) await sender.doWhatIsDue(signal)
    expect(begun).toHaveLength(4)
    await expect.poll(() => receiver.events.length).toBe(4)
    answers.resolve()
    await Promise.all(begun)
    await sender.doWhatIsDue(signal)
    await Promise.all(begun)
    expect(new Set(receiver.ids()).size).toBe(6)
  })

  test(`deliveries whose results could not be stored hold back none of those behind them (${database})`, async () => {
    await using temp = await open()
    const answers = Promise.withResolvers<void>()
    await using receiver = await startReceiver((response) => answers.promise.then(() => response.writeHead(204).end()))
    const clock = manualClock()
    let isFull = false
    const store: Store = {
      ...temp.store,
      transact: (work) => (isFull ? Promise.reject(new CountersignError('storage_full', 'the disk is full')) : temp.store.transact(work)),
    }
    const begun: Promise<unknown>[] = []
    let askedAgain = 0
    const { sender } = openSender(store, clock, { background: (work) => void begun.push(work), rearm: () => askedAgain++ })
    const id = await addWebhook(temp.store, receiver.url, clock.nowMs())
    for (let nth = 0; nth < 5; nth++) await addEvent(temp.store, clock.nowMs())
    const { signal } = new AbortController()
    await sender.doWhatIsDue(signal)
    clock.pass(5_000)
    const waitMs = await sender.doWhatIsDue(signal)
    await expect.poll(() => receiver.events.length).toBe(4)
    isFull = true
    answers.resolve()
    await Promise.all(begun)
    isFull = false
    // Nothing else asks for another look: no result was stored.
    expect(askedAgain).toBe(0)
    expect(waitMs).toBe(5_000)
    clock.pass(waitMs ?? 0)
    await sender.doWhatIsDue(signal)
    await Promise.all(begun)
    expect(new Set(receiver.ids()).size).toBe(5)
    expect((await listed(temp.store, id)).filter(({ state }) => state === 'delivered')).toHaveLength(1)
  })

  test(`of senders that look at the same time one makes each attempt (${database})`, async () => {
    await using temp = await open()
    await using receiver = await startReceiver()
    const clock = manualClock()
    const senders = [1, 2, 3].map((n) => openSender(temp.store, clock, { processId: () => `prc_${n}` }))
    await addWebhook(temp.store, receiver.url, clock.nowMs())
    const ids: string[] = []
    for (let n = 0; n < 40; n++) ids.push(await addEvent(temp.store, clock.nowMs()))
    const sendAll = async () => (await Promise.all(senders.map(({ send }) => send()))).some((waitMs) => waitMs !== undefined)
    while (await sendAll());
    expect(receiver.ids().sort()).toEqual(ids.sort())
  })

  test(`what a process that is gone had claimed is sent by another, at once or when its time is over (${database})`, async () => {
    await using temp = await open()
    let isSilent = true
    await using receiver = await startReceiver((response) => (isSilent ? undefined : response.writeHead(204).end()))
    const clock = manualClock()
    const gone = openSender(temp.store, clock, { processId: () => 'prc_gone' })
    await addWebhook(temp.store, receiver.url, clock.nowMs())
    const id = await addEvent(temp.store, clock.nowMs())
    const late = gone.send()
    await expect.poll(() => receiver.events.length).toBe(1)
    isSilent = false
    const other = openSender(temp.store, clock, { processId: () => 'prc_other' })
    expect(await other.send()).toBe(60_000)
    await other.sender.recover(['prc_somebody'])
    expect(await other.send()).toBe(60_000)
    await other.sender.recover(['prc_gone'])
    expect(await other.send()).toBeUndefined()
    expect(receiver.ids()).toEqual([id, id])
    // It resumes and reports nothing.
    clock.pass(15_000)
    await late
    const rows = await temp.store.read(() => webhooks.listWebhooks.all({}))
    expect(await listed(temp.store, rows[0]?.id ?? '')).toMatchObject([{ state: 'delivered', epoch: 2 }])
  })

  test(`while everything is held no attempt is made (${database})`, async () => {
    await using temp = await open()
    await using receiver = await startReceiver()
    const clock = manualClock()
    const { send } = openSender(temp.store, clock)
    await addWebhook(temp.store, receiver.url, clock.nowMs())
    await addEvent(temp.store, clock.nowMs())
    await temp.store.transact(() => instance.holdInstance.run({ why: 'a copy', now: clock.nowMs() }))
    expect(await send()).toBe(5_000)
    expect(receiver.events).toEqual([])
  })

  test(`what comes back for an action that was redacted meanwhile is not kept (${database})`, async () => {
    await using temp = await open()
    const { store } = temp
    await using receiver = await startReceiver(async (response, { text }) => {
      await store.transact(() => webhookDeliveries.blankDeliveries.run({ action_id: 'act_1' }))
      response.writeHead(500).end(text)
    })
    const clock = manualClock()
    const { send } = openSender(store, clock)
    const id = await addWebhook(store, receiver.url, clock.nowMs())
    await addEvent(store, clock.nowMs())
    expect(await send()).toBe(5_000)
    expect(receiver.events[0]?.text).toContain('Do it')
    expect(await listed(store, id)).toMatchObject([{ answer: null, words: null, redacted: 1, tries: 1, state: 'waiting' }])
  })

  test(`what came of an attempt is in the log although its delivery was given up meanwhile, and it is not sent again (${database})`, async () => {
    await using temp = await open()
    const { store } = temp
    const clock = manualClock()
    let status = 204
    await using receiver = await startReceiver(async (response) => {
      await store.transact(() => webhookDeliveries.endWaiting.run({ webhook_id: id, now: clock.nowMs() }))
      response.writeHead(status).end('read')
    })
    const { send } = openSender(store, clock)
    const id = await addWebhook(store, receiver.url, clock.nowMs())
    await addEvent(store, clock.nowMs())
    expect(await send()).toBeUndefined()
    status = 500
    await addEvent(store, clock.nowMs())
    expect(await send()).toBeUndefined()
    const rows = await listed(store, id)
    expect(rows.map(({ state, next_at, attempts }) => [state, next_at, JSON.parse(attempts)[0]?.status]).sort()).toEqual([
      ['delivered', null, 204],
      ['failed', null, 500],
    ])
    expect(receiver.events).toHaveLength(2)
  })

  test(`old deliveries are deleted, waiting ones never, and secrets that have stopped signing are forgotten (${database})`, async () => {
    await using temp = await open()
    await using receiver = await startReceiver((response, _event, nth) => response.writeHead(nth === 1 ? 204 : 500).end())
    const clock = manualClock()
    const { send } = openSender(temp.store, clock)
    const id = await addWebhook(temp.store, receiver.url, clock.nowMs())
    await addEvent(temp.store, clock.nowMs())
    await send()
    await addEvent(temp.store, clock.nowMs())
    await send()
    await temp.store.transact(() =>
      webhooks.insertEarlierSecret.run({ webhook_id: id, secret: drawSecret(), until: clock.nowMs() + HOUR_MS }),
    )
    clock.pass(30 * 24 * HOUR_MS)
    expect(await temp.store.transact(() => retention.deleteDeliveries(clock.nowMs()))).toEqual({ deleted: 0, isFull: false })
    clock.pass(1)
    expect(await temp.store.transact(() => retention.deleteDeliveries(clock.nowMs()))).toEqual({ deleted: 1, isFull: false })
    expect(await listed(temp.store, id)).toMatchObject([{ state: 'waiting' }])
    expect(await temp.store.read(() => webhooks.earlierSecrets.all({ id, now: 0 }))).toEqual([])
  })
}
