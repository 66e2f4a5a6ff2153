import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptStep } from '../../../packages/server/src/models/index.ts'
import type { Database } from '../../../packages/server/src/store/index.ts'
import { databaseOf, makeKey } from '../../testing/accept-key.ts'
import type { ApiClient } from '../../testing/api-client.ts'
import { startChildServer } from '../../testing/child-server.ts'
import { startTarget } from '../../testing/target.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { type DrawnTurn, talkSetup } from './drawn-talk.ts'

export interface TalkServerOptions {
  /** Each is held with an agent of its own, `talk-<n>`. */
  talks: readonly DrawnTurn[][]
  /** Scripts of further agents. */
  agents?: Record<string, ScriptStep[]>
  environment?: Record<string, string>
}

export interface TalkServer extends AsyncDisposable {
  readonly admin: ApiClient
  readonly database: Database
  /** The key of a person who may write and approve. */
  readonly key: string
  /** Kills the process, and starts another one on the same data. */
  restart(): Promise<void>
}

/** A server in a process of its own with the agents of drawn conversations. */
export async function startTalkServer({ talks, agents = {}, environment = {} }: TalkServerOptions): Promise<TalkServer> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const target = stack.use(
    await startTarget(({ path, body }) =>
      path.includes('broken') || JSON.stringify(body ?? '').includes('broken')
        ? { status: 422, body: { why: 'broken' } }
        : { status: 200, body: { id: 4 } },
    ),
  )
  const { config, scripts } = talkSetup(target, talks, agents)
  const configFile = join(folder.path, 'countersign.json')
  writeFileSync(configFile, JSON.stringify(config))
  for (const [name, steps] of Object.entries(scripts)) writeFileSync(join(folder.path, `${name}.json`), JSON.stringify({ steps }))
  const limits = { COUNTERSIGN_MAX_REQUESTS: '0', COUNTERSIGN_MAX_FAILURES: '0' }
  const dataDir = join(folder.path, 'data')
  const start = () => startChildServer({ configFile, dataDir, environment: { ...limits, ...environment } })
  let server = await start()
  stack.defer(() => server.kill())
  const database = databaseOf(dataDir, environment)
  const { key } = await makeKey(server.admin, database, { name: 'Ada', kind: 'person', roles: ['approver', 'member'] })
  const owned = stack.move()
  return {
    get admin() {
      return server.admin
    },
    database,
    key,
    async restart() {
      await server.kill()
      server = await start()
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
