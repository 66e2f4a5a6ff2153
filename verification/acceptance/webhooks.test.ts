import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Webhook as Verifier } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { type ReceivedEvent, startReceiver } from '../testing/receiver.ts'
import { stillClock } from '../testing/shifted-clock.ts'
import { startTarget, type TargetAnswer, toolsOf } from '../testing/target.ts'
import { openWebhookDesk } from '../testing/webhook-helpers.ts'

/** Verifies an event with another project's verifier, which throws if the signature is wrong. */
const verified = (secret: string, { text, headers }: ReceivedEvent) => new Verifier(secret).verify(text, headers as Record<string, string>)

test('an action that waits, is decided and settles is told of in signed events that another program verifies', async () => {
  await using receiver = await startReceiver()
  await using desk = await openWebhookDesk({ environment: { COUNTERSIGN_PUBLIC_URL: 'https://approvals.example.com' } })
  const webhook = await desk.add(receiver)
  expect(webhook.secret).toMatch(/^whsec_[\w+/]{43}=$/)
  const action = await desk.propose('the thing')
  await desk.decide(action, 'approve', 'checked it')
  await expect
    .poll(() => receiver.types().sort())
    .toEqual(['action.decided approved', 'action.proposed proposed', 'action.settled succeeded'])
  for (const event of receiver.events) expect(verified(webhook.secret, event)).toEqual(event.body)
  expect(() => verified(`whsec_${Buffer.alloc(32).toString('base64')}`, receiver.events[0] as ReceivedEvent)).toThrow('No matching')

  const ofType = (type: string) => receiver.events.find(({ body }) => body.type === type)
  const me = { id: action.requestedBy.id, name: action.requestedBy.name }
  expect(ofType('action.decided')?.body).toEqual({
    type: 'action.decided',
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: {
      actionId: action.id,
      sessionId: null,
      state: 'approved',
      revision: 1,
      digest: action.digest,
      tool: 'keyed',
      effect: 'write',
      risk: action.risk.level,
      agent: null,
      attempt: 0,
      headline: 'Do the thing',
      requestedBy: me,
      proposedAt: action.createdAt,
      expiresAt: null,
      decision: { by: me, for: null, verdict: 'approve', reason: 'checked it' },
      url: `https://approvals.example.com/actions/${action.id}`,
    },
  })
  expect(new Set(receiver.ids()).size).toBe(3)
  for (const { headers } of receiver.events) {
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': expect.stringMatching(/^evt_\w+$/) })
  }
  // The answer of the receiver is stored after it came.
  await expect.poll(async () => (await desk.deliveries(webhook, '?state=delivered')).length).toBe(3)
  const log = await desk.deliveries(webhook, '?state=delivered')
  expect(
    log.map(({ id, state, actionId, answer, nextAttemptAt, attempts }) => ({ id, state, actionId, answer, nextAttemptAt, attempts })),
  ).toEqual(
    receiver
      .ids()
      .sort()
      .reverse()
      .map((id) => ({
        id,
        state: 'delivered',
        actionId: action.id,
        answer: '',
        nextAttemptAt: null,
        attempts: [{ at: expect.any(String), durationMs: expect.any(Number), status: 204, error: null }],
      })),
  )
})

test('declined, expired, failed and unknown outcomes are told of; what nobody was asked about only by how it ends', async () => {
  await using receiver = await startReceiver()
  let answer: TargetAnswer = { status: 422, body: {} }
  await using desk = await openWebhookDesk({ answer: () => answer })
  const webhook = await desk.add(receiver)
  const declined = await desk.propose('a')
  await desk.decide(declined, 'decline', 'not now')
  await expect
    .poll(() => receiver.types().sort())
    .toEqual(['action.decided declined', 'action.proposed proposed', 'action.settled declined'])
  await desk.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'b' }, expiresIn: 'PT1S' })
  await expect.poll(() => receiver.types()).toContain('action.settled expired')
  await desk.decide(await desk.propose('c'))
  await expect.poll(() => receiver.types()).toContain('action.settled failed')
  answer = 'reset'
  await desk.decide(await desk.propose('d', 'unkeyed'))
  await expect.poll(() => receiver.types()).toContain('action.outcome_unknown outcome_unknown')
  // Deliveries overtake each other: that of the decision may still be on its way.
  await expect.poll(() => desk.deliveries(webhook, '?state=waiting')).toEqual([])
  const before = receiver.events.length
  // A read that policy allows.
  await desk.propose('e', 'look')
  await desk.server.settle()
  await desk.admin.post(`/api/actions/${(await desk.propose('f')).id}/withdraw`, {})
  await expect.poll(() => receiver.types().slice(before).sort()).toEqual(['action.proposed proposed', 'action.settled cancelled'])
})

