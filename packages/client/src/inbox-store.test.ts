import type { ServerResponse } from 'node:http'
import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { createClient } from './client.ts'
import { openInbox } from './inbox-store.ts'
import { impatient } from './testing/impatient.ts'
import { emptySession, frame, json, problem, type Route, sampleAction, serve, startStream } from './testing/log-server.ts'
import { until } from './testing/until.ts'

const page = (items: unknown[]) => ({ items, nextCursor: null })

/** An inbox whose stream and list the test holds in its hands. */
async function startInbox(first: Action[]) {
  const one = sampleAction({ state: 'approved', updatedAt: '2026-11-21T10:01:00.000Z' })
  const state = { list: first, one, stream: undefined as ServerResponse | undefined, seq: 0, refuse: [] as string[] }
  const routes: Record<string, Route> = {
    'GET /api/actions': (request, response) => {
      const wanted = new URL(request.url ?? '', 'http://inbox').searchParams.get('state')
      json(response, page(state.list.filter((action) => action.state === wanted)))
    },
    'GET /api/actions/act_3': (_, response) => json(response, sampleAction({ id: 'act_3', state: 'outcome_unknown' })),
    'GET /api/actions/act_1': (_, response) => json(response, state.one),
    'GET /api/events': (_, response) => {
      startStream(response)
      state.stream = response
    },
  }
  /** The routes of `state.refuse` answer once as a proxy does. */
  const orRefused = ([name, route]: [string, Route]): [string, Route] => [
    name,
    (request, response, body) => {
      const at = state.refuse.indexOf(name)
      if (at < 0) return route(request, response, body)
      state.refuse.splice(at, 1)
      response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found')
    },
  ]
  const server = await serve(Object.fromEntries(Object.entries(routes).map(orRefused)))
  const lingers: (() => void)[] = []
  const schedule = (run: () => void, delayMs: number) => {
    if (delayMs === 5_000) lingers.push(run)
    return delayMs === 40_000 || delayMs === 5_000 ? () => {} : (clearTimeout.bind(null, setTimeout(run, 0)) as () => void)
  }
  const store = openInbox(createClient({ baseUrl: server.baseUrl }), { schedule })
  await until(store, (snapshot) => snapshot.loaded)
  return { server, state, store, lingers }
}

test('the inbox lists what waits, hears of more, and keeps what was decided elsewhere for a while', async () => {
  const { server, state, store, lingers } = await startInbox([sampleAction()])
  await using _ = server
  const second = sampleAction({ id: 'act_2', createdAt: '2026-11-21T10:00:01.000Z' })
  state.stream?.write(frame({ type: 'action_proposed', seq: 7, data: { proposal: second } }))
  expect((await until(store, (snapshot) => snapshot.waiting === 2)).items.map((action) => action.id)).toEqual(['act_1', 'act_2'])
  const data = { proposalId: 'act_1', state: 'declined', revision: 1, updatedAt: '2026-11-21T10:02:00.000Z' } as const
  state.stream?.write(frame({ type: 'action_update', seq: 8, data }))
  const { items } = await until(store, (snapshot) => snapshot.waiting === 1)
  expect(items.map((action) => action.state)).toEqual(['declined', 'proposed'])
  expect(lingers).toHaveLength(1)
  lingers[0]?.()
  expect(store.get().items.map((action) => action.id)).toEqual(['act_2'])
  store.close()
})

test('an action that runs for long is listed until its end, and 5 s more, where somebody keeps it', async () => {
  const { server, state, store, lingers } = await startInbox([sampleAction(), sampleAction({ id: 'act_2' })])
  await using _ = server
  let seq = 7
  const move = (proposalId: string, to: Action['state'], minute: number) => {
    const data = { proposalId, state: to, revision: 1, updatedAt: `2026-11-21T10:0${minute}:00.000Z` } as const
    state.stream?.write(frame({ type: 'action_update', seq: seq++, data }))
  }
  const states = () => store.get().items.map(({ state }) => state)
  const release = store.keep('act_1')
  move('act_1', 'approved', 2)
  move('act_2', 'approved', 2)
  await until(store, ({ waiting }) => waiting === 0)
  expect(lingers).toHaveLength(1)
  lingers[0]?.()
  expect(store.get().items.map(({ id }) => id)).toEqual(['act_1'])
  move('act_1', 'executing', 3)
  await until(store, () => states()[0] === 'executing')
  move('act_1', 'failed', 4)
  await until(store, () => states()[0] === 'failed')
  expect(lingers).toHaveLength(1)
  release()
  expect(states()).toEqual(['failed'])
  lingers[1]?.()
  expect(states()).toEqual([])
  store.close()
})

