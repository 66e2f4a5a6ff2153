import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openHttpAgent, verifyAsClient } from '../testing/ag-ui-agent.ts'
import { BOOTSTRAP_KEY } from '../testing/bootstrap-key.ts'
import { startChildServer } from '../testing/child-server.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { temporaryFolder } from '../testing/test-server.ts'

const TURNS = 105

test('two tabs on a long thread, a server that is killed while an interrupt is open, and both tabs approve at once: nothing is lost and it runs once', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  await using database = await openServerDatabase()
  using folder = temporaryFolder()
  const configFile = join(folder.path, 'countersign.json')
  const agents = { desk: { model: 'scripted/desk.json', tools: ['*'] } }
  writeFileSync(configFile, JSON.stringify({ tools: toolsOf(target), agents }))
  const steps = [
    ...Array.from({ length: TURNS }, (_, n) => ({ text: `Answer ${n}.` })),
    { calls: [{ tool: 'keyed', arguments: { what: 'x' } }] },
    { text: 'Done.' },
  ]
  writeFileSync(join(folder.path, 'desk.json'), JSON.stringify({ steps }))
  const start = () => startChildServer({ configFile, dataDir: join(folder.path, 'data'), environment: database.environment })

  const told: string[] = []
  await using killed = await start()
  const first = await openHttpAgent(killed.url, BOOTSTRAP_KEY)
  for (let n = 0; n < TURNS; n++) {
    first.agent.addMessage({ id: `u${n}`, role: 'user', content: `Question ${n}` })
    await first.agent.runAgent()
    told.push(`user: Question ${n}`, `assistant: Answer ${n}.`)
  }
  first.agent.addMessage({ id: 'last', role: 'user', content: 'Do x' })
  await first.agent.runAgent()
  const second = await openHttpAgent(killed.url, BOOTSTRAP_KEY)
  await second.agent.runAgent()
  await killed.kill()

  await using later = await start()
  const tabs = await Promise.all(
    [first, second].map(({ agent }) => openHttpAgent(later.url, BOOTSTRAP_KEY, agent.threadId, agent.messages)),
  )
  for (const { agent } of tabs) {
    await agent.runAgent()
    expect(agent.pendingInterrupts).toHaveLength(1)
  }
  await Promise.all(
    tabs.map(({ agent }) =>
      agent.runAgent({ resume: [{ interruptId: agent.pendingInterrupts[0]?.id ?? '', status: 'resolved', payload: { approved: true } }] }),
    ),
  )
  told.push('user: Do x', 'assistant: a call', 'tool: {"id":4}', 'assistant: Done.')
  for (const [at, { agent, events }] of tabs.entries()) {
    const said = agent.messages.map(({ role, content }) => `${role}: ${content ?? 'a call'}`)
    // The first tab has all of it; a snapshot, which the second one got, holds the newest 200 messages.
    expect(said).toEqual(at === 0 ? told : told.slice(-said.length))
    expect(said.length).toBeGreaterThan(199)
    expect(agent.messages.flatMap(({ toolCalls = [] }) => toolCalls).map((call) => JSON.parse(call.function.arguments))).toEqual([
      { what: 'x' },
    ])
    expect(agent.pendingInterrupts).toEqual([])
    await verifyAsClient(events.slice(events.findLastIndex(({ type }) => type === 'RUN_STARTED')))
  }
  expect(target.writes).toHaveLength(1)
  expect((await later.admin.get('/api/actions')).items).toMatchObject([{ state: 'succeeded', attempt: 1 }])
})
