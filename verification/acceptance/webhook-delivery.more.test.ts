import { expect, test } from 'vitest'
import { freePort } from '../testing/free-port.ts'
import { startReceiver } from '../testing/receiver.ts'
import { stillClock } from '../testing/shifted-clock.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { temporaryFolder } from '../testing/test-server.ts'
import { openWebhookDesk } from '../testing/webhook-helpers.ts'

test('what a receiver missed while it was down reaches it once it is up, under the same id', async () => {
  const port = await freePort()
  await using desk = await openWebhookDesk()
  const webhook = await desk.add({ url: `http://127.0.0.1:${port}/hook` }, ['action.proposed'])
  await desk.propose()
  await expect.poll(async () => (await desk.deliveries(webhook, '?state=waiting'))[0]?.attempts.length).toBeGreaterThan(0)
  const [missed] = await desk.deliveries(webhook)
  // On a slow machine there may be more than one by now.
  for (const attempt of missed?.attempts ?? [])
    expect(attempt).toEqual({
      ...{ at: expect.any(String), durationMs: expect.any(Number), status: null },
      error: 'the connection failed (ECONNREFUSED)',
    })
  const waitMs = Date.parse(missed?.nextAttemptAt ?? '') - Date.parse(missed?.attempts.at(-1)?.at ?? '')
  expect(waitMs).toBeGreaterThanOrEqual(5_000)
  expect((await desk.admin.get(`/api/webhooks/${webhook.id}`)).failingSince).toBe(missed?.attempts[0]?.at)
  await using receiver = await startReceiver(undefined, port)
  await expect.poll(() => receiver.ids()).toEqual([missed?.id])
  await expect.poll(async () => (await desk.deliveries(webhook))[0]?.state).toBe('delivered')
  expect((await desk.admin.get(`/api/webhooks/${webhook.id}`)).failingSince).toBeNull()
})

test('an admin sends again what was answered 500, and what was delivered, under the same id', async () => {
  await using receiver = await startReceiver((response, _event, nth) => response.writeHead(nth === 1 ? 500 : 200).end(`answer ${nth}`))
  // The server would try again by itself after five seconds. On this clock only the admin does.
  await using desk = await openWebhookDesk({ clock: stillClock() })
  const webhook = await desk.add(receiver, ['action.proposed'])
  await desk.propose()
  await expect.poll(async () => (await desk.deliveries(webhook))[0]?.attempts).toHaveLength(1)
  const [failed] = await desk.deliveries(webhook)
  expect(failed).toMatchObject({ state: 'waiting', answer: 'answer 1', attempts: [{ status: 500, error: null }] })
  const again = `/api/webhooks/${webhook.id}/deliveries/${failed?.id}/redeliver`
  for (const [state, nth] of [['delivered', 2] as const, ['delivered', 3] as const]) {
    await desk.admin.post(again)
    await expect.poll(async () => (await desk.deliveries(webhook))[0]).toMatchObject({ state, answer: `answer ${nth}` })
  }
  expect(new Set(receiver.ids())).toEqual(new Set([failed?.id]))
  expect(receiver.ids()).toHaveLength(3)
  expect((await desk.admin.send('POST', `/api/webhooks/${webhook.id}/deliveries/evt_none/redeliver`)).status).toBe(404)
})

test('of an answer of 10 MB only the beginning is read, and of one that never ends, too', async () => {
  await using receiver = await startReceiver((response, _event, nth) => {
    response.writeHead(200)
    if (nth === 1) return response.end('é'.repeat(5 * 1024 * 1024))
    const more = () => {
      while (response.write('x'.repeat(65_536))) if (response.destroyed) return
      response.once('drain', more)
    }
    more()
  })
  await using desk = await openWebhookDesk()
  const webhook = await desk.add(receiver, ['action.proposed'])
  for (const character of ['é', 'x']) {
    await desk.propose()
    await expect.poll(async () => (await desk.deliveries(webhook))[0]).toMatchObject({ state: 'delivered' })
    const answer = (await desk.deliveries(webhook))[0]?.answer ?? ''
    expect([Buffer.byteLength(answer), answer.replaceAll(character, '')]).toEqual([1_024, ''])
  }
})

test('a redirect is not followed, to the credentials of a cloud machine no more than to a neighbour', async () => {
  await using neighbour = await startReceiver()
  const places = ['http://169.254.169.254/latest/meta-data/', neighbour.url]
  await using receiver = await startReceiver((response, _event, nth) => response.writeHead(307, { location: places[nth - 1] }).end('moved'))
  // Time for a second try does not come.
  await using desk = await openWebhookDesk({ clock: stillClock() })
  const webhook = await desk.add(receiver, ['action.proposed'])
  for (const _ of places) {
    await desk.propose()
    await expect.poll(async () => (await desk.deliveries(webhook))[0]).toMatchObject({ attempts: [{ status: 307 }], answer: 'moved' })
  }
  expect(neighbour.events).toEqual([])
})

