import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { createClient } from './client.ts'
import { openInbox } from './inbox-store.ts'
import { impatient } from './testing/impatient.ts'
import { frame, json, problem, sampleAction, serve, startStream } from './testing/log-server.ts'
import { until } from './testing/until.ts'

const DECLINED = { proposalId: 'act_1', state: 'declined', revision: 1, updatedAt: '2026-11-21T10:02:00.000Z' } as const
const second = sampleAction({ id: 'act_2', createdAt: '2026-11-21T10:00:01.000Z' })

/** An inbox whose list has been asked for and is not answered before `answer` is called. */
async function startLateInbox() {
  const waiting: (() => void)[] = []
  const stream = Promise.withResolvers<ServerResponse>()
  const server = await serve({
    'GET /api/actions': (request, response) => {
      const isProposed = request.url?.includes('state=proposed')
      waiting.push(() => json(response, { items: isProposed ? [sampleAction(), second] : [], nextCursor: null }))
    },
    'GET /api/events': (_, response) => {
      startStream(response)
      stream.resolve(response)
    },
  })
  const store = openInbox(createClient({ baseUrl: server.baseUrl }), { schedule: impatient })
  const opened = await stream.promise
  const answer = () => {
    for (const each of waiting.splice(0)) each()
  }
  return { server, store, waiting, answer, write: (event: Parameters<typeof frame>[0]) => opened.write(frame(event)) }
}

test('what was decided while the list was on its way does not come back with it', async () => {
  const { server, store, waiting, answer, write } = await startLateInbox()
  await using _ = server
  await expect.poll(() => waiting.length).toBe(3)
  write({ type: 'action_update', seq: 7, data: DECLINED })
  write({ type: 'action_proposed', seq: 8, data: { proposal: second } })
  await until(store, (snapshot) => snapshot.waiting === 1)
  answer()
  const { items } = await until(store, (snapshot) => snapshot.loaded)
  expect(items.map(({ id }) => id)).toEqual(['act_2'])
  // A search that was asked before it, too; but not what has come to need a person since.
  store.include([sampleAction()])
  expect(store.get().waiting).toBe(1)
  store.include([sampleAction({ state: 'outcome_unknown', updatedAt: '2026-11-21T10:03:00.000Z' })])
  expect(store.get()).toMatchObject({ waiting: 1, unknown: 1 })
  store.close()
})

test('an action that is gone after a cut leaves the inbox, which goes on', async () => {
  const state = { list: [sampleAction(), second], stream: undefined as ServerResponse | undefined }
  await using server = await serve({
    'GET /api/actions': (request, response) =>
      json(response, { items: request.url?.includes('state=proposed') ? state.list : [], nextCursor: null }),
    'GET /api/actions/act_1': (_, response) => problem(response, 404, 'not_found', 'There is no such action.'),
    'GET /api/events': (_, response) => {
      startStream(response)
      state.stream = response
    },
  })
  const store = openInbox(createClient({ baseUrl: server.baseUrl }), { schedule: impatient })
  await until(store, (snapshot) => snapshot.loaded && snapshot.waiting === 2)
  state.list = [second]
  state.stream?.destroy()
  expect(await until(store, (snapshot) => snapshot.waiting === 1)).toMatchObject({ items: [second], failure: null })
  state.stream?.write(frame({ type: 'action_proposed', seq: 9, data: { proposal: sampleAction({ id: 'act_3' }) } }))
  await until(store, (snapshot) => snapshot.waiting === 2)
  store.close()
})
