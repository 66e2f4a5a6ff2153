// The server of the benchmark over HTTP, alone in its process. It makes cycles on its own engine, too, without HTTP.
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineTool, openConfig, readSettings, startServer } from 'countersign'
import { pino } from 'pino'
import { z } from 'zod'
import { runCycles } from './cycles.ts'
import { nowMs, person } from './engine.ts'

export type Order = { do: 'cycles'; inFlight: number; cycles: number } | { do: 'cpu' } | { do: 'end' }

const { key, turns, databaseUrl } = JSON.parse(process.argv[2] ?? '{}') as { key: string; turns: number; databaseUrl?: string }
const folder = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
const setStatus = defineTool({
  name: 'setStatus',
  description: 'Sets the status of an order',
  input: z.object({ orderId: z.string(), status: z.string() }),
  effect: 'write',
  describe: ({ orderId, status }) => `Set order ${orderId} to ${status}`,
  preview: async ({ status }) => [{ field: 'status', oldValue: 'pending', newValue: status }],
  execute: async () => ({ atMs: nowMs() }),
})
const turn = [{ calls: [{ tool: 'setStatus', arguments: { orderId: 'ORD-001', status: 'processing' } }] }, { text: 'Done.' }]
writeFileSync(join(folder, 'desk.json'), JSON.stringify({ steps: Array.from({ length: turns }, () => turn).flat() }))
const config = await openConfig(
  { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: { shop: { prefix: false, tools: [setStatus] } } },
  { environment: {}, folder },
)
const settings = readSettings({ port: 0, data: folder, ...(databaseUrl && { databaseUrl }) }, { COUNTERSIGN_BOOTSTRAP_KEY: key })
const server = await startServer({ config, settings, log: pino({ level: 'error' }) })
await server.engine.savePrincipal(person)

async function carryOut(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'cycles': {
      const begin = performance.now()
      const times = await runCycles({ engine: server.engine }, order.inFlight, order.cycles)
      return { seconds: (performance.now() - begin) / 1000, cycleMs: times.map(({ cycleMs }) => cycleMs) }
    }
    case 'cpu': {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1000
    }
    case 'end':
      await server.close()
      await rm(folder, { recursive: true })
      return null
  }
}
process.on('message', async (order: Order) => {
  process.send?.(await carryOut(order))
  if (order.do === 'end') process.disconnect?.()
})
process.once('disconnect', () => process.exit())
process.send?.(server.url)