test('an action that nobody decided in time is told of once', async () => {
  await using receiver = await startReceiver()
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const policy = { rules: [{ name: 'ask in time', match: { effect: 'write' as const }, verdict: 'ask' as const, remind: 'PT1S' }] }
  await using desk = await openWebhookDesk({ config: { tools: toolsOf(target), network: { allow: ['127.0.0.1'] }, policy } })
  const webhook = await desk.add(receiver, ['action.overdue'])
  const action = await desk.propose('wait for me')
  await expect.poll(() => receiver.types()).toEqual(['action.overdue proposed'])
  expect(receiver.events[0]?.body.data).toMatchObject({ actionId: action.id, headline: 'Do wait for me', url: null })
  await desk.server.restart()
  await desk.server.admin.post(`/api/actions/${action.id}/decision`, { verdict: 'approve' })
  await desk.server.settle()
  expect(receiver.types()).toEqual(['action.overdue proposed'])
  expect((await desk.server.admin.get(`/api/webhooks/${webhook.id}/deliveries`)).items).toHaveLength(1)
})

test('a webhook hears of nothing before it was added, of nothing while it is disabled, and only of its events', async () => {
  await using receiver = await startReceiver()
  await using desk = await openWebhookDesk()
  await desk.propose('before')
  const webhook = await desk.add(receiver, ['action.proposed'])
  const heard = () => receiver.events.map(({ body }) => body.data.headline)
  await desk.decide(await desk.propose('one'))
  // It has to be settled by the time the webhook is told of such events, too.
  await desk.server.settle()
  await expect.poll(heard).toEqual(['Do one'])
  const off = await desk.admin.send('PATCH', `/api/webhooks/${webhook.id}`, { body: { disabled: true } })
  expect(off.body).toMatchObject({ disabledWhy: 'admin', disabledAt: expect.any(String) })
  expect((await desk.admin.send('POST', `/api/webhooks/${webhook.id}/test`)).status).toBe(400)
  await desk.propose('two')
  await desk.admin.send('PATCH', `/api/webhooks/${webhook.id}`, {
    body: { disabled: false, events: ['action.proposed', 'action.settled'] },
  })
  await desk.propose('three')
  await expect.poll(heard).toEqual(['Do one', 'Do three'])
  await desk.admin.send('DELETE', `/api/webhooks/${webhook.id}`)
  await desk.propose('four')
  await desk.server.settle()
  expect(heard()).toEqual(['Do one', 'Do three'])
  expect((await desk.admin.send('GET', `/api/webhooks/${webhook.id}/deliveries`)).status).toBe(404)
  expect(await desk.admin.get('/api/webhooks')).toEqual({ items: [], nextCursor: null })
  const kinds = (await desk.admin.get('/api/audit')).items.map(({ kind }: { kind: string }) => kind)
  expect(kinds.filter((kind: string) => kind.startsWith('webhook')).reverse()).toEqual([
    'webhook_made',
    'webhook_changed',
    'webhook_changed',
    'webhook_deleted',
  ])
})

test('after a rotation both secrets sign, then the new one alone; a secret is in the answer that made it and nowhere else', async () => {
  await using receiver = await startReceiver()
  await using desk = await openWebhookDesk()
  const made = await desk.add(receiver)
  const header = { 'idempotency-key': 'rotate-once' }
  const rotated = await desk.admin.post(`/api/webhooks/${made.id}/rotate`, { overlap: 'PT1H' }, header)
  expect(rotated.secret).not.toBe(made.secret)
  expect(await desk.admin.post(`/api/webhooks/${made.id}/rotate`, { overlap: 'PT1H' }, header)).toMatchObject({ secret: null })
  await desk.admin.post(`/api/webhooks/${made.id}/test`)
  await expect.poll(() => receiver.types()).toEqual(['webhook.test'])
  const [event] = receiver.events as [ReceivedEvent]
  for (const { secret } of [made, rotated]) expect(verified(secret, event)).toEqual({ ...event.body, data: { webhookId: made.id } })

  const { secret: last } = await desk.admin.post(`/api/webhooks/${made.id}/rotate`, { overlap: 'PT0S' })
  expect((await desk.admin.get(`/api/webhooks/${made.id}`)).earlierSecretUntil).toBeNull()
  await desk.admin.post(`/api/webhooks/${made.id}/test`)
  await expect.poll(() => receiver.types()).toHaveLength(2)
  const [, second] = receiver.events as [ReceivedEvent, ReceivedEvent]
  expect(verified(last, second)).toEqual(second.body)
  for (const { secret } of [made, rotated]) expect(() => verified(secret, second)).toThrow('No matching')

  const { webhook: _, webhook_earlier_secret: __, ...tables } = await desk.server.dump()
  const answers = [await desk.admin.get('/api/webhooks'), await desk.admin.get(`/api/webhooks/${made.id}`), await desk.deliveries(made)]
  const all = JSON.stringify([tables, answers, desk.server.errors, (await desk.admin.send('GET', '/api/audit/export')).text])
  for (const { secret } of [made, rotated, { secret: last }]) expect(all).not.toContain(secret.slice('whsec_'.length))
})

