import { cpus, release, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { benchBurst } from './burst.ts'
import { benchBytes } from './bytes.ts'
import { benchCatalogue } from './catalogue.ts'
import { benchConditions } from './conditions.ts'
import { benchCost, benchPostgresCost } from './cost.ts'
import { benchCycles, benchLongSession, benchPostgresCycles } from './cycles.ts'
import { openPostgresForBench, openSqliteForBench } from './database.ts'
import { benchInbox } from './inbox.ts'
import { benchInboxPage } from './inbox-page.ts'
import { benchOverHttp } from './over-http.ts'
import { benchReady } from './ready.ts'
import { benchSubscribers } from './subscribers.ts'
import { benchWaiting } from './waiting.ts'
import { benchWaitingSessions } from './waiting-sessions.ts'

const { values } = parseArgs({ options: { only: { type: 'string' }, quick: { type: 'boolean', default: false } } })
const scale = values.quick ? 0.1 : 1
const n = (count: number) => Math.max(100, Math.round(count * scale))

/** The figures, each by one script of this folder. */
const BENCHES: Record<string, () => Promise<unknown>> = {
  cyclesAt1: () => benchCycles(1, n(2_000)),
  cyclesWithoutPreviewAt1: () => benchCycles(1, n(2_000), { hasPreview: false }),
  cyclesAt8: () => benchCycles(8, n(8_000)),
  cyclesAt32: () => benchCycles(32, n(16_000)),
  postgresAt1: () => benchPostgresCycles(1, 1, n(1_000)),
  postgresAt8: () => benchPostgresCycles(1, 8, n(3_000)),
  postgresAt32: () => benchPostgresCycles(1, 32, n(3_000)),
  twoProcessesAt2: () => benchPostgresCycles(2, 2, n(1_000)),
  twoProcessesAt8: () => benchPostgresCycles(2, 8, n(3_000)),
  twoProcessesAt32: () => benchPostgresCycles(2, 32, n(3_000)),
  threeProcessesAt32: () => benchPostgresCycles(3, 32, n(3_000)),
  costAt1: () => benchCost({ inFlight: 1, cycles: 20, rounds: values.quick ? 30 : 200 }),
  costAt32: () => benchCost({ inFlight: 32, cycles: 256, rounds: values.quick ? 30 : 100 }),
  costOfTenRulesAt32: () => benchCost({ inFlight: 32, cycles: 256, rounds: values.quick ? 30 : 100, underTenRules: true }),
  postgresCostAt1: () => benchPostgresCost({ inFlight: 1, cycles: 30, rounds: values.quick ? 10 : 50 }),
  postgresCostAt32: () => benchPostgresCost({ inFlight: 32, cycles: 160, rounds: values.quick ? 10 : 50 }),
  conditions: async () => benchConditions(n(20_000)),
  longSession: () => benchLongSession(values.quick ? 3 : 12),
  thousandTurns: () => benchLongSession(2, n(1_000)),
  results10MB: () => benchCycles(1, values.quick ? 20 : 100, { resultBytes: 10_000_000 }),
  catalogue1500: () => benchCatalogue(1_500, n(500)),
  burst8k: () => benchBurst(n(8_000)),
  bytes: () => benchBytes(n(1_000)),
  waiting1k: () => benchWaiting(openSqliteForBench, 1_000, n(1_000)),
  waiting1M: () => benchWaiting(openSqliteForBench, values.quick ? 100_000 : 1_000_000, n(1_000)),
  postgresWaiting1k: () => benchWaiting(openPostgresForBench, 1_000, n(1_000)),
  postgresWaiting1M: () => benchWaiting(openPostgresForBench, values.quick ? 100_000 : 1_000_000, n(1_000)),
  waitingSessions1M: () => benchWaitingSessions(openSqliteForBench, values.quick ? 100_000 : 1_000_000),
  postgresWaitingSessions1M: () => benchWaitingSessions(openPostgresForBench, values.quick ? 100_000 : 1_000_000),
  inbox: () => benchInbox(openSqliteForBench, n(100_000)),
  postgresInbox: () => benchInbox(openPostgresForBench, n(100_000)),
  overHttpAt1: () => benchOverHttp({ inFlight: 1, cycles: n(500), rounds: 5 }),
  overHttpAt32: () => benchOverHttp({ inFlight: 32, cycles: n(3_200), rounds: 5 }),
  postgresOverHttpAt1: () => benchOverHttp({ inFlight: 1, cycles: n(300), rounds: 5, database: 'postgres' }),
  postgresOverHttpAt32: () => benchOverHttp({ inFlight: 32, cycles: n(1_600), rounds: 5, database: 'postgres' }),
  inboxPage: () => benchInboxPage(10_000, values.quick ? 1 : 5),
  subscribers1: () => benchSubscribers({ streams: 1, people: 1, renames: n(1_000), turns: values.quick ? 5 : 50 }),
  subscribers5k: () => benchSubscribers({ streams: values.quick ? 500 : 5_000, people: values.quick ? 500 : 5_000, renames: 20, turns: 3 }),
  ready: () => benchReady(values.quick ? 2 : 7),
}

const results: Record<string, unknown> = {}
for (const [name, bench] of Object.entries(BENCHES)) {
  if (values.only !== undefined && !values.only.split(',').includes(name)) continue
  process.stderr.write(`${name} …\n`)
  results[name] = await bench()
}
const machine = { cpu: cpus()[0]?.model, cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30), kernel: release() }
const versions = { node: process.versions.node, sqlite: process.versions.sqlite, database: 'SQLite WAL, synchronous=FULL' }
process.stdout.write(`${JSON.stringify({ at: new Date().toISOString(), machine, versions, results }, null, 2)}\n`)
