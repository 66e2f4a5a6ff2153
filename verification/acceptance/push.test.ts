import type { Action } from '@countersign/core'
import { openNetwork } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { openBeside, pushSubscriptions, retention } from '../../packages/server/src/store/index.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { expireWaiting } from '../testing/end-deadline.ts'
import { atConsole, openDesk, subscribe } from '../testing/push-desk.ts'
import { startPushService } from '../testing/push-service.ts'
import { signInWithKey } from '../testing/sign-in.ts'

const DAY_MS = 24 * 3_600_000

test('whoever may decide is notified with the tool and its risk alone, and a decision elsewhere withdraws it', async () => {
  await using service = await startPushService()
  await using desk = await openDesk()
  const [ana, bo, vera] = await Promise.all([
    atConsole(desk.server, 'Ana'),
    atConsole(desk.server, 'Bo'),
    atConsole(desk.server, 'Vera', ['viewer']),
  ])
  const [at, other, viewer] = await Promise.all([subscribe(ana, service), subscribe(bo, service), subscribe(vera, service)])
  const action = await desk.propose('a secret of 4111-1111')
  await expect.poll(() => service.messages.length).toBe(2)
  const [message] = service.messages
  expect(message?.data).toEqual({
    show: { tag: action.id, title: 'Keyed', body: 'Medium risk · waits for your decision', url: `/actions/${action.id}` },
  })
  expect(message?.headers).toMatchObject({
    'content-encoding': 'aes128gcm',
    ttl: '86400',
    urgency: 'high',
    topic: action.id,
    authorization: expect.stringMatching(/^vapid t=/),
  })
  await bo.post(`/api/actions/${action.id}/decision`, { verdict: 'decline' })
  await expect.poll(() => service.said().length).toBe(4)
  for (const { endpoint } of [at, other]) expect(service.said(endpoint)).toEqual(['show Keyed', 'withdraw'])
  expect(service.said(viewer.endpoint)).toEqual([])
})

