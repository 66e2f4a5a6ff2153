import { expect, test } from 'vitest'
import { startTestServer } from '../testing/test-server.ts'

const HOSTILE = [
  '\n\nevent: evil\ndata: {}\n\n',
  '\r\rdata: x\r\r',
  '\r\nid: 999999\r\n',
  '\u2028\u2029\u0085',
  '\n: comment\n',
  '\u0001',
  '\nretry: 1\n',
]

test('nothing that a person or a model writes becomes a line of an event stream', async () => {
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json' } } },
    scripts: { talk: HOSTILE.map((text) => ({ text: `said${text}end` })) },
  })
  const session = await server.admin.post('/api/sessions', { title: 'Injected' })
  // The reader checks every event against the known types and shapes, and fails on any other line.
  using stream = await server.admin.stream(`/api/sessions/${session.id}/events`)
  for (const text of HOSTILE) {
    await server.admin.post(`/api/sessions/${session.id}/messages`, { content: `wrote${text}end` })
    await stream.next('message', ({ message }) => message.role === 'user' && message.content === `wrote${text}end`)
    await stream.next('message', ({ message }) => message.role === 'assistant' && message.content === `said${text}end`)
    await stream.next('done')
  }
  const ids = stream.seen.flatMap(({ id }) => (id === undefined ? [] : [id]))
  expect(ids).toEqual([...ids].sort((a, b) => a - b))
  expect(Math.max(...ids)).toBeLessThan(1_000)
})