test('what an address put off goes to the next one at once', async () => {
  await using busy = await startReceiver((response) => response.writeHead(503, { 'retry-after': '3600' }).end())
  await using receiver = await startReceiver()
  await using desk = await openWebhookDesk()
  const webhook = await desk.add(busy, ['action.proposed'])
  for (const what of ['one', 'two']) await desk.propose(what)
  const isPutOff = ({ nextAttemptAt }: { nextAttemptAt: string | null }) => Date.parse(nextAttemptAt ?? '') > Date.now() + 1_800_000
  await expect.poll(async () => (await desk.deliveries(webhook, '?state=waiting')).filter(isPutOff)).toHaveLength(2)
  await desk.admin.send('PATCH', `/api/webhooks/${webhook.id}`, { body: { url: receiver.url } })
  await expect.poll(() => receiver.types()).toHaveLength(2)
  await expect.poll(async () => (await desk.deliveries(webhook)).map(({ state }) => state)).toEqual(['delivered', 'delivered'])
})

test('a receiver that answers 410 is sent to no more, and the record says so', async () => {
  await using receiver = await startReceiver((response) => response.writeHead(410).end())
  await using desk = await openWebhookDesk()
  const webhook = await desk.add(receiver, ['action.proposed', 'action.decided'])
  const action = await desk.propose()
  await expect.poll(() => desk.admin.get(`/api/webhooks/${webhook.id}`)).toMatchObject({ disabledWhy: 'gone' })
  await desk.decide(action)
  await desk.server.settle()
  expect(receiver.types()).toEqual(['action.proposed proposed'])
  expect(await desk.deliveries(webhook)).toMatchObject([{ state: 'failed', nextAttemptAt: null }])
  const { items } = await desk.admin.get('/api/audit?kind=webhook_disabled')
  expect(items).toMatchObject([
    { actor: { kind: 'system' }, data: { webhook: webhook.id, why: 'gone', host: `127.0.0.1:${receiver.port}` } },
  ])
})

test('a receiver that never answers holds up neither decisions nor other receivers', async () => {
  await using silent = await startReceiver(() => undefined)
  await using quick = await startReceiver()
  await using desk = await openWebhookDesk()
  await desk.add(silent)
  const webhook = await desk.add(quick)
  const actions = await Promise.all(Array.from({ length: 10 }, (_, n) => desk.propose(`${n}`)))
  await Promise.all(actions.map((action) => desk.decide(action)))
  // Each action has three events. The silent receiver gets four at a time, each with 15 seconds.
  await expect.poll(() => quick.events.length, { interval: 50 }).toBe(30)
  await expect.poll(async () => (await desk.deliveries(webhook, '?state=delivered')).length, { interval: 50 }).toBe(30)
  await expect.poll(() => silent.events.length).toBeGreaterThanOrEqual(4)
  expect(silent.events.length).toBeLessThan(30)
})

test('a held server sends nothing; once it is accepted, everything goes out once', async () => {
  await using database = await openServerDatabase()
  using folder = temporaryFolder()
  const place = { dataDir: folder.path, environment: database.environment }
  const port = await freePort()
  await using other = await startReceiver((response) => response.writeHead(500).end())
  const before = await openWebhookDesk({ place })
  const webhook = await before.add({ url: `http://127.0.0.1:${port}/hook` }, ['action.proposed'])
  const unwanted = await before.add(other, ['action.proposed'])
  for (const what of ['a', 'b', 'c']) await before.propose(what)
  await expect.poll(async () => (await before.deliveries(unwanted)).filter(({ attempts }) => attempts.length > 0)).toHaveLength(3)
  await expect.poll(async () => (await before.deliveries(webhook)).filter(({ attempts }) => attempts.length > 0)).toHaveLength(3)
  const ids = (await before.deliveries(webhook)).map(({ id }) => id)
  await before[Symbol.asyncDispose]()
  // On a slow machine each was tried more than once before.
  const sent = other.events.length
  expect(sent).toBeGreaterThanOrEqual(3)

  await using receiver = await startReceiver(undefined, port)
  await using copy = await openWebhookDesk({ place, flags: { hold: true } })
  expect(await copy.admin.get('/api/hold')).toMatchObject({ held: true })
  // Waits until every next attempt is due.
  const due = Math.max(...(await copy.deliveries(webhook)).map(({ nextAttemptAt }) => Date.parse(nextAttemptAt ?? '')))
  await expect.poll(() => Date.now(), { interval: 200 }).toBeGreaterThan(due + 1_000)
  const again = `/api/webhooks/${webhook.id}/deliveries/${ids[0]}/redeliver`
  expect((await copy.admin.send('POST', again)).status).toBe(503)
  expect([receiver.events.length, other.events.length]).toEqual([0, sent])
  // Disabled here, because the original still delivers to it.
  expect((await copy.admin.send('PATCH', `/api/webhooks/${unwanted.id}`, { body: { disabled: true } })).status).toBe(200)
  await copy.admin.post('/api/hold/accept')
  await expect.poll(() => receiver.ids().sort()).toEqual(ids.sort())
  expect(other.events).toHaveLength(sent)
})
