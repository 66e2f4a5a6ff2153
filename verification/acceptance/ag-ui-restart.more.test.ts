import { expect, test } from 'vitest'
import { type ReplayAnswer, startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { type AgUiMessage, openHttpAgent } from '../testing/ag-ui-agent.ts'
import { startTestServer } from '../testing/test-server.ts'

const sse = (event: object) => new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)
const FINISH = { type: 'finish', finishReason: 'stop' }

/** An answer of a remote brain whose end waits until `mayEnd`. */
const says = (said: { reasoning?: string; text: string }, end: object = FINISH, mayEnd = Promise.resolve()): ReplayAnswer => ({
  status: 200,
  contentType: 'text/event-stream',
  chunks: (async function* () {
    if (said.reasoning !== undefined) yield sse({ type: 'reasoning-delta', delta: said.reasoning })
    yield sse({ type: 'text-delta', delta: said.text })
    await mayEnd
    yield sse(end)
  })(),
})

test('an answer that another model begins anew replaces what the first one said of it: the page shows it once, and the rest as it was', async () => {
  await using brains = await startReplayServer()
  const mayFail = Promise.withResolvers<void>()
  const mayFinish = Promise.withResolvers<void>()
  const broken = says({ reasoning: 'Not this.', text: 'This is not the' }, { type: 'error', message: 'overloaded' }, mayFail.promise)
  const first = brains.play([says({ text: 'Hello.' }), broken])
  const second = brains.play([says({ reasoning: 'This.', text: 'This is it.' }, FINISH, mayFinish.promise)])
  await using server = await startTestServer({
    config: { agents: { desk: { model: `remote/${first.baseUrl}`, fallbacks: [`remote/${second.baseUrl}`] } } },
  })
  const { key } = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['member'] })
  const { agent, events } = await openHttpAgent(server.url, key)
  const say = async (content: string) => {
    agent.addMessage({ id: `mine-${agent.messages.length}`, role: 'user', content })
    await agent.runAgent()
  }
  await say('Hi')
  const answered = say('And now?')
  // The whole message replaces its pieces in the log, so each model ends once the page has what it said. Its last word comes with its end.
  const said = () => events.map((event) => (event as { delta?: string }).delta ?? '').join('')
  await expect.poll(said).toContain('Not this.This is not')
  mayFail.resolve()
  await expect.poll(said).toContain('This.This is')
  mayFinish.resolve()
  await answered
  const shown = ({ id, role, content }: AgUiMessage) => (role === 'user' ? [id, content] : [role, content])
  expect(agent.messages.map(shown)).toEqual([
    ['mine-0', 'Hi'],
    ['assistant', 'Hello.'],
    ['mine-2', 'And now?'],
    ['reasoning', 'This.'],
    ['assistant', 'This is it.'],
  ])
  expect(events.map(({ type }) => type)).toContain('MESSAGES_SNAPSHOT')
  // The answer has the id that it is stored under: a further run has nothing to put right.
  const before = events.length
  await agent.runAgent()
  expect(events.slice(before).map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
})
