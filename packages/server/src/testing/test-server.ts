import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { CreateKeyBody, Principal } from '@countersign/core'
import { pino } from 'pino'
import { type Config, type ConfigInput, type Environment, type LogLevel, openConfig, readSettings } from '../config/index.ts'
import type { ScriptStep } from '../models/index.ts'
import { type RunningServer, startServer } from '../server.ts'
import type { Database } from '../store/index.ts'
import { type ApiClient, openApiClient } from './api-client.ts'
import { BOOTSTRAP_KEY } from './bootstrap-key.ts'
import { dumpDatabase } from './database.ts'
import { checkerAt } from './openapi.ts'
import { openServerDatabase } from './test-database.ts'

export { BOOTSTRAP_KEY } from './bootstrap-key.ts'

export interface TestServerOptions {
  /** What the configuration file would hold; a loaded one goes in as it is. */
  config: ConfigInput | Config
  environment?: Environment
  /** How much is logged. Default: errors. */
  logLevel?: LogLevel
  /** Scripts by name: an agent's model `scripted/talk.json` plays `talk`. */
  scripts?: Record<string, ScriptStep[]>
  /** Where its data is; default: a place of its own, which goes with it. */
  place?: { dataDir: string; environment: Environment }
}

/** A real server on a free port with data of its own. Disposing of it stops it and takes the data away. */
export interface TestServer extends AsyncDisposable {
  readonly url: string
  readonly dataDir: string
  readonly database: Database
  /** The bootstrap key: an admin person. */
  readonly admin: ApiClient
  /** Makes a key and speaks with it. */
  as(who: CreateKeyBody): Promise<ApiClient & { principal: Principal }>
  /** A client with exactly these headers: without a key, or with a cookie. */
  with(headers: Record<string, string>): ApiClient
  /** Stops the server and starts it again on the same data, at another address. */
  restart(): Promise<void>
  /** Resolves when nothing is under way: all waits for a person or is done. */
  settle(): Promise<void>
  /** Every row of every table, for comparing before with after. */
  dump(): Promise<Record<string, unknown[]>>
  /** What the server logged, with level error or above unless more was asked for. */
  readonly errors: readonly string[]
}

/** A folder that is taken away when the test is over. */
export function temporaryFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/**
 * Starts a server as `countersign serve` does, without the command line.
 * @example
 * await using server = await startTestServer({ config: { agents: { desk: { model: 'scripted/talk.json' } } }, scripts: { talk: [{ text: 'Hi' }] } })
 * await server.admin.post('/api/sessions', {})
 */
export async function startTestServer({
  config,
  environment = {},
  logLevel = 'error',
  scripts = {},
  place,
}: TestServerOptions): Promise<TestServer> {
  const data = temporaryFolder()
  const database = place ? { ...place, [Symbol.asyncDispose]: async () => undefined } : await openServerDatabase()
  const errors: string[] = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      errors.push(String(chunk))
      done()
    },
  })
  const log = pino({ level: logLevel, serializers: { error: pino.stdSerializers.err } }, sink)
  const settings = readSettings(
    { port: 0, data: place?.dataDir ?? data.path },
    { ...environment, ...database.environment, COUNTERSIGN_BOOTSTRAP_KEY: BOOTSTRAP_KEY },
  )
  for (const [name, steps] of Object.entries(scripts)) writeFileSync(join(data.path, `${name}.json`), JSON.stringify({ steps }))
  // Each start reads it anew, as a process does: what its sources had open was closed with the server before.
  const open = async () => ('folder' in config ? config : await openConfig(config, { environment, folder: data.path }))

  const takeAway = async () => {
    await database[Symbol.asyncDispose]()
    data[Symbol.dispose]()
  }
  const start = async () => startServer({ config: await open(), settings, log })
  let server: RunningServer
  try {
    server = await start()
  } catch (error) {
    await takeAway()
    throw error
  }
  const checker = await checkerAt(server.url)
  const withHeaders = (headers: Record<string, string>) => openApiClient({ url: server.url, headers, checker })
  const bearer = (key: string) => withHeaders({ authorization: `Bearer ${key}` })

  return {
    get url() {
      return server.url
    },
    dataDir: settings.dataDir,
    database: settings.database,
    get admin() {
      return bearer(BOOTSTRAP_KEY)
    },
    async as(who) {
      const { key, principal } = await bearer(BOOTSTRAP_KEY).post('/api/keys', who)
      return { ...bearer(key), principal }
    },
    with: withHeaders,
    async restart() {
      await server.close()
      server = await start()
    },
    settle: () => server.engine.idle(),
    dump: () => dumpDatabase(settings.database),
    errors,
    async [Symbol.asyncDispose]() {
      await server.close()
      await takeAway()
    },
  }
}