test('every secret whose overlap runs signs, four earlier ones at most, and only until its own time', async () => {
  await using receiver = await startReceiver()
  await using desk = await openWebhookDesk()
  const { id, secret } = await desk.add(receiver)
  const rotate = (overlap: string) => desk.admin.send('POST', `/api/webhooks/${id}/rotate`, { body: { overlap } })
  const secrets = [secret]
  for (const overlap of ['PT3H', 'PT2H', 'PT1S', 'PT4H']) secrets.push((await rotate(overlap)).body.secret)
  const sendTest = async () => {
    const before = receiver.events.length
    await desk.admin.post(`/api/webhooks/${id}/test`)
    await expect.poll(() => receiver.events.length).toBe(before + 1)
    const event = receiver.events[before] as ReceivedEvent
    const signs = (one: string) => {
      try {
        return verified(one, event) !== undefined
      } catch {
        return false
      }
    }
    return secrets.map(signs)
  }
  await expect.poll(sendTest).toEqual([true, true, false, true, true])
  secrets.push((await rotate('PT1H')).body.secret)
  const full = await rotate('PT1H')
  expect(full).toMatchObject({ status: 400, body: { code: 'bad_request' } })
  expect(full.body.detail).toMatch(
    /^4 earlier secrets of this webhook still sign: rotate it after \d{4}-.*Z, or with the overlap PT0S, which/,
  )
  expect(await sendTest()).toEqual([true, true, false, true, true, true])
  expect(receiver.events.at(-1)?.headers['webhook-signature']?.toString().split(' ')).toHaveLength(5)
  const { earlierSecretUntil } = await desk.admin.get(`/api/webhooks/${id}`)
  expect(Date.parse(earlierSecretUntil) - Date.now()).toBeGreaterThan(3 * 60 * 60_000)
  secrets.push((await rotate('PT0S')).body.secret)
  expect(await sendTest()).toEqual([false, false, false, false, false, false, true])
  await desk.admin.send('DELETE', `/api/webhooks/${id}`)
  expect((await desk.server.dump()).webhook_earlier_secret).toEqual([])
})

test('arguments, previews, results and errors go out in no event, and what is redacted is redacted there too', async () => {
  await using receiver = await startReceiver((response, { text }) => response.writeHead(500).end(text))
  const answer = () => ({ status: 200, body: { id: 1, token: 'in-the-result' } })
  // Time for a try that nobody asks for does not come.
  await using desk = await openWebhookDesk({ answer, clock: stillClock() })
  const webhook = await desk.add(receiver)
  const action = await desk.propose('secret-in-words')
  await desk.decide(action, 'approve', 'secret-in-reason')
  await expect.poll(async () => (await desk.deliveries(webhook)).filter(({ attempts }) => attempts.length > 0)).toHaveLength(3)
  const sent = receiver.events.map(({ text }) => text).join()
  for (const text of ['"arguments"', '"preview"', '"result"', 'in-the-result', '"what"']) expect(sent).not.toContain(text)
  expect(JSON.stringify((await desk.server.dump()).webhook_delivery)).toContain('secret-in-words')

  await desk.admin.post(`/api/actions/${action.id}/redact`, { reason: 'personal' })
  await desk.server.settle()
  const left = JSON.stringify((await desk.server.dump()).webhook_delivery)
  for (const text of ['secret-in-words', 'secret-in-reason']) expect(left).not.toContain(text)
  const before = receiver.events.length
  const [delivery] = await desk.deliveries(webhook)
  await desk.admin.post(`/api/webhooks/${webhook.id}/deliveries/${delivery?.id}/redeliver`)
  await expect.poll(() => receiver.events.length).toBeGreaterThan(before)
  for (const { body, text } of receiver.events.slice(before)) {
    expect(body.data).toMatchObject({ actionId: action.id, headline: 'Redacted', redacted: true })
    expect(text).not.toContain('secret-in')
  }
})

