import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type CampaignDatabase, openPostgresWorld, openSqliteWorld } from '../../crash/database.ts'
import { acceptKey, databaseOf } from '../../testing/accept-key.ts'
import { BOOTSTRAP_KEY } from '../../testing/bootstrap-key.ts'
import { spawnServer } from '../../testing/child-server.ts'
import type { PostgresCluster } from '../../testing/postgres.ts'

const CONFIG = fileURLToPath(new URL('./server-config.ts', import.meta.url))

export interface Decider {
  id: string
  name: string
  headers: Record<string, string>
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape; the acceptance tests hold them against the document
  body: any
  /** Epoch milliseconds of this process, whose clock is right. */
  sentMs: number
  receivedMs: number
}

/** Servers on one database, and people who are quick. */
export interface Arena extends AsyncDisposable {
  readonly database: CampaignDatabase
  readonly deciders: readonly Decider[]
  /** How many servers there are. */
  readonly doors: number
  /** Sends a request to one of the servers, over a connection that is kept. */
  post(door: number, who: Decider, path: string, body: unknown): Promise<Answer>
}

export interface ArenaOptions {
  /** Undefined: one server on a database of its own. */
  cluster: PostgresCluster | undefined
  deciders: number
  /** Arguments and environment that set each server's clock. */
  nodeArgs?: readonly string[]
  environmentOf?(door: number): Record<string, string>
}

export async function openArena({ cluster, deciders: count, nodeArgs = [], environmentOf }: ArenaOptions): Promise<Arena> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'countersign-race-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const database = stack.use(cluster ? await openPostgresWorld(cluster) : openSqliteWorld(folder))
  const agent = new Agent({ keepAlive: true })
  stack.defer(() => agent.destroy())
  const servers = Array.from({ length: database.processes }, (_, door) =>
    spawnServer({
      configFile: CONFIG,
      dataDir: join(folder, 'data'),
      environment: { ...database.environment, ...environmentOf?.(door) },
      nodeArgs,
    }),
  )
  stack.defer(async () => {
    for (const { child, ended } of servers) {
      child.kill('SIGKILL')
      await ended
    }
  })
  const urls = await Promise.all(servers.map(({ url }) => url))

  function post(door: number, { headers }: Pick<Decider, 'headers'>, path: string, body: unknown): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const payload = JSON.stringify(body)
    const sentMs = Date.now()
    const sending = request(`${urls[door]}${path}`, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) },
    })
    sending.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed the kept connection, as it does with idle ones, in the moment it was used: nothing was read of this.
      if (sending.reusedSocket && error.code === 'ECONNRESET') resolve(post(door, { headers }, path, body))
      else reject(error)
    })
    sending.on('response', async (response) => {
      const said = await text(response)
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(said), sentMs, receivedMs: Date.now() })
    })
    sending.end(payload)
    return promise
  }

  const admin = { headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` } }
  const deciders = await Promise.all(
    Array.from({ length: count }, async (_, i): Promise<Decider> => {
      const { status, body } = await post(0, admin, '/api/keys', { name: `Decider ${i + 1}`, kind: 'person', roles: ['approver'] })
      if (status !== 201) throw new Error(`no key: ${JSON.stringify(body)}`)
      await acceptKey(databaseOf(join(folder, 'data'), database.environment), body.id)
      return { id: body.principal.id, name: body.principal.name, headers: { authorization: `Bearer ${body.key}` } }
    }),
  )
  const whole = stack.move()
  return { database, deciders, doors: servers.length, post, [Symbol.asyncDispose]: () => whole.disposeAsync() }
}
