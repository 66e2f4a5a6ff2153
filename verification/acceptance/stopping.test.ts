import { expect, test } from 'vitest'
import { startTarget } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const INPUT = { type: 'object', required: ['id'], additionalProperties: false, properties: { id: { type: 'string' } } }

async function start() {
  const stack = new AsyncDisposableStack()
  const isRead = Promise.withResolvers<void>()
  const mayAnswer = Promise.withResolvers<void>()
  const target = stack.use(
    await startTarget(async ({ path }) => {
      if (path === '/things/slow') {
        isRead.resolve()
        await mayAnswer.promise
      }
      return { status: 200, body: { name: 'before' } }
    }),
  )
  const rename = {
    method: 'PATCH',
    path: '/things/{id}',
    input: INPUT,
    before: { get: '/things/{id}', compare: { name: 'after' } },
  } as const
  const server = stack.use(await startTestServer({ config: { tools: { shop: { routes: { baseUrl: target.url, tools: { rename } } } } } }))
  const propose = (id: string) => server.admin.send('POST', '/api/actions', { body: { tool: 'shop.rename', arguments: { id } } })
  return { server, propose, isRead: isRead.promise, letAnswer: mayAnswer.resolve, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** A request under way is cut off after this time. */
const PATIENCE_MS = 5_000

/** Stops a server in the middle of a request. Resolves with the answer, or the error, and the time that this took. */
async function stopInRequest(): Promise<{ answer: unknown; tookMs: number }> {
  await using it = await start()
  const proposed = it.propose('slow').catch((error: unknown) => error)
  await it.isRead
  const startedAt = performance.now()
  const stopped = it.server.stop()
  // It refuses what comes now, so it is stopping.
  await expect
    .poll(() =>
      it.propose('late').then(
        ({ status }) => status,
        () => 503,
      ),
    )
    .toBe(503)
  it.letAnswer()
  const answer = await proposed
  const tookMs = performance.now() - startedAt
  await stopped
  return { answer, tookMs }
}

test('a server that stops answers the requests under way', async () => {
  let last = await stopInRequest()
  // A machine that is too busy for that within the time has to try again.
  while (last.answer instanceof Error && last.tookMs >= PATIENCE_MS) last = await stopInRequest()
  expect(last.answer).toMatchObject({ status: 201, body: { state: 'proposed' } })
})

test('a server that stops answers its long polls with the action as it is', async () => {
  await using it = await start()
  const { body: action } = await it.propose('7')
  const { key, id } = await it.server.makeKey({ name: 'Ada', kind: 'person', roles: ['viewer'] })
  const polled = it.server.with({ authorization: `Bearer ${key}` }).send('GET', `/api/actions/${action.id}?wait=60`)
  // Its key is not used for anything else: the request is there.
  const keys = () => it.server.admin.get('/api/keys')
  await expect.poll(async () => (await keys()).items.find((one: { id: string }) => one.id === id).lastUsedAt).not.toBeNull()
  await it.server.stop()
  expect(await polled).toMatchObject({ status: 200, body: { id: action.id, state: 'proposed' } })
})
