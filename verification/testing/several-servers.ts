import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import type { BrainSpeech } from './brain-says.ts'
import { type ChildServer, startChildServer } from './child-server.ts'
import { type BrainCall, type LiveBrain, startLiveBrain } from './live-brain.ts'
import { startTarget, type Target, type TargetAnswer, type TargetRequest, toolsOf } from './target.ts'
import { openTestDatabase } from './test-database.ts'
import { temporaryFolder } from './test-server.ts'

export interface SeveralServersOptions {
  speak(call: BrainCall): BrainSpeech | Promise<BrainSpeech>
  answer(request: TargetRequest, nth: number): TargetAnswer | Promise<TargetAnswer>
  /** Default: one that goes with the test. */
  databaseUrl?: string
  /** Environment variables of each process, besides the database. */
  environment?: Record<string, string>
}

/** Server processes on one Postgres, with one agent, its brain and the target of its tools. */
export interface SeveralServers extends AsyncDisposable {
  readonly target: Target
  readonly brain: LiveBrain
  /** Starts one more. */
  start(): Promise<ChildServer>
  /** Asks the database beside the servers. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of every shape
  sql(text: string, values?: unknown[]): Promise<any[]>
}

export async function openSeveralServers({ speak, answer, databaseUrl, environment }: SeveralServersOptions): Promise<SeveralServers> {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const url = databaseUrl ?? stack.use(await openTestDatabase()).url
  const target = stack.use(await startTarget(answer))
  const brain = stack.use(await startLiveBrain(speak))
  const psql = new Client({ connectionString: url })
  psql.on('error', () => {})
  await psql.connect()
  stack.defer(() => psql.end())
  const configFile = join(folder.path, 'countersign.json')
  const agents = { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'] } }
  writeFileSync(configFile, JSON.stringify({ agents, tools: toolsOf(target) }))
  return {
    target,
    brain,
    start: async () =>
      stack.use(
        await startChildServer({ configFile, dataDir: join(folder.path, 'data'), environment: { ...environment, DATABASE_URL: url } }),
      ),
    sql: async (text, values = []) => (await psql.query(text, values)).rows,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