test('only admins have to do with webhooks: everybody else is told 403, and nothing changes', async () => {
  await using receiver = await startReceiver()
  await using desk = await openWebhookDesk()
  const { id } = await desk.add(receiver)
  const before = await desk.server.dump()
  const others = [
    await desk.server.as({ name: 'Ann', kind: 'person', roles: ['approver', 'viewer'] }),
    await desk.server.as({ name: 'bot', kind: 'agent', roles: [] }),
  ]
  const tries: [string, string, object?][] = [
    ['GET', '/api/webhooks'],
    ['POST', '/api/webhooks', { url: receiver.url, events: ['action.settled'] }],
    ...['/api/webhooks/none', `/api/webhooks/${id}`].flatMap((path): [string, string, object?][] => [
      ['GET', path],
      ['PATCH', path, { disabled: true }],
      ['DELETE', path],
      ['POST', `${path}/rotate`, {}],
      ['POST', `${path}/test`],
      ['GET', `${path}/deliveries`],
      ['POST', `${path}/deliveries/evt_x/redeliver`],
    ]),
  ]
  for (const other of others) {
    for (const [method, path, body] of tries) {
      expect((await other.send(method, path, body && { body })).status, `${method} ${path}`).toBe(403)
    }
  }
  const { webhook, webhook_delivery } = await desk.server.dump()
  expect({ webhook, webhook_delivery }).toEqual({ webhook: before.webhook, webhook_delivery: before.webhook_delivery })
})

test('there are at most fifty webhooks, and a deleted one makes room', async () => {
  await using desk = await openWebhookDesk()
  const body = { url: 'https://hooks.example.com/x', events: ['action.settled'] }
  const add = () => desk.admin.send('POST', '/api/webhooks', { body })
  const made = await Promise.all(Array.from({ length: 50 }, add))
  expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]))
  expect(await add()).toMatchObject({ status: 400, body: { detail: expect.stringContaining('delete one first') } })
  await desk.admin.send('DELETE', `/api/webhooks/${made[0]?.body.id}`)
  expect((await add()).status).toBe(201)
})

test('a webhook has to be https, or http on this machine where the configuration allows that', async () => {
  await using desk = await openWebhookDesk()
  await using closed = await openWebhookDesk({ config: {} })
  const add = async (admin: typeof desk.admin, url: string) =>
    (await admin.send('POST', '/api/webhooks', { body: { url, events: ['action.settled'] } })).status
  for (const url of ['https://hooks.example.com/x', 'http://127.0.0.1:9/x']) expect(await add(desk.admin, url), url).toBe(201)
  const refused = [
    ...['http://hooks.example.com/x', 'ftp://hooks.example.com', 'https://a:b@hooks.example.com', 'nowhere', 'javascript:alert(1)'],
    ...['https://169.254.169.254/latest', 'https://10.0.0.1', 'https://[fd00:ec2::254]/', 'http://0.0.0.0/'],
    ...['https://[::ffff:10.0.0.1]/', 'http://127.0.0.2/', 'http://localhost.example.com/'],
  ]
  for (const url of refused) expect(await add(desk.admin, url), url).toBe(400)
  for (const url of ['http://127.0.0.1:9/x', 'http://localhost:9/x', 'https://127.0.0.1', 'https://2130706433'])
    expect(await add(closed.admin, url), url).toBe(400)
  for (const events of [[], ['action.nothing'], ['action.settled', 'action.settled']]) {
    expect((await desk.admin.send('POST', '/api/webhooks', { body: { url: 'https://a.example', events } })).status).toBe(400)
  }
})

test('the shell lines of docs/guides/webhooks.md compute the signature that is sent', async () => {
  const docs = readFileSync(new URL('../../docs/guides/webhooks.md', import.meta.url), 'utf8')
  const [, lines = ''] = /```sh\n(key=[\s\S]*?)```/.exec(docs) ?? []
  await using receiver = await startReceiver()
  await using desk = await openWebhookDesk()
  const { secret } = await desk.add(receiver)
  await desk.propose('ünïcode')
  await expect.poll(() => receiver.events).toHaveLength(1)
  const [{ headers, text }] = receiver.events as [ReceivedEvent]
  const env = {
    ...{ PATH: process.env.PATH, SECRET: secret, BODY: text },
    ...{ WEBHOOK_ID: String(headers['webhook-id']), WEBHOOK_TIMESTAMP: String(headers['webhook-timestamp']) },
  }
  expect(`v1,${execFileSync('sh', ['-c', lines], { env, encoding: 'utf8' }).trim()}`).toBe(headers['webhook-signature'])
})
