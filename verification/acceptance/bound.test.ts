import type { Action, Message } from '@countersign/core'
import { expect, test } from 'vitest'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { speak } from '../../packages/server/src/models/testing/speak.ts'
import { countCalls, historyProblems } from '../../packages/server/src/models/testing/strict-history.ts'
import { openHttpAgent } from '../testing/ag-ui-agent.ts'
import { openChat } from '../testing/ai-chat.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { fold } from '../testing/fold.ts'
import { type Orders, orderTools, startOrders } from '../testing/orders.ts'
import { providerEnvironment } from '../testing/providers.ts'
import { shiftedClock } from '../testing/shifted-clock.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

interface Desk extends AsyncDisposable {
  server: TestServer
  orders: Orders
  propose(tool: string, status?: string): Promise<Action>
  approve(action: Action): Promise<Action>
  /** Resolves with the action once no work is left. */
  later(action: Action): Promise<Action>
}

async function openDesk(): Promise<Desk> {
  const stack = new AsyncDisposableStack()
  const orders = stack.use(await startOrders())
  const server = stack.use(await startTestServer({ config: { tools: orderTools(orders) } }))
  const { admin } = server
  return {
    server,
    orders,
    propose: (tool, status = 'paid') => admin.post('/api/actions', { tool, arguments: { id: 'o1', status } }),
    approve: ({ id, revision, digest }) => admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest }),
    async later({ id }) {
      await server.settle()
      return admin.get(`/api/actions/${id}`)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

test('what changed after it was shown is not carried out: it is asked again, with the values of now and the reason', async () => {
  await using desk = await openDesk()
  const shown = await desk.propose('set')
  expect(shown).toMatchObject({ revision: 1, revised: null, preview: [{ field: 'status', oldValue: 'pending', newValue: 'paid' }] })
  expect(shown.precondition).toMatch(/^sha256:/)
  desk.orders.order('o1', { status: 'shipped' })
  await desk.approve(shown)
  const asked = await desk.later(shown)
  expect(asked).toMatchObject({
    state: 'proposed',
    revision: 2,
    attempt: 0,
    votes: [],
    preview: [{ field: 'status', oldValue: 'shipped', newValue: 'paid' }],
    revised: { why: 'target', by: null, reason: 'The values changed since this was shown: status was "pending" and is "shipped" now.' },
  })
  expect(asked.digest).not.toBe(shown.digest)
  expect(desk.orders.done).toEqual([])

  const { items } = await desk.server.admin.get(`/api/actions/${shown.id}/revisions`)
  expect(items).toMatchObject([
    { revision: 1, digest: shown.digest, preview: shown.preview, votes: [{ verdict: 'approve' }], ended: { why: 'target' } },
  ])
  // A decision on revision 1 does not apply to revision 2.
  for (const named of [{}, { revision: 1, digest: shown.digest }, { revision: 2 }, { digest: asked.digest }]) {
    const answer = await desk.server.admin.send('POST', `/api/actions/${shown.id}/decision`, { body: { verdict: 'approve', ...named } })
    expect(answer, JSON.stringify(named)).toMatchObject({ status: 409, body: { code: 'revision_mismatch', action: asked } })
  }
  await desk.approve(asked)
  expect(await desk.later(shown)).toMatchObject({ state: 'succeeded', revision: 2, attempt: 1 })
  expect(desk.orders.done).toEqual([{ id: 'o1', from: 'shipped', to: 'paid' }])
})

test('a redaction takes away what an action was before it was changed, too', async () => {
  await using desk = await openDesk()
  const shown = await desk.propose('set')
  desk.orders.order('o1', { status: 'shipped' })
  await desk.approve(shown)
  await desk.approve(await desk.later(shown))
  expect((await desk.later(shown)).state).toBe('succeeded')
  const { admin } = desk.server
  const path = `/api/actions/${shown.id}`
  await admin.post(`${path}/redact`, { reason: 'asked for' })
  const left = JSON.stringify([await admin.get(path), await admin.get(`${path}/revisions`)])
  for (const value of ['pending', 'shipped', 'paid', '"o1"']) expect(left).not.toContain(value)
  expect(await admin.get(`${path}/revisions`)).toMatchObject({ items: [{ description: 'Redacted', ended: { why: 'target' } }] })
})

test('a change between the last look and the send is refused by the target, and asked again with the values of now', async () => {
  await using desk = await openDesk()
  const shown = await desk.propose('setGuarded')
  desk.orders.beforeWrite = (id) => {
    desk.orders.beforeWrite = undefined
    desk.orders.order(id, { status: 'cancelled' })
  }
  await desk.approve(shown)
  const asked = await desk.later(shown)
  expect(asked).toMatchObject({ state: 'proposed', revision: 2, attempt: 1, revised: { why: 'target' }, error: null })
  expect(asked.preview).toEqual([{ field: 'status', oldValue: 'cancelled', newValue: 'paid' }])
  expect(asked.idempotencyKey, 'the refusal was stored under the first key').not.toBe(shown.idempotencyKey)
  expect(desk.orders.done).toEqual([])
  await desk.approve(asked)
  expect((await desk.later(shown)).state).toBe('succeeded')
  expect(desk.orders.done).toEqual([{ id: 'o1', from: 'cancelled', to: 'paid' }])
  expect(desk.orders.writes.map(({ headers }) => headers['if-match'])).toEqual(['"1"', '"2"'])
})

test('what its target refused as stale is told to the model once, as the result of its call, when the one asked again is done', async () => {
  await using orders = await startOrders()
  await using providers = await startReplayServer()
  const api = 'openai-chat'
  const call = { id: 'call_1', name: 'setGuarded', argumentsText: JSON.stringify({ id: 'o1', status: 'paid' }) }
  const { baseUrl, requests } = providers.play([speak(api, { calls: [call] }), speak(api, { text: 'It is paid.' })])
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'openai-chat/m', tools: ['*'] } }, tools: orderTools(orders) },
    environment: providerEnvironment(baseUrl),
  })
  const { admin } = server
  orders.beforeWrite = (id) => {
    orders.beforeWrite = undefined
    orders.order(id, { status: 'shipped' })
  }
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { id } = (await stream.next('action_proposed')).proposal
  await admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await stream.next('action_update', (data) => data.proposalId === id && data.revision === 2)
  const { digest }: Action = await admin.get(`/api/actions/${id}`)
  await admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision: 2, digest })
  await stream.ended()
  const { items } = await admin.get(`/api/sessions/${sessionId}/messages`)
  const roles = items.reverse().map(({ role, kind }: Message) => (kind === 'text' ? role : `${role} ${kind}`))
  expect(roles).toEqual(['user', 'assistant', 'assistant request', 'assistant request', 'tool', 'assistant'])
  expect(requests).toHaveLength(2)
  expect(historyProblems(api, requests[1]?.body)).toEqual([])
  expect(orders.done.map(({ from, to }) => `${from} ${to}`)).toEqual(['shipped paid'])
})

