import { expect, test } from 'vitest'
import { resultsHeard } from '../testing/brain-says.ts'
import { call, startTalk } from '../testing/talk.ts'

/** Holds answers back until `count` requests wait at the same time. */
function gathering(count: number) {
  const waiting: (() => void)[] = []
  const gathered = Promise.withResolvers<void>()
  let most = 0
  return {
    most: () => most,
    /** Resolves when `count` requests wait. */
    gathered: gathered.promise,
    wait: () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve)
        most = Math.max(most, waiting.length)
        if (waiting.length >= count) gathered.resolve()
      }),
    /** Releases the newest request, so that answers come in another order than requests. */
    letOneGo: () => waiting.pop()?.(),
    isEmpty: () => waiting.length === 0,
  }
}

test('thirty reads of one step: eight at a time, and the model gets all results in the order of its calls', async () => {
  const calls = Array.from({ length: 30 }, (_, i) => call(`c${i}`, 'look', `thing ${i}`))
  const hold = gathering(8)
  await using talk = await startTalk({
    says: [{ calls }, { text: 'Seen.' }],
    answer: async ({ path }) => {
      await hold.wait()
      return { status: 200, body: { saw: decodeURIComponent(path.slice('/look/'.length)) } }
    },
  })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'look around' } })
  const { sessionId } = await stream.next('session')
  await hold.gathered
  const executing = await admin.get(`/api/actions?session=${sessionId}&state=executing`)
  expect(executing.items).toHaveLength(8)
  const letAllGo = setInterval(hold.letOneGo)
  await stream.next('message', ({ message }) => message.content === 'Seen.')
  clearInterval(letAllGo)
  expect(hold.most()).toBe(8)
  expect(hold.isEmpty()).toBe(true)
  expect(resultsHeard(talk.brain, 1)).toEqual(calls.map(({ id, input }) => [id, { saw: input.what }]))
})

test('what waits for its turn is not lost by a restart: each approved write is carried out once', async () => {
  const calls = Array.from({ length: 12 }, (_, i) => call(`c${i}`, 'keyed', `thing ${i}`))
  const hold = gathering(8)
  await using talk = await startTalk({
    says: [{ calls }, { text: 'Done.' }],
    answer: async () => {
      await hold.wait()
      return { status: 200, body: { id: 1 } }
    },
  })
  const { server, target } = talk
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  await stream.next('session_status', ({ pendingApprovals }) => pendingApprovals.length === 12)
  await server.admin.post(`/api/sessions/${sessionId}/approve`, { verdict: 'approve_all' })
  await hold.gathered
  const letAllGo = setInterval(hold.letOneGo)
  await server.restart()
  using back = await server.admin.stream(`/api/sessions/${sessionId}/events`)
  await back.next('message', ({ message }) => message.content === 'Done.')
  clearInterval(letAllGo)
  expect(target.writes.map(({ body }) => (body as { what: string }).what).toSorted()).toEqual(
    calls.map(({ input }) => input.what).toSorted(),
  )
})