test('of an action that somebody keeps, the inbox learns after a cut how it ended meanwhile', async () => {
  const { server, state, store } = await startInbox([sampleAction()])
  await using _ = server
  store.keep('act_1')
  const data = { proposalId: 'act_1', state: 'approved', revision: 1, updatedAt: '2026-11-21T10:00:30.000Z' } as const
  state.stream?.write(frame({ type: 'action_update', seq: 7, data }))
  await until(store, ({ waiting }) => waiting === 0)
  state.list = []
  state.one = sampleAction({ state: 'failed', updatedAt: '2026-11-21T10:01:00.000Z' })
  state.stream?.destroy()
  await until(store, ({ items }) => items[0]?.state === 'failed')
  store.close()
})

test('an action of unknown outcome needs a person too, however it came to be one', async () => {
  const lost = sampleAction({ id: 'act_2', state: 'outcome_unknown' })
  const { server, state, store } = await startInbox([lost])
  await using _ = server
  expect(store.get()).toMatchObject({ items: [lost], waiting: 0, unknown: 1 })
  const data = { proposalId: 'act_3', state: 'outcome_unknown', revision: 1, updatedAt: '2026-11-21T10:02:00.000Z' } as const
  state.stream?.write(frame({ type: 'action_update', seq: 7, data }))
  await until(store, (snapshot) => snapshot.unknown === 2)
  store.close()
})

test('what was read elsewhere is kept current like the rest, if it needs a person', async () => {
  const { server, state, store } = await startInbox([sampleAction()])
  await using _ = server
  const old = sampleAction({ id: 'act_0', createdAt: '2026-11-20T10:00:00.000Z' })
  store.include([old, sampleAction({ id: 'act_done', state: 'succeeded' }), sampleAction({ updatedAt: '2026-11-01T10:00:00.000Z' })])
  expect(store.get()).toMatchObject({ items: [old, sampleAction()], waiting: 2 })
  const data = { proposalId: 'act_0', state: 'declined', revision: 1, updatedAt: '2026-11-21T10:02:00.000Z' } as const
  state.stream?.write(frame({ type: 'action_update', seq: 7, data }))
  expect((await until(store, ({ waiting }) => waiting === 1)).items.map((action) => action.state)).toEqual(['declined', 'proposed'])
  store.close()
})

test('what policy decided by itself never shows in the inbox', async () => {
  const { server, state, store } = await startInbox([])
  await using _ = server
  const read = sampleAction({ id: 'act_read', state: 'approved', policy: { verdict: 'allow', rule: 'reads run', version: 1, reason: '' } })
  const data = { proposalId: 'act_read', state: 'succeeded', revision: 1, updatedAt: '2026-11-21T10:02:00.000Z' } as const
  const waiting = sampleAction({ id: 'act_2' })
  state.stream?.write(
    [
      frame({ type: 'action_proposed', seq: 7, data: { proposal: read } }),
      frame({ type: 'action_update', seq: 8, data }),
      frame({ type: 'action_proposed', seq: 9, data: { proposal: waiting } }),
    ].join(''),
  )
  expect((await until(store, (snapshot) => snapshot.waiting === 1)).items).toEqual([waiting])
  store.close()
})

test('after a cut the inbox learns what was decided meanwhile', async () => {
  const { server, state, store } = await startInbox([sampleAction()])
  await using _ = server
  state.list = []
  state.stream?.destroy()
  const { items } = await until(store, (snapshot) => snapshot.waiting === 0)
  expect(items.map((action) => action.state)).toEqual(['approved'])
  store.close()
})

