import { expect, test } from 'vitest'
import { seededRandom } from '../../simulation/random.ts'
import { startRawSink } from '../../testing/raw-sink.ts'
import { openCutReader } from './cut-reader.ts'

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nid: 1\nevent: done\ndata: {}\n\n'

test('a reader that has everything is done, also while its next connection has no answer yet', async () => {
  const connectedAgain = Promise.withResolvers<void>()
  let connections = 0
  await using server = await startRawSink((socket) => {
    if (++connections === 1) socket.end(ANSWER)
    else connectedAgain.resolve()
  })
  const reader = openCutReader({ random: seededRandom(1), urls: [server.url], path: '/', headers: {} })
  await connectedAgain.promise
  await reader.readUpTo(1)
  expect(reader.events).toEqual([{ id: 1, type: 'done', data: {} }])
  expect(reader.counts.connections).toBe(2)
})
