import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { runStreams } from '../campaign/streams/run-streams.ts'
import { streamsSetup } from '../campaign/streams/setup.ts'
import { startChildServer } from '../testing/child-server.ts'
import { fold } from '../testing/fold.ts'
import { startTarget } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { BOOTSTRAP_KEY, startTestServer, temporaryFolder } from '../testing/test-server.ts'

const sse = (event: object) => new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)

/** Returns a remote brain's answer that stops after its first words until it may continue. */
const halting = (words: string, goOn: Promise<void>) => ({
  status: 200,
  contentType: 'text/event-stream',
  chunks: (async function* () {
    yield sse({ type: 'text-delta', delta: words })
    await goOn
    yield sse({ type: 'finish', finishReason: 'stop' })
  })(),
})

test('kill -9 while a message streams: it is begun anew, and nobody sees old and new pieces as one text', async () => {
  using folder = temporaryFolder()
  await using database = await openServerDatabase()
  await using brains = await startReplayServer()
  const mayEnd = Promise.withResolvers<void>()
  const { baseUrl } = brains.play([halting('The old words', new Promise(() => {})), halting('New words', mayEnd.promise)])
  const config = join(folder.path, 'countersign.json')
  writeFileSync(config, JSON.stringify({ agents: { desk: { model: `remote/${baseUrl}` } } }))
  const start = () => startChildServer({ configFile: config, dataDir: join(folder.path, 'data'), environment: database.environment })

  const first = await start()
  const before = await first.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await before.next('session')
  const { messageId } = await before.next('delta')
  await first.kill()
  const known = before.seen.filter(({ id }) => id !== undefined)
  expect(fold(known).messages.get(messageId)).toEqual({ streamed: 'The old words' })

  await using second = await start()
  const path = `/api/sessions/${sessionId}/events`
  // One reader resumes where it was, and one is new.
  using resumed = await second.admin.stream(path, { headers: { 'last-event-id': String(known.at(-1)?.id) } })
  await resumed.next('delta', ({ content }) => content.includes('New'))
  using fresh = await second.admin.stream(path)
  await fresh.next('delta', ({ content }) => content.includes('New'))
  expect(fold([...known, ...resumed.seen]).messages.get(messageId)).toEqual({ streamed: 'New words' })
  expect(fold(fresh.seen).messages.get(messageId)).toEqual({ streamed: 'New words' })

  mayEnd.resolve()
  await resumed.next('done')
  await fresh.next('done')
  const { items } = await second.admin.get(`/api/sessions/${sessionId}/messages`)
  expect([...fold([...known, ...resumed.seen]).messages.values()]).toEqual(items.toReversed())
  expect([...fold(fresh.seen).messages.values()]).toEqual(items.toReversed())
})

// Without a free core this took 181 s.
test('100 readers cut at random bytes: each has every event once, in order, and knows what the API says', {
  timeout: 600_000,
}, async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 9 } }))
  const headers = { authorization: `Bearer ${BOOTSTRAP_KEY}` }
  let insideMessage = 0
  // On Postgres, and on a busy machine, the whole message replaces most of its chunks before they are read. Then the agent talks slower.
  for (const wordMs of [3, 30, 300]) {
    await using server = await startTestServer(streamsSetup(target, wordMs))
    const report = await runStreams({ seed: 1, clients: 100, servers: [server.admin], headers })
    console.log(`streams, ${wordMs} ms a word:`, report)
    expect(report.connections).toBeGreaterThan(300)
    expect(report.insideEvent).toBeGreaterThan(100)
    expect(server.errors).toEqual([])
    insideMessage += report.insideMessage
    if (insideMessage > 2) break
  }
  expect(insideMessage).toBeGreaterThan(2)
})