test('the inbox marks what is overdue when it hears so, and after a cut in which it missed that', async () => {
  const [heard, missed] = [sampleAction(), sampleAction({ id: 'act_2' })]
  const { server, state, store } = await startInbox([heard, missed])
  await using _ = server
  await until(store, ({ items }) => items.length === 2)
  const updatedAt = '2026-11-21T10:05:00.000Z'
  state.stream?.write(frame({ type: 'approval_overdue', seq: 7, data: { actionId: heard.id, waitedMs: 300_000, updatedAt } }))
  const overdueIn = (items: readonly Action[]) => items.flatMap(({ id, overdue }) => (overdue ? [id] : []))
  expect(overdueIn((await until(store, ({ items }) => items[0]?.overdue === true)).items)).toEqual([heard.id])
  state.list = [heard, missed].map((action) => ({ ...action, overdue: true, updatedAt }))
  state.stream?.destroy()
  expect(overdueIn((await until(store, ({ items }) => items[1]?.overdue === true)).items)).toEqual([heard.id, missed.id])
  store.close()
})

test('of many that wait the newest 1,000 are listed, older ones when asked for, and a cut forgets none of them', async () => {
  const idOf = (at: number) => `act_${String(at).padStart(5, '0')}`
  const all = Array.from({ length: 2_500 }, (_, at) => sampleAction({ id: idOf(2_500 - at) }))
  const state = { decided: new Set<string>(), lists: 0, singles: 0, stream: undefined as ServerResponse | undefined }
  await using server = await serve({
    'GET /api/actions': (request, response) => {
      state.lists++
      const query = new URL(request.url ?? '', 'http://inbox').searchParams
      const begin = Number(query.get('cursor') ?? 0)
      const found = query.get('state') === 'proposed' ? all.filter(({ id }) => !state.decided.has(id)) : []
      const end = begin + Number(query.get('limit'))
      json(response, { items: found.slice(begin, end), nextCursor: end < found.length ? String(end) : null })
    },
    [`GET /api/actions/${idOf(1)}`]: (_, response) => {
      state.singles++
      json(response, sampleAction({ id: idOf(1), state: 'declined', updatedAt: '2026-11-21T11:00:00.000Z' }))
    },
    'GET /api/events': (_, response) => {
      startStream(response)
      state.stream = response
    },
  })
  const schedule = (run: () => void, delayMs: number) =>
    delayMs === 40_000 || delayMs === 5_000 ? () => {} : (clearTimeout.bind(null, setTimeout(run, 0)) as () => void)
  const store = openInbox(createClient({ baseUrl: server.baseUrl }), { schedule })
  await store.listMore()
  expect(await until(store, ({ loaded }) => loaded)).toMatchObject({ waiting: 1_000, more: true })
  await Promise.all([store.listMore(), store.listMore()])
  expect(store.get()).toMatchObject({ waiting: 2_000, more: true })
  await store.listMore()
  expect(store.get()).toMatchObject({ waiting: 2_500, more: false })
  const { lists } = state
  await store.listMore()
  expect(state.lists).toBe(lists)
  state.decided.add(idOf(1))
  state.stream?.destroy()
  await until(store, ({ waiting }) => waiting === 2_499)
  expect(state.singles).toBe(1)
  store.close()
})

test('the first page of what waits is there before the next one is answered', async () => {
  const all = Array.from({ length: 250 }, (_, at) => sampleAction({ id: `act_${1_000 - at}` }))
  const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>()
  await using server = await serve({
    'GET /api/actions': async (request, response) => {
      const query = new URL(request.url ?? '', 'http://inbox').searchParams
      const begin = Number(query.get('cursor') ?? 0)
      if (begin > 0) await isAnswered
      const found = query.get('state') === 'proposed' ? all : []
      json(response, { items: found.slice(begin, begin + 200), nextCursor: begin + 200 < found.length ? String(begin + 200) : null })
    },
    'GET /api/events': (_, response) => startStream(response),
  })
  const store = openInbox(createClient({ baseUrl: server.baseUrl }), { schedule: impatient })
  expect(await until(store, ({ items }) => items.length > 0)).toMatchObject({ waiting: 200, loaded: false })
  answer()
  expect(await until(store, ({ loaded }) => loaded)).toMatchObject({ waiting: 250, more: false })
  store.close()
})

