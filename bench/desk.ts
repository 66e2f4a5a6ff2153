import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openConfig, readSettings, startServer } from 'countersign'
import { pino } from 'pino'
import { statusTool } from './engine.ts'

export interface DeskOptions {
  /** Of an administrator. */
  key: string
  /** Gated turns of each session. */
  turns: number
  /** Default: the embedded database, in a folder of its own. */
  databaseUrl?: string | undefined
}

const TURN = [{ calls: [{ tool: 'setStatus', arguments: { orderId: 'ORD-001', status: 'processing' } }] }, { text: 'Done.' }]

/** Starts a server in this process whose agent proposes one action per message. Closing it removes its data. */
export async function startDesk({ key, turns, databaseUrl }: DeskOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
  writeFileSync(join(folder, 'desk.json'), JSON.stringify({ steps: Array.from({ length: turns }, () => TURN).flat() }))
  const config = await openConfig(
    { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: { shop: { prefix: false, tools: [statusTool()] } } },
    { environment: {}, folder },
  )
  const settings = readSettings({ port: 0, data: folder, ...(databaseUrl && { databaseUrl }) }, { COUNTERSIGN_BOOTSTRAP_KEY: key })
  const { url, engine, close } = await startServer({ config, settings, log: pino({ level: 'error' }) })
  return {
    url,
    engine,
    async close() {
      await close()
      await rm(folder, { recursive: true })
    },
  }
}

/** Processor time that this process has used, in ms. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
