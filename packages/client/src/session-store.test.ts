import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { createClient } from './client.ts'
import { foldSession, sessionState } from './session-state.ts'
import { openSession } from './session-store.ts'
import { impatient } from './testing/impatient.ts'
import {
  emptySession,
  frame,
  json,
  problem,
  type Route,
  sampleAction,
  sampleLog,
  sampleMessage,
  serve,
  snapshotAt,
  startStream,
} from './testing/log-server.ts'
import { until } from './testing/until.ts'

const log = sampleLog()
const page = (items: unknown[]) => ({ items, nextCursor: null })

const { actions: settled } = log.reduce(foldSession, sessionState(emptySession(), []))

/** A session whose log was `length` long when the server was asked for the snapshot. */
function sessionRoutes(length: number, id = 'ses_1'): Record<string, Route> {
  const { session, messages } = snapshotAt(log.slice(0, length))
  const newestFirst = [...messages].reverse()
  return {
    [`GET /api/sessions/${id}`]: (_, response) => json(response, session),
    [`GET /api/sessions/${id}/messages`]: (request, response) => {
      const from = Number(new URL(request.url ?? '', 'http://x').searchParams.get('cursor') ?? 0)
      const items = newestFirst.slice(from, from + 1)
      json(response, { items, nextCursor: from + 1 < newestFirst.length ? String(from + 1) : null })
    },
    [`GET /api/sessions/${id}/events`]: (request, response) => {
      startStream(response)
      const rest = log.filter((event) => (event.seq ?? 0) > Number(request.headers['last-event-id']))
      response.write(rest.map(frame).join(''))
    },
    'GET /api/actions/act_1': (_, response) => json(response, settled.act_1),
    'GET /api/actions/act_2': (_, response) => json(response, settled.act_2),
  }
}

test('a session opened at any moment of its log ends in the same state', async () => {
  const moments = Array.from({ length: log.length + 1 }, (_, length) => ({ length, id: `ses_at_${length}` }))
  await using server = await serve(Object.assign({}, ...moments.map(({ length, id }) => sessionRoutes(length, id))))
  const client = createClient({ baseUrl: server.baseUrl })
  const open = async (id: string) => {
    const store = openSession(client, id, { schedule: impatient })
    const { connection, ...state } = await until(
      store,
      (snapshot) => snapshot.lastSeq === log.length && snapshot.connection.kind === 'live',
    )
    store.close()
    return state
  }
  const seen = await Promise.all(moments.map(({ id }) => open(id)))
  expect(seen).toHaveLength(log.length + 1)
  // Actions that a server lists with its messages are not in this log's messages, so those of settled actions come with events only.
  for (const state of seen)
    expect(state).toMatchObject({ messages: snapshotAt(log).messages, streaming: [], pendingApprovals: [], failure: null })
  expect(seen[0]).toMatchObject({ actions: { act_1: { state: 'succeeded' }, act_2: { state: 'declined' } } })
})

test('a session opened in the middle of a text shows the text from its start', async () => {
  const { messages, session } = snapshotAt(log.slice(0, 4))
  const half: Record<string, Route> = {
    'GET /api/sessions/ses_1': (_, response) => json(response, session),
    'GET /api/sessions/ses_1/messages': (_, response) =>
      json(response, page([sampleMessage({ id: 'msg_q', role: 'user', queued: true, seq: 4 }), ...messages])),
    'GET /api/sessions/ses_1/events': (request, response) => {
      startStream(response)
      response.write(log.slice(Number(request.headers['last-event-id']), 4).map(frame).join(''))
    },
  }
  await using server = await serve(half)
  const store = openSession(createClient({ baseUrl: server.baseUrl }), 'ses_1', { schedule: impatient })
  const { streaming } = await until(store, (snapshot) => snapshot.lastSeq === 4)
  store.close()
  expect(streaming).toEqual([{ messageId: 'msg_2', content: 'I will ', reasoning: 'Two calls.' }])
})

