import type { Action, CreatedWebhook } from '@countersign/core'
import { Webhook as Verifier } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createClient, gate, verifyWebhook } from '../../packages/client/src/index.ts'
import { type Clock, systemClock } from '../../packages/server/src/clock.ts'
import { defineTool } from '../../packages/toolkit/src/define.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { type Receiver, startReceiver } from '../testing/receiver.ts'
import { shortWaits } from '../testing/short-waits.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const mine = defineTool({
  name: 'mine',
  description: 'Is carried out by the agent.',
  effect: 'write',
  executor: 'client',
  input: z.object({ what: z.string() }),
})

/** A server with a tool of its own (`keyed`), one that the agent carries out (`mine`), and an agent. */
async function openDesk(clock: Clock = systemClock) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1, secret: 'in-the-result' } })))
  const tools = { ...toolsOf(target), own: { prefix: false, tools: [mine] } }
  const policy = { rules: [{ name: 'looks run', match: { tool: 'look' }, verdict: 'allow' as const }] }
  const server = stack.use(await startTestServer({ config: { tools, policy, network: { allow: ['127.0.0.1'] } }, clock }))
  const { admin } = server
  return {
    server,
    admin,
    agent: await server.as({ name: 'bot', kind: 'agent', agent: 'billing', roles: ['agent'] }),
    /** Opens the receiver for callbacks. */
    open: ({ url }: Receiver, more: object = {}): Promise<CreatedWebhook & { secret: string }> =>
      admin.post('/api/webhooks', { url, events: [], callbacks: true, ...more }),
    decide: ({ id }: Action, verdict = 'approve') => admin.post(`/api/actions/${id}/decision`, { verdict }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const propose = (agent: ApiClient, url: string, tool = 'keyed'): Promise<Action> =>
  agent.post('/api/actions', { tool, arguments: { what: 'x' }, callback: { url } })

test('an agent is told at its callback when it can carry the action out and how it ended, signed, without values', async () => {
  await using receiver = await startReceiver()
  await using desk = await openDesk()
  const { secret } = await desk.open(receiver)
  const url = `${receiver.url}/resume?run=7&token=t0ken`
  const action = await propose(desk.agent, url, 'mine')
  // People see where the result goes, and not the rest of the address, which may hold a secret of the receiver.
  expect((await desk.admin.get(`/api/actions/${action.id}`)).callback).toEqual({ host: `127.0.0.1:${receiver.port}` })
  expect(JSON.stringify([action, await desk.admin.get('/api/audit')])).not.toContain('t0ken')

  await desk.decide(action)
  await expect.poll(() => receiver.types()).toEqual(['action.decided approved'])
  const { epoch } = await desk.agent.post(`/api/actions/${action.id}/claim`, {})
  await desk.agent.post(`/api/actions/${action.id}/result`, { epoch, output: 'in-the-output' })
  await expect.poll(() => receiver.types()).toEqual(['action.decided approved', 'action.settled succeeded'])
  for (const { text, headers, path, body } of receiver.events) {
    expect(path).toBe('/hook/resume?run=7&token=t0ken')
    expect(body.data).toMatchObject({ actionId: action.id, digest: action.digest })
    expect(new Verifier(secret).verify(text, headers as Record<string, string>)).toEqual(body)
    expect(text).not.toContain('in-the-output')
  }
  expect(new Set(receiver.ids()).size).toBe(2)
})

test('an agent is told that it can carry an action out once its grace period is over, and not if the approval was taken back', async () => {
  await using receiver = await startReceiver()
  await using desk = await openDesk()
  const { id: webhook } = await desk.open(receiver)
  const action = await propose(desk.agent, receiver.url, 'mine')
  const approve = (named: object) => desk.admin.post(`/api/actions/${action.id}/decision`, { verdict: 'approve', ...named })
  const deliveries = async () => (await desk.admin.get(`/api/webhooks/${webhook}/deliveries`)).items
  const { startsAt: laterAt } = await approve({ startAfter: 'PT1H' })
  await expect.poll(async () => (await deliveries())[0]?.nextAttemptAt).toBe(laterAt)
  const { revision, digest } = await desk.admin.post(`/api/actions/${action.id}/undo`)
  const { startsAt } = await approve({ revision, digest, startAfter: 'PT1S' })
  await expect.poll(() => receiver.types()).toEqual(['action.decided approved'])
  expect(receiver.events[0]?.body.data.revision).toBe(2)
  // Both by the clock of the server, which the database sets.
  await expect.poll(async () => (await deliveries())[0]?.state).toBe('delivered')
  expect(Date.parse((await deliveries())[0].attempts[0].at)).toBeGreaterThanOrEqual(Date.parse(startsAt))
  await desk.agent.post(`/api/actions/${action.id}/claim`, {})
  // Nor is it told of the first approval when somebody sends that again.
  const first = (await deliveries()).at(-1)
  await desk.admin.post(`/api/webhooks/${webhook}/deliveries/${first.id}/redeliver`)
  await expect.poll(async () => (await deliveries()).at(-1)?.state).toBe('failed')
  expect((await deliveries()).at(-1)?.attempts).toMatchObject([{ status: null, error: expect.stringContaining('does not stand any more') }])
  expect(receiver.events).toHaveLength(1)
})

test('what the server carries out, declines or expires is told at its end, also a read that needed no approval', async () => {
  await using receiver = await startReceiver()
  await using desk = await openDesk()
  await desk.open(receiver)
  const ends = async (action: Action, end: string) => {
    await expect.poll(() => receiver.events.filter(({ body }) => body.data.actionId === action.id)).toHaveLength(1)
    expect(receiver.types().at(-1)).toBe(`action.settled ${end}`)
  }
  const sent = await propose(desk.agent, receiver.url)
  await desk.decide(sent)
  await ends(sent, 'succeeded')
  const declined = await propose(desk.agent, receiver.url)
  await desk.decide(declined, 'decline')
  await ends(declined, 'declined')
  await ends(await propose(desk.agent, receiver.url, 'look'), 'succeeded')
  const short = { tool: 'keyed', arguments: { what: 'y' }, expiresIn: 'PT1S', callback: { url: receiver.url } }
  await ends(await desk.agent.post('/api/actions', short), 'expired')
  // The webhook itself subscribes to nothing.
  await desk.decide(await desk.agent.post('/api/actions', { tool: 'keyed', arguments: { what: 'z' } }))
  await desk.server.settle()
  expect(receiver.events).toHaveLength(4)
})

test('an agent names no address that an admin has not opened: 403, and nothing is stored', async () => {
  await using receiver = await startReceiver()
  await using closed = await startReceiver()
  await using desk = await openDesk()
  const refused = async (url: string, status = 403) => {
    const { action } = await desk.server.dump()
    const body = { tool: 'keyed', arguments: { what: 'x' }, callback: { url } }
    expect((await desk.agent.send('POST', '/api/actions', { body })).status, url).toBe(status)
    expect((await desk.server.dump()).action).toEqual(action)
  }
  await refused(receiver.url)
  const { id } = await desk.open(receiver)
  await desk.admin.post('/api/webhooks', { url: closed.url, events: ['action.settled'] })
  const origin = `http://127.0.0.1:${receiver.port}`
  for (const path of ['/', '/hooks', '/hookevil', '/hook/../admin', '/hook/%2e%2e/admin', '/hook/..%2fadmin', '/hook/%2E%2E%2Fadmin']) {
    await refused(origin + path)
  }
  for (const path of ['/hook/a%5c..%5cadmin', '/hook//evil.example', '/HOOK', '/%68ook']) await refused(origin + path)
  await refused(closed.url)
  await refused(`http://localhost:${receiver.port}/hook`)
  await refused(`http://169.254.169.254/hook`)
  await refused(`https://127.0.0.1:${receiver.port}/hook`)
  for (const url of [
    `http://me:pass@127.0.0.1:${receiver.port}/hook`,
    'file:///etc/passwd',
    'hook',
    `${receiver.url}/${'a'.repeat(2_000)}`,
  ]) {
    await refused(url, 400)
  }
  await desk.admin.send('PATCH', `/api/webhooks/${id}`, { body: { disabled: true } })
  await refused(receiver.url)
  expect(receiver.events).toEqual([])
})

test('an address that an admin closed, moved or disabled meanwhile is not called', async () => {
  await using receiver = await startReceiver()
  await using desk = await openDesk()
  const { id } = await desk.open(receiver)
  const change = (body: object) => desk.admin.send('PATCH', `/api/webhooks/${id}`, { body })
  const actions: Action[] = []
  for (const what of ['a', 'b', 'c']) {
    actions.push(await desk.agent.post('/api/actions', { tool: 'keyed', arguments: { what }, callback: { url: receiver.url } }))
  }
  const [moved, closed, disabled] = actions as [Action, Action, Action]
  await change({ url: `http://127.0.0.1:${receiver.port}/elsewhere` })
  await desk.decide(moved, 'decline')
  const deliveries = async () => (await desk.admin.get(`/api/webhooks/${id}/deliveries`)).items
  await expect.poll(async () => (await deliveries())[0]?.attempts[0]?.error).toContain('no longer under that of the webhook')
  await change({ url: receiver.url, callbacks: false, events: ['action.overdue'] })
  await desk.decide(closed, 'decline')
  await expect.poll(async () => (await deliveries())[0]?.attempts[0]?.error).toContain('no longer under that of the webhook')
  await change({ disabled: true, callbacks: true })
  await desk.decide(disabled, 'decline')
  await desk.server.settle()
  expect(await deliveries()).toHaveLength(2)
  expect(receiver.events).toEqual([])
})

test('an agent cannot disable the webhook with an address that fails or says 410', async () => {
  await using receiver = await startReceiver((response, { path }) => response.writeHead(path === '/hook/gone' ? 410 : 500).end())
  await using desk = await openDesk()
  const { id } = await desk.open(receiver)
  for (const [what, path] of [
    ['a', '/gone'],
    ['b', '/broken'],
  ]) {
    const body = { tool: 'keyed', arguments: { what }, callback: { url: receiver.url + path } }
    await desk.decide(await desk.agent.post('/api/actions', body), 'decline')
  }
  const deliveries = async () => (await desk.admin.get(`/api/webhooks/${id}/deliveries`)).items
  await expect.poll(async () => (await deliveries()).filter(({ attempts }: { attempts: [] }) => attempts.length > 0)).toHaveLength(2)
  // 410 ends this callback, and any other failure is tried again.
  expect((await deliveries()).map(({ state }: { state: string }) => state).sort()).toEqual(['failed', 'waiting'])
  expect(await desk.admin.get(`/api/webhooks/${id}`)).toMatchObject({ disabledAt: null, failingSince: null })
})

test('a webhook without events has to take callbacks', async () => {
  await using desk = await openDesk()
  const url = 'https://hooks.example.com/a'
  expect((await desk.admin.send('POST', '/api/webhooks', { body: { url, events: [] } })).status).toBe(400)
  const made = await desk.admin.post('/api/webhooks', { url, events: [], callbacks: true })
  expect((await desk.admin.send('PATCH', `/api/webhooks/${made.id}`, { body: { callbacks: false } })).status).toBe(400)
})

test('the same proposal with another callback under the same key is refused, and without a key it is another action', async () => {
  await using receiver = await startReceiver()
  await using desk = await openDesk()
  await desk.open(receiver)
  const body = (path: string) => ({ tool: 'keyed', arguments: { what: 'x' }, callback: { url: receiver.url + path } })
  const header = { headers: { 'idempotency-key': 'one' } }
  const first = await desk.agent.send('POST', '/api/actions', { body: body('/1'), ...header })
  expect((await desk.agent.send('POST', '/api/actions', { body: body('/1'), ...header })).body.id).toBe(first.body.id)
  expect((await desk.agent.send('POST', '/api/actions', { body: body('/2'), ...header })).status).toBe(422)
  // Folded into the first, its callback would be lost.
  const others = [await propose(desk.agent, `${receiver.url}/3`), await propose(desk.agent, `${receiver.url}/4`)]
  expect(new Set([first.body.id, ...others.map(({ id }) => id)]).size).toBe(3)
})

test('the address is gone with a redaction, and a callback that was not sent yet is not sent after it', async () => {
  await using receiver = await startReceiver((response) => response.writeHead(500).end())
  // Five seconds after the first try, the server would try again by itself.
  await using desk = await openDesk(shortWaits(4_000))
  const { id } = await desk.open(receiver)
  const action = await propose(desk.agent, `${receiver.url}/t0ken`)
  await desk.decide(action, 'decline')
  const attempts = async () => (await desk.admin.get(`/api/webhooks/${id}/deliveries`)).items[0]?.attempts ?? []
  await expect.poll(attempts).toHaveLength(1)
  await desk.admin.post(`/api/actions/${action.id}/redact`, { reason: 'personal' })
  const [delivery] = (await desk.admin.get(`/api/webhooks/${id}/deliveries`)).items
  await desk.admin.post(`/api/webhooks/${id}/deliveries/${delivery.id}/redeliver`)
  await expect.poll(attempts).toHaveLength(2)
  expect(receiver.events).toHaveLength(1)
  expect(JSON.stringify(await desk.server.dump())).not.toContain('t0ken')
})

test('a program that polls in a loop misses no decision, neither between two polls nor across a restart', async () => {
  await using desk = await openDesk()
  const { body, headers } = { body: { tool: 'keyed', arguments: { what: 'x' } }, headers: { 'idempotency-key': 'loop' } }
  const action = await desk.agent.post('/api/actions', body, headers)
  expect((await desk.agent.get(`/api/actions/${action.id}?wait=0.05`)).state).toBe('proposed')
  await desk.decide(action)
  await desk.server.settle()
  expect((await desk.agent.get(`/api/actions/${action.id}?wait=60`)).state).toBe('succeeded')
  await desk.server.restart()
  expect((await desk.server.admin.get(`/api/actions/${action.id}?wait=60&until=settled`)).state).toBe('succeeded')
})

test('gate() of the client names the callback of each call, and verifyWebhook takes what arrives there', async () => {
  await using receiver = await startReceiver()
  await using desk = await openDesk()
  const { secret } = await desk.open(receiver)
  const { key } = await desk.server.makeKey({ name: 'gated bot', kind: 'agent', agent: 'gated', roles: ['agent'] })
  const client = createClient({ baseUrl: desk.server.url, key })
  const tools = gate(client, { mine: ({ what }: { what: string }) => `did ${what}` }, { callback: receiver.url })
  const running = tools.mine({ what: 'x' }, { toolCallId: 'call_1' })
  const waiting = async (): Promise<Action[]> => (await desk.admin.get('/api/actions?state=proposed')).items
  await expect.poll(waiting).toHaveLength(1)
  await desk.decide((await waiting())[0] as Action)
  expect(await running).toMatchObject({ status: 'succeeded', output: 'did x' })
  await expect.poll(() => receiver.types()).toContain('action.settled succeeded')
  for (const { text, headers } of receiver.events) {
    const event = await verifyWebhook({ secret, headers: new Headers(headers as Record<string, string>), body: text })
    expect(event).toMatchObject({ data: { tool: 'mine' } })
  }
})
