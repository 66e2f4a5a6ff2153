import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { CreatedKey, CreateKeyBody, Principal } from '@countersign/core'
import { pino } from 'pino'
import type { Clock } from '../../packages/server/src/clock.ts'
import {
  type Config,
  type ConfigInput,
  type Environment,
  type LogLevel,
  openConfig,
  readSettings,
  type SettingsFlags,
} from '../../packages/server/src/config/index.ts'
import type { ScriptStep } from '../../packages/server/src/models/index.ts'
import { type RunningServer, startServer } from '../../packages/server/src/server.ts'
import type { Database } from '../../packages/server/src/store/index.ts'
import { makeKey } from './accept-key.ts'
import { type ApiClient, openApiClient } from './api-client.ts'
import { BOOTSTRAP_KEY } from './bootstrap-key.ts'
import { dumpDatabase } from './database.ts'
import { copyNewSqlite } from './new-sqlite.ts'
import { checkerAt } from './openapi.ts'
import { openServerDatabase } from './test-database.ts'

export { BOOTSTRAP_KEY } from './bootstrap-key.ts'

/** Until shortly before what ends a hang: on an overloaded machine, five seconds are too few to read a target. */
const PREVIEW_TIMEOUT_MS = 240_000

/** The longest that a configuration allows. By default, the server starts without the tools of a program that has not answered after ten seconds. */
const PROGRAM_START_MS = 120_000

/** Returns the configuration with as long for its MCP servers to start as a slow machine needs. */
const withPatience = ({ tools, ...config }: ConfigInput): ConfigInput => ({
  ...config,
  ...(tools && {
    tools: Object.fromEntries(
      Object.entries(tools).map(([name, group]) => [
        name,
        'mcp' in group ? { ...group, mcp: { startWithinMs: PROGRAM_START_MS, ...group.mcp } } : group,
      ]),
    ),
  }),
})

export interface TestServerOptions {
  /** The content of the configuration file, or a loaded configuration. */
  config: ConfigInput | Config
  environment?: Environment
  /** How much is logged. Default: errors. */
  logLevel?: LogLevel
  /** Scripts by name: an agent's model `scripted/talk.json` plays `talk`. */
  scripts?: Record<string, ScriptStep[]>
  /** Where its data is; default: a place of its own, which goes with it. */
  place?: { dataDir: string; environment: Environment }
  /** The options of the command line. */
  flags?: SettingsFlags
  /** Default: that of the server. */
  clock?: Clock
}

/** A real server on a free port with data of its own. Disposing of it stops it and takes the data away. */
export interface TestServer extends AsyncDisposable {
  readonly url: string
  readonly dataDir: string
  readonly database: Database
  /** The bootstrap key: an admin person. */
  readonly admin: ApiClient
  /** Makes a key, accepts it on the data where its person would have to, and speaks with it. */
  as(who: CreateKeyBody): Promise<ApiClient & { principal: Principal }>
  /** Makes a key that does at once what it is for: see {@link TestServer.as}. */
  makeKey(body: Partial<CreateKeyBody>): Promise<CreatedKey & { key: string }>
  /** A client with exactly these headers: without a key, or with a cookie. */
  with(headers: Record<string, string>): ApiClient
  /** A sign-in link of the person at this machine. */
  signInLink(): string
  /**
   * Stops the server and starts it again on the same data, at another address.
   * @param meanwhile Called while no server runs.
   */
  restart(meanwhile?: () => void): Promise<void>
  /** Stops the server for good, without waiting for what its tools are at. */
  stop(): Promise<void>
  /** Resolves when nothing is under way: all waits for a person or is done. */
  settle(): Promise<void>
  /** Every row of every table, for comparing before with after. */
  dump(): Promise<Record<string, unknown[]>>
  /** The log of the server, with level error or above unless more was asked for. */
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
  flags = {},
  clock,
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
    { port: 0, data: place?.dataDir ?? data.path, ...flags },
    { ...environment, ...database.environment, COUNTERSIGN_BOOTSTRAP_KEY: BOOTSTRAP_KEY },
  )
  if (settings.database.kind === 'sqlite' && settings.dataDir === data.path) await copyNewSqlite(data.path)
  for (const [name, steps] of Object.entries(scripts)) writeFileSync(join(data.path, `${name}.json`), JSON.stringify({ steps }))
  // Each start reads it anew, as a process does: what its sources had open was closed with the server before.
  const open = async () => ('folder' in config ? config : await openConfig(withPatience(config), { environment, folder: data.path }))

  const takeAway = async () => {
    await database[Symbol.asyncDispose]()
    data[Symbol.dispose]()
  }
  const start = async () =>
    startServer({ config: await open(), settings, log, previewTimeoutMs: PREVIEW_TIMEOUT_MS, ...(clock && { clock }) })
  let server: RunningServer
  let isStopped = false
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
      const { key, principal } = await makeKey(bearer(BOOTSTRAP_KEY), settings.database, who)
      return { ...bearer(key), principal }
    },
    makeKey: (body) => makeKey(bearer(BOOTSTRAP_KEY), settings.database, body),
    with: withHeaders,
    signInLink: () => server.signInLink() ?? '',
    async restart(meanwhile) {
      await server.close()
      meanwhile?.()
      server = await start()
    },
    async stop() {
      isStopped = true
      await server.engine.drain(0)
      await server.close()
    },
    settle: () => server.engine.idle(),
    dump: () => dumpDatabase(settings.database),
    errors,
    async [Symbol.asyncDispose]() {
      if (!isStopped) await server.close()
      await takeAway()
    },
  }
}
