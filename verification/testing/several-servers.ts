import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { CRASH_VARIABLES, type Crash } from '../crash/crash-at.ts'
import type { BrainSpeech } from './brain-says.ts'
import { type ChildServer, startChildServer } from './child-server.ts'
import { type BrainCall, type LiveBrain, startLiveBrain } from './live-brain.ts'
import { startTarget, type Target, type TargetAnswer, type TargetRequest, toolsOf } from './target.ts'
import { openTestDatabase } from './test-database.ts'
import { temporaryFolder } from './test-server.ts'

const CRASH_AT = new URL('../crash/crash-at.ts', import.meta.url).href

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
  /**
   * Starts one more.
   * @param crash Where it dies. Default: nowhere.
   */
  start(crash?: Crash): Promise<ChildServer>
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
    async start(crash) {
      const crashing = crash && { [CRASH_VARIABLES.crash]: JSON.stringify(crash), [CRASH_VARIABLES.reached]: join(folder.path, 'reached') }
      return stack.use(
        await startChildServer({
          configFile,
          dataDir: join(folder.path, 'data'),
          environment: { ...environment, ...crashing, DATABASE_URL: url },
          nodeArgs: crash ? ['--import', CRASH_AT] : [],
        }),
      )
    },
    sql: async (text, values = []) => (await psql.query(text, values)).rows,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
