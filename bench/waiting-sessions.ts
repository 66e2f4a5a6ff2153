import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLiveBrain } from '../verification/testing/live-brain.ts'
import { call } from '../verification/testing/talk.ts'
import { type BenchDatabase, copyRows } from './database.ts'
import { startServer, startTarget, toolsFor } from './server.ts'
import { statsOf } from './stats.ts'

const STARTS = 5

/** How long the start of a server takes while `waiting` sessions wait for a person each, and the first decision after it. */
export async function benchWaitingSessions(openDatabase: (folder: string) => Promise<BenchDatabase>, waiting: number) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(folder, { recursive: true }))
  const database = await openDatabase(folder)
  stack.defer(() => database.close())
  const target = await startTarget()
  stack.defer(() => void target.close())
  const brain = stack.use(
    await startLiveBrain(({ results }) => (results === 0 ? { calls: [call('a', 'act', 'a thing')] } : { text: 'Done.' })),
  )
  const configFile = join(folder, 'countersign.json')
  const agents = { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'] } }
  await writeFile(configFile, JSON.stringify({ agents, tools: toolsFor(target.url) }))

  const first = await startServer(configFile, database)
  const { id } = await first.call('/api/sessions', {})
  await first.call(`/api/sessions/${id}/messages`, { content: 'act on a thing' })
  let actionId: string | undefined
  while (actionId === undefined) actionId = (await first.call('/api/actions?state=proposed')).items[0]?.id
  await first.stop()
  const padded = database.padded
  await copyRows(database, 'session', `id = '${id}'`, waiting, { id: `'ses_' || ${padded}` })
  const inSession = { session_id: `'ses_' || ${padded}` }
  await copyRows(database, 'run', `session_id = '${id}'`, waiting, inSession)
  await copyRows(database, 'message', `session_id = '${id}'`, waiting, inSession)
  await copyRows(database, 'action', `session_id = '${id}'`, waiting, {
    ...inSession,
    id: `'act_' || ${padded}`,
    idempotency_key: `'act_' || ${padded} || '.1'`,
  })
  await database.run('analyze')

  const startMs: number[] = []
  const decisionMs: number[] = []
  for (let i = 1; i <= STARTS; i++) {
    const server = await startServer(configFile, database)
    startMs.push(server.startMs)
    const begin = performance.now()
    const one = `act_${String(i).padStart(26, '0')}`
    await server.call(`/api/actions/${one}/decision`, { verdict: 'approve' })
    await server.call(`/api/actions/${one}?wait=20&until=settled`)
    decisionMs.push(performance.now() - begin)
    await server.stop()
  }
  return { waiting, startMs: statsOf(startMs), firstDecisionToResultMs: statsOf(decisionMs) }
}
