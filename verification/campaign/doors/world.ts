import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Action, CreateKeyBody, Principal } from '@countersign/core'
import { sql } from 'kysely'
import { readSignInFiles } from '../../../packages/server/src/identity/sign-in-file.ts'
import { mintLinkToken, signInLink } from '../../../packages/server/src/identity/sign-in-links.ts'
import { type Database, openBeside } from '../../../packages/server/src/store/index.ts'
import type { CampaignDatabase } from '../../crash/database.ts'
import { databaseOf, makeKey } from '../../testing/accept-key.ts'
import { type ChildServer, startChildServer } from '../../testing/child-server.ts'
import { createDatabase, startPostgres } from '../../testing/postgres.ts'
import { rawRequest } from '../../testing/raw-request.ts'
import { startTarget, type Target, toolsOf } from '../../testing/target.ts'
import { raw } from '../../testing/temp-store.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import type { RefusalCounts } from './ledger.ts'

/** Somebody with a key. */
export interface Holder {
  key: string
  principal: Principal
}

/** A server in a process of its own, people who may decide, and the service that their decisions reach. */
export interface World extends AsyncDisposable {
  readonly url: string
  readonly database: Database
  readonly dataDir: string
  readonly target: Target
  readonly people: Readonly<Record<'ana' | 'ben' | 'cheat' | 'vic' | 'bot', Holder>>
  hire(who: CreateKeyBody): Promise<Holder>
  /** Sends JSON with exactly these headers besides. */
  send(method: string, path: string, headers: Record<string, string>, body?: object): Promise<{ status: number; body: unknown }>
  /** @throws Error unless the answer is a success. */
  succeed<T>(who: Pick<Holder, 'key'>, method: string, path: string, body?: object): Promise<T>
  /** A sign-in link of the person at this machine. */
  signInLink(): string
  /** Stops the server, so that all that it counted is written, and starts it again. */
  restart(): Promise<void>
  /** Counts the refusals in the record. */
  readRefusals(): Promise<RefusalCounts>
}

export const bearer = ({ key }: Pick<Holder, 'key'>): Record<string, string> => ({ authorization: `Bearer ${key}` })

const POLICY = {
  limits: { waitingPerAgent: 10_000 },
  rules: [
    { name: 'two people', match: { tool: 'keyed' }, verdict: 'ask', requires: { quorum: 2, roles: ['approver'], notRequester: true } },
    { name: 'refunds run', match: { tool: 'unkeyed', when: 'agent.name == "refunds"' }, verdict: 'allow' },
  ],
}

export async function openWorld(kind: CampaignDatabase['kind']): Promise<World> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const configFile = join(folder.path, 'countersign.json')
  writeFileSync(configFile, JSON.stringify({ agents: {}, tools: toolsOf(target), policy: POLICY }))
  const environment: Record<string, string> = { COUNTERSIGN_MAX_REQUESTS: '0', COUNTERSIGN_MAX_FAILURES: '0' }
  if (kind === 'postgres') {
    const cluster = stack.use(await startPostgres())
    environment.DATABASE_URL = await createDatabase(cluster.url('postgres'))
  }
  const dataDir = join(folder.path, 'data')
  const database = databaseOf(dataDir, environment)
  let server: ChildServer = await startChildServer({ configFile, dataDir, environment })
  stack.defer(() => server[Symbol.asyncDispose]())
  // Only the modes of the files are in the way of another user.
  for (const path of [folder.path, dataDir]) chmodSync(path, 0o755)

  async function send(method: string, path: string, headers: Record<string, string>, body?: object) {
    const { status, text } = await rawRequest(server.admin.url + path, {
      method,
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status, body: text.startsWith('{') ? JSON.parse(text) : undefined }
  }
  const hire = (who: CreateKeyBody): Promise<Holder> => makeKey(server.admin, database, who)
  const approver = (name: string) => hire({ name, kind: 'person', roles: ['approver'] })
  const people = {
    ana: await approver('Ana'),
    ben: await approver('Ben'),
    cheat: await hire({ name: 'Cheat', kind: 'person', roles: ['admin', 'approver'] }),
    vic: await hire({ name: 'Vic', kind: 'person', roles: [] }),
    bot: await hire({ name: 'bot', kind: 'agent' }),
  }
  const owned = stack.move()
  return {
    get url() {
      return server.admin.url
    },
    database,
    dataDir,
    target,
    people,
    hire,
    send,
    async succeed(who, method, path, body) {
      const answer = await send(method, path, bearer(who), body)
      if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
      return answer.body as never
    },
    signInLink() {
      const [file] = readSignInFiles(dataDir)
      if (!file) throw new Error('the server has a sign-in file')
      return signInLink(file.origin, mintLinkToken(file.secret, Date.now()))
    },
    async restart() {
      await server.stop()
      server = await startChildServer({ configFile, dataDir, environment })
    },
    readRefusals: () => readRefusals(database),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Proposes an action that two people have to approve. */
export const propose = (world: World, what: string): Promise<Action> =>
  world.succeed(world.people.bot, 'POST', '/api/actions', { tool: 'keyed', arguments: { what } })

async function readRefusals(database: Database): Promise<RefusalCounts> {
  const store = await openBeside(database)
  try {
    const rows = await store.read(() =>
      raw<{ kind: string; actor: string; data: string }>(
        sql`select kind, actor, data from audit where kind in ('refused', 'sign_in_refused') order by id`,
      ),
    )
    const byActor = new Map<string, number>()
    let signIns = 0
    for (const { kind, actor, data } of rows) {
      const { times = 1, unrecorded = 0 } = JSON.parse(data)
      if (kind === 'sign_in_refused') signIns += 1 + unrecorded
      else byActor.set(actor, (byActor.get(actor) ?? 0) + times)
    }
    return { byActor, signIns }
  } finally {
    await store.close()
  }
}