test('a change of what was not shown asks nobody again, and is what the call is held against', async () => {
  await using desk = await openDesk()
  const shown = await desk.propose('setGuarded')
  desk.orders.order('o1', { note: 'call first' })
  await desk.approve(shown)
  expect(await desk.later(shown)).toMatchObject({ state: 'succeeded', revision: 1 })
  expect(desk.orders.writes.map(({ headers }) => headers['if-match'])).toEqual(['"2"'])
})

test('values that cannot be read again are no reason to go on: nothing is sent, and it can be started again', async () => {
  await using desk = await openDesk()
  const shown = await desk.propose('set')
  desk.orders.isAway = true
  await desk.approve(shown)
  const failed = await desk.later(shown)
  expect(failed).toMatchObject({ state: 'failed', error: { kind: 'unreadable', retryable: true } })
  expect(failed.error?.message).toContain('could not be read')
  expect(desk.orders.writes).toEqual([])
  desk.orders.isAway = false
  await desk.server.admin.post(`/api/actions/${shown.id}/retry`)
  expect((await desk.later(shown)).state).toBe('succeeded')
})

test('what failed is not started again when the target changed since: people are asked, and the retry says so', async () => {
  await using desk = await openDesk()
  const shown = await desk.propose('set')
  desk.orders.isAway = true
  await desk.approve(shown)
  await desk.later(shown)
  desk.orders.isAway = false
  desk.orders.order('o1', { status: 'shipped' })
  const headers = { 'idempotency-key': 'again' }
  const first = await desk.server.admin.send('POST', `/api/actions/${shown.id}/retry`, { headers })
  expect(first).toMatchObject({ status: 409, body: { code: 'stale_preview', action: { state: 'proposed', revision: 2, error: null } } })
  const repeated = await desk.server.admin.send('POST', `/api/actions/${shown.id}/retry`, { headers })
  expect(repeated.body).toEqual(first.body)
  const asked = await desk.later(shown)
  expect(asked.preview).toEqual([{ field: 'status', oldValue: 'shipped', newValue: 'paid' }])
  await desk.approve(asked)
  expect(await desk.later(shown)).toMatchObject({ state: 'succeeded', attempt: 2 })
  expect(desk.orders.done).toEqual([{ id: 'o1', from: 'shipped', to: 'paid' }])
})