test('an action that is not shown to this person does not end the session', async () => {
  const moved = (proposalId: string, seq: number) =>
    frame({ type: 'action_update', seq, data: { proposalId, state: 'approved', revision: 1, updatedAt: '2026-11-21T10:00:09.000Z' } })
  let stream: ServerResponse | undefined
  await using server = await serve({
    'GET /api/sessions/ses_1': (_, response) => json(response, emptySession()),
    'GET /api/sessions/ses_1/messages': (_, response) => json(response, page([])),
    'GET /api/sessions/ses_1/events': (_, response) => {
      stream = response
      startStream(response)
      response.write(moved('act_9', 1))
    },
    'GET /api/actions/act_9': (_, response) => {
      problem(response, 404, 'not_found', 'There is no such thing.')
      stream?.write(moved('act_1', 2))
    },
    'GET /api/actions/act_1': (_, response) => json(response, sampleAction()),
  })
  const store = openSession(createClient({ baseUrl: server.baseUrl }), 'ses_1', { schedule: impatient })
  const seen = await until(store, ({ actions, failure }) => actions.act_1 !== undefined || failure !== null)
  store.close()
  expect(seen).toMatchObject({ failure: null, lastSeq: 2, connection: { kind: 'live' } })
})

test('an action that changes again while it is fetched is fetched again', async () => {
  const [before, after] = [
    sampleAction({ state: 'executing' }),
    sampleAction({ state: 'succeeded', updatedAt: '2026-11-21T10:00:09.000Z' }),
  ]
  const moved = (seq: number, { state, updatedAt }: typeof before) =>
    frame({ type: 'action_update', seq, data: { proposalId: 'act_1', state, revision: 1, updatedAt } })
  const stream = Promise.withResolvers<ServerResponse>()
  const firstRead = Promise.withResolvers<ServerResponse>()
  let reads = 0
  await using server = await serve({
    'GET /api/sessions/ses_1': (_, response) => json(response, emptySession()),
    'GET /api/sessions/ses_1/messages': (_, response) => json(response, page([])),
    'GET /api/sessions/ses_1/events': (_, response) => {
      startStream(response)
      response.write(moved(1, before))
      stream.resolve(response)
    },
    'GET /api/actions/act_1': (_, response) => {
      if (++reads === 1) firstRead.resolve(response)
      else json(response, after)
    },
  })
  const store = openSession(createClient({ baseUrl: server.baseUrl }), 'ses_1', { schedule: impatient })
  const slow = await firstRead.promise
  ;(await stream.promise).write(moved(2, after))
  await until(store, ({ lastSeq }) => lastSeq === 2)
  // The slow answer is from before the change that the stream has announced since.
  json(slow, before)
  const { actions } = await until(store, (snapshot) => snapshot.actions.act_1?.state === 'succeeded')
  store.close()
  expect(actions.act_1).toEqual(after)
})

test('an action whose arguments changed is fetched', async () => {
  const fresh = sampleAction({ revision: 2, digest: 'sha256:bb', arguments: { orderId: 'ORD-002' }, updatedAt: '2026-11-21T10:00:09.000Z' })
  const { arguments: _, ...update } = fresh
  await using server = await serve({
    'GET /api/sessions/ses_1': (_, response) => json(response, { ...emptySession(), pendingApprovals: [sampleAction()] }),
    'GET /api/sessions/ses_1/messages': (_, response) => json(response, page([])),
    'GET /api/sessions/ses_1/events': (_, response) => {
      startStream(response)
      response.write(frame({ type: 'action_update', seq: 1, data: { ...update, proposalId: 'act_1' } }))
    },
    'GET /api/actions/act_1': (_, response) => json(response, fresh),
  })
  const store = openSession(createClient({ baseUrl: server.baseUrl }), 'ses_1', { schedule: impatient })
  const { actions, toFetch } = await until(store, (snapshot) => snapshot.actions.act_1?.revision === 2)
  store.close()
  expect(actions.act_1).toEqual(fresh)
  expect(toFetch).toEqual([])
})

test('a session that does not exist is a failure in the snapshot', async () => {
  await using server = await serve({})
  const store = openSession(createClient({ baseUrl: server.baseUrl }), 'ses_1', { schedule: impatient })
  expect(await until(store, (snapshot) => snapshot.failure !== null)).toMatchObject({
    failure: { code: 'not_found' },
    connection: { kind: 'closed' },
    session: null,
  })
})

