// The server of the benchmark of subscribers, alone in its process. It answers the benchmark's questions about memory and commits.
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineTool, openConfig, readSettings, startServer } from 'countersign'
import { pino } from 'pino'
import { z } from 'zod'
import { nowMs } from './engine.ts'

export type Question =
  | { ask: 'memory' }
  | { ask: 'cpu' }
  | { ask: 'follow'; sessionId: string }
  | { ask: 'idle' }
  | { ask: 'commits' }
  | { ask: 'end' }
/** The memory in use after a collection of garbage. */
export interface Memory {
  rssBytes: number
  heapBytes: number
  outsideHeapBytes: number
}
/** When each event of the followed session was committed, by its number; everything that was begun is done. */
export type Commits = [seq: number, atMs: number][]

const [key = '', turns = '1'] = process.argv.slice(2)
const dataDir = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
const setStatus = defineTool({
  name: 'setStatus',
  description: 'Sets the status of an order',
  input: z.object({ orderId: z.string(), status: z.string() }),
  effect: 'write',
  preview: async ({ status }) => [{ field: 'status', oldValue: 'pending', newValue: status }],
  execute: async () => ({ ok: true }),
})
const turn = [{ calls: [{ tool: 'setStatus', arguments: { orderId: 'ORD-001', status: 'processing' } }] }, { text: 'Done.' }]
const steps = Array.from({ length: Number(turns) }, () => turn).flat()
writeFileSync(join(dataDir, 'desk.json'), JSON.stringify({ steps }))
const config = await openConfig(
  { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: { shop: { prefix: false, tools: [setStatus] } } },
  { environment: {}, folder: dataDir },
)
const settings = readSettings({ port: 0, data: dataDir }, { COUNTERSIGN_BOOTSTRAP_KEY: key })
const server = await startServer({ config, settings, log: pino({ level: 'error' }) })

let commits: Commits = []
let unfollow = () => {}

function memory(): Memory {
  for (let i = 0; i < 3; i++) globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rssBytes: rss, heapBytes: heapUsed, outsideHeapBytes: external }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function answer(question: Question): Promise<unknown> {
  switch (question.ask) {
    case 'memory':
      return memory()
    case 'cpu':
      return cpuMs()
    case 'follow':
      // The first listener of the session: it is called as soon as the commit is done, before any stream.
      unfollow = await server.engine.hub.onSession(question.sessionId, ({ seq }) => void commits.push([seq ?? 0, nowMs()]))
      return null
    case 'idle':
      await server.engine.idle()
      return null
    case 'commits': {
      await server.engine.idle()
      const made = commits
      commits = []
      return made
    }
    case 'end':
      unfollow()
      await server.close()
      await rm(dataDir, { recursive: true })
      return null
  }
}
process.on('message', async (question: Question) => {
  const answered = await answer(question)
  process.send?.(answered)
  if (question.ask === 'end') process.disconnect?.()
})
process.once('disconnect', () => process.exit())
process.send?.(server.url)
