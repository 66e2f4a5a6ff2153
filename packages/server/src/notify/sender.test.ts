import { CountersignError } from '@countersign/core'
import { openNetwork } from '@countersign/toolkit'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { type ManualClock, manualClock } from '../../../../verification/testing/manual-clock.ts'
import { startReceiver } from '../../../../verification/testing/receiver.ts'
import { STORES } from '../../../../verification/testing/temp-store.ts'
import { instance, newId, retention, type Store, webhookDeliveries, webhooks } from '../store/index.ts'
import { readPushKey } from './push/push-key.ts'
import { createSender, type SenderOptions } from './sender.ts'
import { drawSecret } from './signature.ts'

const HOUR_MS = 60 * 60_000
const network = openNetwork({ allow: ['127.0.0.1'] })
const pushKey = readPushKey(Buffer.alloc(32, 1), undefined)

/** A sender over a store, driven by the test. */
function openSender(store: Store, clock: ManualClock, more: Partial<SenderOptions> = {}) {
  const work: Promise<unknown>[] = []
  let isAskedAgain = false
  const sender = createSender({
    ...{ store, clock, network, publicUrl: undefined, pushKey, random: () => 0 },
    log: pino({ level: 'silent' }),
    processId: () => 'prc_1',
    background: (begun) => void work.push(begun),
    rearm: () => {
      isAskedAgain = true
    },
    ...more,
  })
  return {
    sender,
    /** Sends until nothing is due. @returns In how many ms the next delivery is due; undefined when nothing waits. */
    async send(): Promise<number | undefined> {
      for (;;) {
        isAskedAgain = false
        const waitMs = await sender.doWhatIsDue(new AbortController().signal)
        await Promise.all(work.splice(0))
        if (!isAskedAgain) return waitMs
      }
    },
  }
}

async function addWebhook(store: Store, url: string, now: number): Promise<string> {
  const id = newId('whk', now)
  const events = '["action.settled"]'
  await store.transact(() =>
    webhooks.insertWebhook.run({ id, url, description: '', events, callbacks: 0, secret: drawSecret(), created_by: 'prn_ana', now }),
  )
  return id
}

const FACTS = { requestedBy: 'prn_ana', proposedAt: 0, expiresAt: null, state: 'succeeded' }

async function addEvent(store: Store, now: number): Promise<string> {
  const id = newId('evt', now)
  const words = JSON.stringify({ headline: 'Do it' })
  await store.transact(() =>
    webhookDeliveries.insertDeliveries.run({ id, type: 'action.settled', action_id: 'act_1', facts: JSON.stringify(FACTS), words, now }),
  )
  return id
}

const listed = (store: Store, webhookId: string) =>
  store.read(() => webhookDeliveries.listDeliveries({ webhookId, state: undefined, before: undefined, limit: 100 }))

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