test('a long session begins with its newest messages; older ones come page by page, in their place, and live ones go on meanwhile', async () => {
  const messages = Array.from({ length: 7 }, (_, i) => sampleMessage({ id: `msg_${i + 1}`, seq: i + 1, content: `${i + 1}` }))
  const held: { stream?: ServerResponse; isDown: boolean; asked: string[] } = { isDown: false, asked: [] }
  await using server = await serve({
    'GET /api/sessions/ses_1': (_, response) => json(response, { ...emptySession(), lastSeq: 7 }),
    'GET /api/sessions/ses_1/messages': (request, response) => {
      if (held.isDown) return problem(response, 503, 'not_ready', 'Not now.')
      const query = new URL(request.url ?? '', 'http://x').searchParams
      held.asked.push(`${query.get('limit')} ${query.get('cursor')}`)
      const before = Number(query.get('cursor') ?? 8)
      const items = messages.filter(({ seq }) => seq < before).slice(-3)
      const [first] = items
      json(response, { items: items.reverse(), nextCursor: first && first.seq > 1 ? String(first.seq) : null })
    },
    'GET /api/sessions/ses_1/events': (_, response) => {
      startStream(response)
      held.stream = response
    },
  })
  const store = openSession(createClient({ baseUrl: server.baseUrl }), 'ses_1', { pageSize: 3, schedule: impatient })
  const here = () =>
    store
      .get()
      .messages.map(({ content }) => content)
      .join('')
  await until(store, ({ connection }) => connection.kind === 'live')
  expect([here(), store.get().older]).toEqual(['567', 'more'])
  await Promise.all([store.loadOlder(), store.loadOlder()])
  expect([here(), store.get().older]).toEqual(['234567', 'more'])
  held.stream?.write(frame({ type: 'message', seq: 8, data: { message: sampleMessage({ id: 'msg_8', seq: 8, content: '8' }) } }))
  await until(store, ({ lastSeq }) => lastSeq === 8)
  held.isDown = true
  await store.loadOlder()
  expect([here(), store.get().older]).toEqual(['2345678', 'failed'])
  held.isDown = false
  await store.loadOlder()
  expect([here(), store.get().older]).toEqual(['12345678', 'none'])
  await store.loadOlder()
  expect(held.asked).toEqual(['3 null', '3 5', '3 2'])
  store.close()
})

test('a session that is renamed has its title, and one that is deleted says so and is not asked for again', async () => {
  const by = { id: 'prn_1', name: 'Ana' }
  await using server = await serve({
    ...sessionRoutes(0),
    'GET /api/sessions/ses_1/events': (_, response) => {
      startStream(response)
      response.write(frame({ type: 'session_renamed', seq: 1, data: { title: 'Lamps', by } }))
      response.end(frame({ type: 'session_deleted', seq: 2, data: { by } }))
    },
  })
  const store = openSession(createClient({ baseUrl: server.baseUrl }), 'ses_1', { schedule: impatient })
  const { session, failure } = await until(store, (snapshot) => snapshot.failure !== null)
  expect(session?.title).toBe('Lamps')
  expect([failure?.code, failure?.message]).toEqual(['not_found', 'Ana deleted this session.'])
  expect(store.get().connection.kind).toBe('closed')
  expect(server.requests.filter(({ url }) => url.endsWith('/events'))).toHaveLength(1)
})

test('after a reset every message is there, not only those that the reset carried', async () => {
  const { session, messages, actions } = snapshotAt(log)
  const reset = { type: 'reset', seq: log.length, data: { reason: 'unknown id', session, messages: messages.slice(-1), actions } } as const
  let asked = 0
  await using server = await serve({
    'GET /api/sessions/ses_1': (_, response) => json(response, asked++ === 0 ? emptySession() : session),
    'GET /api/sessions/ses_1/messages': (_, response) => json(response, page(asked === 1 ? [] : messages)),
    'GET /api/sessions/ses_1/events': (_, response) => {
      startStream(response)
      response.write(frame(reset))
    },
  })
  const store = openSession(createClient({ baseUrl: server.baseUrl }), 'ses_1', { schedule: impatient })
  const snapshot = await until(store, ({ messages }) => messages.length === 3)
  store.close()
  expect(snapshot.lastSeq).toBe(log.length)
})

test('listeners are told once for many changes', async () => {
  await using server = await serve(sessionRoutes(0))
  const store = openSession(createClient({ baseUrl: server.baseUrl }), 'ses_1', { schedule: impatient })
  let told = 0
  store.subscribe(() => told++)
  await until(store, (snapshot) => snapshot.lastSeq === log.length)
  store.close()
  expect(told).toBeLessThan(log.length)
})
