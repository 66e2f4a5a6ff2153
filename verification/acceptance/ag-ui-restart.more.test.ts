import { expect, test } from 'vitest'
import { type AgUiMessage, openHttpAgent } from '../testing/ag-ui-agent.ts'
import { startTestServer } from '../testing/test-server.ts'

test('an answer that another model begins anew replaces what the first one said of it: the page shows it once, and the rest as it was', async () => {
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/first.json', fallbacks: ['scripted/second.json'] } } },
    scripts: {
      first: [{ text: 'Hello.' }, { reasoning: 'Not this.', text: 'This is not the', chunkDelayMs: 60, error: 'overloaded' }],
      second: [{ text: 'Not asked.' }, { reasoning: 'This.', text: 'This is it.', chunkDelayMs: 60 }],
    },
  })
  const { key } = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['member'] })
  const { agent, events } = await openHttpAgent(server.url, key)
  const say = async (content: string) => {
    agent.addMessage({ id: `mine-${agent.messages.length}`, role: 'user', content })
    await agent.runAgent()
  }
  await say('Hi')
  await say('And now?')
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
