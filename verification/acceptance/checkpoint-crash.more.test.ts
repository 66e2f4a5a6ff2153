import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { type Replay, type ReplayAnswer, startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { brainSays, resultsHeard } from '../testing/brain-says.ts'
import { type ChildServer, startChildServer } from '../testing/child-server.ts'
import { openSeveralServers } from '../testing/several-servers.ts'
import { call } from '../testing/talk.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { temporaryFolder } from '../testing/test-server.ts'

interface Place extends AsyncDisposable {
  brain: Replay
  target: Target
  /** Starts a server process on the data of the one before. */
  start(): Promise<ChildServer>
}

/** Opens what stays when a server is killed: its data, its brain and its target. */
async function openPlace(answers: readonly ReplayAnswer[]): Promise<Place> {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const { environment } = stack.use(await openServerDatabase())
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 7 } })))
  const brain = stack.use(await startReplayServer()).play(answers)
  const file = join(folder.path, 'countersign.json')
  writeFileSync(file, JSON.stringify({ agents: { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'] } }, tools: toolsOf(target) }))
  const start = async () => stack.use(await startChildServer({ configFile: file, dataDir: join(folder.path, 'data'), environment }))
  return { brain, target, start, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const ASKS = brainSays({ calls: [call('a', 'unkeyed', 'x')] })

test('the checkpoint outlives every process: kill -9 between calls, and in the middle of one', async () => {
  const isAsked = Promise.withResolvers<void>()
  const hanging: ReplayAnswer = {
    ...ASKS,
    chunks: (async function* () {
      isAsked.resolve()
      await new Promise(() => {})
      yield new Uint8Array()
    })(),
  }
  await using place = await openPlace([hanging, ASKS, brainSays({ text: 'Done.' })])
  const first = await place.start()
  const { requestId } = await first.admin.post('/api/agent-requests', { message: 'do x' })
  const execute = `/api/agent-requests/${requestId}/execute`
  await first.kill()

  const second = await place.start()
  const cut = second.admin.post(execute).catch((error) => error)
  await isAsked.promise
  await second.kill()
  expect(await cut).toBeInstanceOf(TypeError)

  const third = await place.start()
  const paused = await third.admin.post(execute)
  expect(paused).toMatchObject({ requestId, status: 'awaiting_approval', checkpoint: { iterationCount: 1 } })
  expect(place.brain.requests).toHaveLength(2)
  await third.kill()

  const fourth = await place.start()
  expect(await fourth.admin.post(execute)).toEqual(paused)
  const [action] = paused.pendingApprovals
  const ended = await fourth.admin.post(`/api/approve-tool/${action.id}`, { approved: true })
  expect(ended).toMatchObject({ requestId, status: 'completed', checkpoint: { iterationCount: 2 }, message: 'Done.' })
  expect(await fourth.admin.post(`/api/approve-tool/${action.id}`, { approved: true })).toEqual(ended)
  expect(await fourth.admin.post(execute)).toEqual(ended)
  expect(place.target.writes).toHaveLength(1)
  expect(place.brain.requests).toHaveLength(3)
})

test('an approval through the session goes on from where it waited, in the process that asked and in one that never saw it', async () => {
  await using place = await openPlace([ASKS, ASKS, brainSays({ text: 'Done.' })])
  const first = await place.start()
  const { requestId, sessionId } = await first.admin.post('/api/agent-requests', { message: 'do x twice' })
  const execute = `/api/agent-requests/${requestId}/execute`
  await first.admin.post(execute)
  const approve = `/api/sessions/${sessionId}/approve`
  expect(await first.admin.post(approve, { verdict: 'approve' })).toMatchObject({ id: sessionId })
  expect(await first.admin.post(execute)).toMatchObject({ status: 'awaiting_approval', checkpoint: { iterationCount: 2 } })
  expect(place.target.writes).toHaveLength(1)
  await first.kill()

  const second = await place.start()
  expect(await second.admin.get(`/api/sessions/${sessionId}`)).toMatchObject({ status: 'waiting_approval' })
  expect(await second.admin.post(approve, { verdict: 'reject', reason: 'once is enough' })).toMatchObject({ pendingApprovals: [] })
  expect(await second.admin.post(execute)).toMatchObject({ status: 'completed', message: 'Done.' })
  expect(resultsHeard(place.brain, 2)).toEqual([
    [expect.any(String), { id: 7 }],
    [expect.any(String), { denied: true, reason: 'once is enough' }],
  ])
  expect(place.target.writes).toHaveLength(1)
})

// Only Postgres allows several processes on one database.
test.skipIf(inject('database') !== 'postgres')(
  'on several processes every call for a request hears the same, and one killed in the middle is replaced',
  async () => {
    const isAsked = Promise.withResolvers<void>()
    await using all = await openSeveralServers({
      speak: ({ results }) => {
        isAsked.resolve()
        if (all.brain.calls.length === 1) return new Promise<never>(() => {})
        return results === 0 ? { calls: [call('a', 'unkeyed', 'x')] } : { text: 'Done.' }
      },
      answer: () => ({ status: 200, body: { id: 7 } }),
    })
    const first = await all.start()
    const { requestId } = await first.admin.post('/api/agent-requests', { message: 'do x' })
    const execute = `/api/agent-requests/${requestId}/execute`
    const cut = first.admin.post(execute).catch((error) => error)
    await isAsked.promise
    const others = await Promise.all([all.start(), all.start()])
    const waiting = others.flatMap(({ admin }) => [admin.post(execute), admin.post(execute)])
    await first.kill()
    expect(await cut).toBeInstanceOf(TypeError)
    const paused = await Promise.all(waiting)
    for (const answer of paused) expect(answer).toEqual(paused[0])
    expect(paused[0]).toMatchObject({ status: 'awaiting_approval', checkpoint: { iterationCount: 1 } })
    expect(all.brain.calls).toHaveLength(2)

    const approve = `/api/approve-tool/${paused[0].pendingApprovals[0].id}`
    const ended = await Promise.all(others.flatMap(({ admin }) => [1, 2].map(() => admin.post(approve, { approved: true }))))
    for (const answer of ended) expect(answer).toEqual(ended[0])
    expect(ended[0]).toMatchObject({ status: 'completed', message: 'Done.' })
    expect(all.target.writes).toHaveLength(1)
    expect(all.brain.calls).toHaveLength(3)
  },
)