test('a fresh preview of a waiting action: the same values are the same revision, others are another one without votes', async () => {
  await using desk = await openDesk()
  const { admin } = desk.server
  const shown = await desk.propose('set')
  const path = `/api/actions/${shown.id}/preview`
  const same: Action = await admin.post(path)
  expect(same).toMatchObject({ revision: 1, digest: shown.digest, preview: shown.preview, revised: null })
  expect(same.previewedAt).not.toBeNull()
  desk.orders.order('o1', { status: 'shipped' })
  // A preview that was just read answers requests that come at once.
  let other: Action = await admin.post(path)
  while (other.revision === 1) other = await admin.post(path)
  expect(other).toMatchObject({
    state: 'proposed',
    revision: 2,
    preview: [{ oldValue: 'shipped' }],
    revised: { why: 'preview', by: { kind: 'person' } },
  })
  desk.orders.isAway = true
  let unread: Action = await admin.post(path)
  while (unread.previewError === null) unread = await admin.post(path)
  expect(unread, 'what was shown stays').toMatchObject({ revision: 2, digest: other.digest, preview: other.preview })
  const agent = await desk.server.as({ name: 'Bot', kind: 'agent', roles: ['agent'] })
  expect(await agent.send('POST', path)).toMatchObject({ status: 404 })
  desk.orders.isAway = false
  await desk.approve(other)
  expect(await desk.later(shown)).toMatchObject({ state: 'succeeded', revision: 2 })
  expect(await admin.send('POST', path)).toMatchObject({ status: 409, body: { code: 'illegal_transition' } })
})