test('Safari, which ends a subscription after messages that show nothing, is sent none of these, and what waits again is shown again', async () => {
  await using service = await startPushService()
  const network = openNetwork({ allow: ['127.0.0.1'], resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  await using desk = await openDesk({}, network)
  const [ana, bo] = await Promise.all([atConsole(desk.server, 'Ana'), atConsole(desk.server, 'Bo')])
  await Promise.all([subscribe(ana, service), subscribe(bo, service)])
  const store = await openBeside(desk.server.database)
  const safari = service.subscribe()
  const endpoint = safari.endpoint.replace('127.0.0.1', 'web.push.apple.com')
  await store.transact(function* () {
    const [row] = yield* pushSubscriptions.subscriptionsOf.all({ principal_id: ana.id })
    const { id = '', console_session_id: session_id = '' } = row ?? {}
    yield* pushSubscriptions.deleteSubscription.run({ id })
    yield* pushSubscriptions.insertSubscription.run({ id, session_id, endpoint, ...safari.keys, now: Date.now() })
  })
  await store.close()
  const action = await desk.propose()
  await expect.poll(() => service.said(endpoint)).toEqual(['show Keyed'])
  const snoozed = { for: 'PT1H' }
  for (const who of [ana, bo]) await who.post(`/api/actions/${action.id}/snooze`, snoozed)
  await expect.poll(() => service.said().filter((said) => said === 'withdraw').length).toBe(1)
  await desk.server.settle()
  expect(service.said(endpoint)).toEqual(['show Keyed'])
  for (const who of [ana, bo]) await who.send('DELETE', `/api/actions/${action.id}/snooze`)
  await expect.poll(() => service.said(endpoint)).toEqual(['show Keyed', 'show Keyed'])
  await bo.post(`/api/actions/${action.id}/decision`, { verdict: 'decline' })
  await expect.poll(() => service.said().filter((said) => said === 'withdraw').length).toBe(2)
  await desk.server.settle()
  expect(service.said(endpoint)).toEqual(['show Keyed', 'show Keyed'])
  // It has to show a message also while the person looks at the console.
  const toSafari = service.messages.filter(({ path }) => endpoint.endsWith(path))
  for (const { data } of toSafari) expect(data).toMatchObject({ show: { tag: action.id, always: true } })
})

test('a phone that is offline when an action expires has a day to learn that, and its notification goes', async () => {
  await using service = await startPushService()
  await using desk = await openDesk()
  await subscribe(await atConsole(desk.server, 'Ana'), service)
  const { id } = await desk.propose()
  await expect.poll(() => service.messages.length).toBe(1)
  await expireWaiting(desk.server)
  const withdrawals = () => service.messages.filter(({ data }) => data.withdraw?.tag === id)
  await expect.poll(() => withdrawals().length).toBe(1)
  expect(withdrawals()[0]?.headers.ttl).toBe('86400')
})

test('a notification of an action that waits for longer than deliveries are kept is shown once and withdrawn at its end', async () => {
  await using service = await startPushService()
  await using desk = await openDesk()
  const ana = await atConsole(desk.server, 'Ana')
  await subscribe(ana, service)
  const action = await desk.propose()
  const rowsOf = async () => ((await desk.server.dump()).webhook_delivery ?? []) as { type: string; state: string }[]
  const allDelivered = async (type: string) => {
    await expect.poll(async () => (await rowsOf()).some((row) => row.type === type)).toBe(true)
    await expect.poll(async () => (await rowsOf()).every(({ state }) => state === 'delivered')).toBe(true)
  }
  const store = await openBeside(desk.server.database)
  const deleteDeliveries = () => store.transact(() => retention.deleteDeliveries(Date.now() + 31 * DAY_MS))
  await allDelivered('push.show')
  await deleteDeliveries()
  // It waits for the same people as before.
  await ana.post(`/api/actions/${action.id}/assign`, { to: { person: ana.id } })
  await ana.post(`/api/actions/${action.id}/decision`, { verdict: 'decline' })
  await allDelivered('push.withdraw')
  expect(service.said()).toEqual(['show Keyed', 'withdraw'])
  await deleteDeliveries()
  expect(await rowsOf()).toEqual([])
  await store.close()
})

test('a vote withdraws one’s own notification and leaves that of others, and what is asked again is shown again', async () => {
  await using service = await startPushService()
  await using desk = await openDesk()
  const [ana, bo] = await Promise.all([atConsole(desk.server, 'Ana'), atConsole(desk.server, 'Bo')])
  const [at, other] = await Promise.all([subscribe(ana, service), subscribe(bo, service)])
  const action = await desk.propose('x', 'unkeyed')
  await expect.poll(() => service.messages.length).toBe(2)
  await ana.post(`/api/actions/${action.id}/decision`, { verdict: 'approve' })
  await expect.poll(() => service.said(at.endpoint)).toEqual(['show Unkeyed', 'withdraw'])
  expect(service.said(other.endpoint)).toEqual(['show Unkeyed'])
  await bo.post(`/api/actions/${action.id}/decision`, { verdict: 'approve', arguments: { what: 'y' } })
  await expect.poll(() => service.said(at.endpoint)).toEqual(['show Unkeyed', 'withdraw', 'show Unkeyed'])
})

test('when an action is overdue, those are reminded whom it waits for; of one that is assigned, the assignee alone', async () => {
  await using service = await startPushService()
  await using desk = await openDesk()
  const [ana, bo] = await Promise.all([atConsole(desk.server, 'Ana'), atConsole(desk.server, 'Bo')])
  const [at, other] = await Promise.all([subscribe(ana, service), subscribe(bo, service)])
  const bodiesOf = (endpoint: string, id: string): string[] =>
    service.messages.flatMap(({ path, data: { show } }) => {
      const isOf = endpoint.endsWith(path) && show?.tag === id
      return isOf ? [`${show.body}${show.again ? ', calls again' : ''}`] : []
    })
  const waits = 'Medium risk · waits for your decision'
  const overdue = 'overdue, calls again'
  let tries = 0
  let told: string[][]
  // A slow machine may be too late to send the first message before the action is overdue; then only the second one is sent.
  do {
    const { id } = await desk.propose(`soon ${++tries}`, 'unkeyed')
    const toEach = () => [at, other].map(({ endpoint }) => bodiesOf(endpoint, id))
    await expect.poll(() => toEach().map((bodies) => bodies.at(-1))).toEqual([`${waits} · ${overdue}`, `${waits} · ${overdue}`])
    told = toEach()
  } while (told.some((bodies) => bodies.length === 1))
  expect(told).toEqual([
    [waits, `${waits} · ${overdue}`],
    [waits, `${waits} · ${overdue}`],
  ])
  // It may also be too late to assign it, and below to snooze it.
  let assigned: Action
  do {
    const { id } = await desk.propose(`soon ${++tries}`, 'unkeyed')
    assigned = await ana.post(`/api/actions/${id}/assign`, { to: { person: bo.id } })
  } while (assigned.overdue)
  await expect.poll(() => bodiesOf(other.endpoint, assigned.id).at(-1)).toBe(`Medium risk · assigned to you · ${overdue}`)
  await desk.server.settle()
  expect(bodiesOf(at.endpoint, assigned.id).filter((body) => body.includes('overdue'))).toEqual([])
  // Whoever snoozed an action is reminded by its return, not by its delay.
  let snoozed: Action
  do {
    const { id } = await desk.propose(`soon, but snoozed ${++tries}`, 'unkeyed')
    await Promise.all([ana, bo].map((who) => who.post(`/api/actions/${id}/snooze`, { for: 'PT1H' })))
    snoozed = await ana.get(`/api/actions/${id}`)
  } while (snoozed.overdue)
  await expect.poll(async () => (await ana.get(`/api/actions/${snoozed.id}`)).overdue).toBe(true)
  await desk.server.settle()
  for (const { endpoint } of [at, other]) expect(bodiesOf(endpoint, snoozed.id).join()).not.toContain('overdue')
})

test('only a console that is signed in subscribes, at a push service, and for its own person', async () => {
  await using service = await startPushService()
  await using desk = await openDesk()
  const { server } = desk
  const ana = await atConsole(server, 'Ana')
  const bo = await atConsole(server, 'Bo')
  const subscription = service.subscribe()
  const post = async (by: ApiClient, body: object) => (await by.send('POST', '/api/push-subscriptions', { body })).status
  // A key leaves a subscription behind when it is revoked; an agent is nobody to notify.
  expect(await post(server.with({ authorization: `Bearer ${ana.key}` }), subscription)).toBe(403)
  const agent = await server.as({ name: 'Other', kind: 'agent' })
  expect((await agent.send('GET', '/api/push-subscriptions')).status).toBe(403)
  for (const endpoint of [
    'https://169.254.169.254/latest',
    'https://10.0.0.1/push',
    'http://fcm.googleapis.com/x',
    'https://hooks.example.com/x',
    'https://fcm.googleapis.com.example.com/x',
    'https://user:pw@fcm.googleapis.com/x',
    'file:///etc/passwd',
  ]) {
    expect(await post(ana, { ...subscription, endpoint }), endpoint).toBe(400)
  }
  const keys = { ...subscription.keys, p256dh: Buffer.alloc(65, 4).toString('base64url') }
  expect(await post(ana, { ...subscription, keys })).toBe(422)
  const { id } = await ana.post('/api/push-subscriptions', subscription)
  expect(await bo.send('DELETE', `/api/push-subscriptions/${id}`).then(({ status }) => status)).toBe(404)
  expect((await ana.post('/api/push-subscriptions', subscription)).id).toBe(id)
  const { items, publicKey } = await ana.get('/api/push-subscriptions')
  expect(Buffer.from(publicKey, 'base64url')).toHaveLength(65)
  expect(items).toEqual([{ id, service: `127.0.0.1:${service.port}`, isCurrent: true, createdAt: expect.any(String) }])
  // The address works like a password.
  expect(JSON.stringify(items)).not.toContain(subscription.endpoint)
  for (let n = 0; n < 11; n++) await subscribe(ana, service)
  expect((await ana.get('/api/push-subscriptions')).items).toHaveLength(10)
  // A browser notifies the person who subscribed it last.
  const last = service.subscribe()
  await ana.post('/api/push-subscriptions', last)
  await bo.post('/api/push-subscriptions', last)
  expect((await ana.get('/api/push-subscriptions')).items).toHaveLength(9)
})

test('a subscription ends with its sign-in, its key and its person, and when the push service says that it has ended', async () => {
  let status = 201
  await using service = await startPushService((response) => response.writeHead(status).end())
  await using desk = await openDesk()
  const { server } = desk
  const subscribed = async () => (await server.dump()).push_subscription?.length ?? 0
  const ana = await atConsole(server, 'Ana')
  await subscribe(ana, service)
  await ana.post('/api/sign-out', {})
  expect(await subscribed()).toBe(0)
  const bo = await atConsole(server, 'Bo')
  await subscribe(bo, service)
  const phone = server.with({ ...(await signInWithKey(server.url, bo.key)), origin: server.url })
  await subscribe(phone, service)
  await phone.send('DELETE', '/api/console-sessions')
  expect(await subscribed()).toBe(1)
  await phone.post('/api/sign-out', { everywhere: true })
  expect(await subscribed()).toBe(0)
  const cleo = await atConsole(server, 'Cleo')
  await subscribe(cleo, service)
  await server.admin.post(`/api/people/${cleo.id}/disable`, {})
  expect(await subscribed()).toBe(0)
  // A thief who signed in with a stolen key hears nothing after it was revoked.
  const dora = await atConsole(server, 'Dora')
  const revoked = await subscribe(dora, service)
  await server.admin.send('DELETE', `/api/keys/${dora.keyId}`)
  await desk.propose('first')
  await server.settle()
  const eve = await atConsole(server, 'Eve')
  await subscribe(eve, service)
  status = 410
  await desk.propose('second')
  await expect.poll(subscribed).toBe(1)
  expect(service.said(revoked.endpoint)).toEqual([])
})

test('a browser that was signed in with a key for some roles is notified of what the key may decide, and of nothing more', async () => {
  await using service = await startPushService()
  await using desk = await openDesk()
  const { server } = desk
  const ana = await atConsole(server, 'Ana', ['approver', 'audit', 'finance'])
  const auditor = await atConsole(server, 'Auditor', ['approver', 'audit'], ana.id)
  const approver = await atConsole(server, 'Approver', ['approver'], ana.id)
  const [all, most, some] = [await subscribe(ana, service), await subscribe(auditor, service), await subscribe(approver, service)]
  const bodiesAt = ({ endpoint }: { endpoint: string }, { id }: Action): string[] =>
    service.messages.flatMap(({ path, data: { show } }) => (endpoint.endsWith(path) && show?.tag === id ? [show.body] : []))
  const small = await desk.propose('x')
  const money = await desk.propose('money')
  const waits = 'Medium risk · waits for your decision'
  await expect.poll(() => [all, most].map((at) => bodiesAt(at, money))).toEqual([[waits], [waits]])
  await expect.poll(() => bodiesAt(some, small)).toEqual([waits])
  await server.admin.post(`/api/actions/${money.id}/assign`, { to: { role: 'finance' } })
  await expect.poll(() => bodiesAt(all, money)).toEqual([waits, 'Medium risk · assigned to you'])
  await server.settle()
  expect([most, some].map((at) => bodiesAt(at, money))).toEqual([[waits], []])
})

test('saved views are a person’s own, and a change of them leaves the quiet hours', async () => {
  await using desk = await openDesk()
  const [ana, bo] = await Promise.all([atConsole(desk.server, 'Ana'), atConsole(desk.server, 'Bo')])
  const quietHours = { from: '22:00', to: '07:00', timeZone: 'UTC' }
  const views = [{ page: 'inbox', name: 'Refunds', query: 'q=tool%3Arefund&view=waiting' }]
  await ana.send('PATCH', '/api/preferences', { body: { quietHours } })
  await ana.send('PATCH', '/api/preferences', { body: { views } })
  expect(await ana.get('/api/preferences')).toEqual({ quietHours, undoTime: null, density: 'comfortable', views })
  expect(await bo.get('/api/preferences')).toEqual({ quietHours: null, undoTime: null, density: 'comfortable', views: [] })
  for (const wrong of [{ name: ' ' }, { page: 'else' }, { query: '' }, { more: 1 }]) {
    const { status } = await ana.send('PATCH', '/api/preferences', { body: { views: [{ ...views[0], ...wrong }] } })
    expect(status, JSON.stringify(wrong)).toBe(400)
  }
})