test('however many resets come at once, the inbox reads one list at a time, and the last one after all of them', async () => {
  const stream = Promise.withResolvers<ServerResponse>()
  const [first, second] = [Promise.withResolvers<ServerResponse>(), Promise.withResolvers<ServerResponse>()]
  let lists = 0
  await using server = await serve({
    'GET /api/actions': (request, response) => {
      const query = new URL(request.url ?? '', 'http://inbox').searchParams
      if (query.get('state') !== 'proposed' || query.has('delegated')) return json(response, page([]))
      const later = [first, second][lists++ - 1]
      if (later) later.resolve(response)
      else json(response, page([]))
    },
    'GET /api/actions/act_1': (_, response) => problem(response, 404, 'not_found', 'there is no action act_1'),
    'GET /api/events': (_, response) => {
      startStream(response)
      stream.resolve(response)
    },
  })
  const store = openInbox(createClient({ baseUrl: server.baseUrl }), { schedule: impatient })
  await until(store, ({ loaded }) => loaded)
  const reset = { reason: 'you may see other actions than before', session: emptySession(), messages: [], actions: [] }
  const response = await stream.promise
  response.write([7, 8, 9].map((seq) => frame({ type: 'reset', seq, data: reset })).join(''))
  await until(store, ({ resets }) => resets === 3)
  json(await first.promise, page([sampleAction()]))
  await until(store, ({ waiting }) => waiting === 1)
  json(await second.promise, page([sampleAction({ id: 'act_2' })]))
  expect((await until(store, ({ items }) => items.every(({ id }) => id !== 'act_1'))).items.map(({ id }) => id)).toEqual(['act_2'])
  expect(lists).toBe(3)
  store.close()
})

test('the inbox of a server that lists nothing by delegation has all else', async () => {
  await using server = await serve({
    'GET /api/actions': (request, response) => {
      const query = new URL(request.url ?? '', 'http://inbox').searchParams
      if (query.has('delegated')) return problem(response, 400, 'bad_request', 'delegated: there is no such parameter')
      json(response, page(query.get('state') === 'proposed' ? [sampleAction()] : []))
    },
    'GET /api/events': (_, response) => startStream(response),
  })
  const store = openInbox(createClient({ baseUrl: server.baseUrl }), { schedule: impatient })
  expect(await until(store, ({ loaded, failure }) => loaded || failure !== null)).toMatchObject({ waiting: 1, failure: null })
  store.close()
})

test('the 404 of a proxy, while the server behind it is replaced, neither closes the inbox nor takes an action off it', async () => {
  const [one, two] = [sampleAction(), sampleAction({ id: 'act_2' })]
  const { server, state, store } = await startInbox([one, two])
  await using _ = server
  state.refuse.push('GET /api/actions', 'GET /api/actions/act_1')
  state.list = [two]
  state.stream?.destroy()
  const { items } = await until(store, ({ items }) => items.some((action) => action.state === 'approved'))
  expect(items.map((action) => [action.id, action.state])).toEqual([
    ['act_1', 'approved'],
    ['act_2', 'proposed'],
  ])
  expect(state.refuse).toEqual([])
  expect(store.get().failure).toBeNull()
  store.close()
})

test('an inbox that may not be read says so', async () => {
  await using server = await serve({ 'GET /api/events': (_, response) => problem(response, 401, 'unauthenticated', 'Sign in.') })
  const store = openInbox(createClient({ baseUrl: server.baseUrl }), { schedule: impatient })
  expect(await until(store, (snapshot) => snapshot.failure !== null)).toMatchObject({
    failure: { code: 'unauthenticated' },
    connection: { kind: 'closed' },
  })
})