test('what failed, was told so, and is asked again when a person retries it keeps its one result: the model hears the rest as a note', async () => {
  await using orders = await startOrders()
  await using providers = await startReplayServer()
  const api = 'openai-chat'
  const calls = [1, 2].map((n) => ({ id: `call_${n}`, name: 'set', argumentsText: JSON.stringify({ id: `o${n}`, status: 'paid' }) }))
  const { baseUrl, requests } = providers.play([
    speak(api, { calls }),
    speak(api, { text: 'Neither worked.' }),
    speak(api, { text: 'One after all.' }),
    speak(api, { text: 'And one not.' }),
  ])
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'openai-chat/m', tools: ['*'] } }, tools: orderTools(orders) },
    environment: providerEnvironment(baseUrl),
  })
  const { admin } = server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const asked: Action[] = []
  for (const _ of calls) asked.push((await stream.next('action_proposed')).proposal)
  orders.isAway = true
  for (const { id } of asked) await admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await stream.next('message', (data) => data.message.content === 'Neither worked.')
  await server.settle()
  orders.isAway = false

  for (const [n, { id }] of asked.entries()) {
    orders.order(`o${n + 1}`, { status: 'shipped' })
    const { body } = await admin.send('POST', `/api/actions/${id}/retry`)
    expect(body).toMatchObject({ code: 'stale_preview', action: { state: 'proposed', revision: 2, error: null } })
    expect((await admin.get(`/api/sessions/${sessionId}`)).status).toBe('waiting_approval')
    // A command word names no revision: the person may mean the first one.
    const typed = await admin.post(`/api/sessions/${sessionId}/messages`, { content: 'approve' })
    expect(typed).toMatchObject({ decided: [] })
    const named = { verdict: 'approve', actionId: id }
    expect(await admin.send('POST', `/api/sessions/${sessionId}/approve`, { body: named })).toMatchObject({ status: 409 })
    const verdict = n === 0 ? 'approve' : 'decline'
    await admin.post(`/api/actions/${id}/decision`, { verdict, revision: 2, digest: body.action.digest })
    await server.settle()
  }
  expect(orders.done.map(({ id }) => id)).toEqual(['o1'])
  using watching = await admin.stream(`/api/sessions/${sessionId}/events?after=0`)
  await watching.next('message', ({ message }) => message.content === 'And one not.')
  for (const { id } of asked)
    expect(fold(watching.seen).actions.get(id), 'the stream tells all of it').toEqual(await admin.get(`/api/actions/${id}`))
  const { body } = requests.at(-1) ?? {}
  expect(requests).toHaveLength(4)
  expect(historyProblems(api, body)).toEqual([])
  expect(countCalls(api, body)).toBe(2)
  expect(JSON.stringify(body)).toMatch(/was tried again and succeeded.*was sent back for approval and declined/)
})

/** How a person says something in a chat, and what they are answered until the stream ends, or until people are waited for. */
const CHATS: Record<string, (url: string, key: string, client: ApiClient) => (text: string) => Promise<string>> = {
  '/api/chat'(_url, _key, client) {
    let sessionId: string | undefined
    return async (message) => {
      using stream = await client.stream('/api/chat', { body: { message, sessionId } })
      if (sessionId !== undefined) return JSON.stringify(await stream.ended())
      sessionId = (await stream.next('session')).sessionId
      return JSON.stringify(await stream.next('session_status', ({ status }) => status === 'waiting_approval'))
    }
  },
  'AI SDK'(url, key) {
    const page = openChat({ url, key })
    return async (text) => {
      await page.chat.sendMessage({ text })
      return page.text
    }
  },
  'AG-UI'(url, key) {
    return async (content) => {
      // A page that was reloaded: one that shows an interrupt sends no message before its answer.
      const { agent } = await openHttpAgent(url, key, undefined, [{ id: content, role: 'user', content }])
      await agent.runAgent()
      return JSON.stringify(agent.messages.at(-1))
    }
  },
}

test.each(Object.keys(CHATS))(
  'a word typed when the run has ended is answered by the run that follows, and the stream ends with it: %s',
  async (name) => {
    await using orders = await startOrders()
    const clock = shiftedClock()
    await using server = await startTestServer({
      config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: orderTools(orders) },
      scripts: {
        desk: [{ calls: [{ tool: 'set', arguments: { id: 'o1', status: 'paid' } }] }, { text: 'It failed.' }, { text: 'Then I leave it.' }],
      },
      clock,
    })
    const { key } = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['approver', 'member'] })
    const ada = server.with({ authorization: `Bearer ${key}` })
    const say = CHATS[name]?.(server.url, key, ada)
    await say?.('go')
    const [{ id }] = (await ada.get('/api/actions?state=proposed')).items
    orders.isAway = true
    await ada.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
    await server.settle()
    orders.isAway = false
    orders.order('o1', { status: 'shipped' })
    expect((await ada.send('POST', `/api/actions/${id}/retry`)).body).toMatchObject({
      code: 'stale_preview',
      action: { state: 'proposed' },
    })
    expect((await ada.get('/api/actions?state=proposed')).items).toMatchObject([{ id }])
    clock.pass(1_000)
    expect(await say?.('decline')).toContain('Then I leave it.')
    expect(await ada.get(`/api/actions/${id}`)).toMatchObject({ state: 'declined' })
    expect(orders.done).toEqual([])
  },
)
