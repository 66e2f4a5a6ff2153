import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkpoint } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import { type AnchorSender, openAnchor, startRecordCheck } from './audit/index.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Config, type ConfiguredAgent, oidcOf, type Settings, secretsOf } from './config/index.ts'
import { startRetention, unlessDatabaseIsAway } from './dispatch/index.ts'
import { type Engine, openEngine } from './engine.ts'
import { type App, createApp } from './http/app.ts'
import { createLogReader } from './http/log-reader.ts'
import { createStreams } from './http/sse.ts'
import { createConsoleCredential } from './identity/console-credential.ts'
import { createConsoleSessions } from './identity/console-sessions.ts'
import { openDirectory } from './identity/directory.ts'
import { createLimits } from './identity/limits.ts'
import { openLocalConsole } from './identity/local-console.ts'
import { createRefusedSignIns } from './identity/refused-sign-ins.ts'
import { openSecret } from './identity/secret.ts'
import { createSignInLinks, mintLinkToken, signInLink } from './identity/sign-in-links.ts'
import type { OpenActions } from './instance/index.ts'
import { type ChainLink, type Circuits, createCircuits, modelChain, openModel } from './models/index.ts'
import { ownFilesOf } from './own-files.ts'
import { tightenFiles } from './private-files.ts'
import { orPortTaken, requireFreePort } from './require-free-port.ts'
import { thisMachine } from './store/index.ts'

/** The console's build: beside this package in a checkout, inside it when installed. */
const CONSOLE_DIRS = ['../../../apps/web/dist', '../console'].map((path) => fileURLToPath(new URL(path, import.meta.url)))

/** How long a stop waits for a round that is under way, for example of the archive. The next round goes on where it was. */
const ROUND_MS = 10_000

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1'])

export interface ServerOptions {
  config: Config
  settings: Settings
  log: Logger
  /** A key for the MCP client that this server was started for, valid while it runs. A secret. */
  clientKey?: string
  /** Default: this machine's, or on Postgres the database's. */
  clock?: Clock
  /** How long the target of an action may take to be read for its card. Default 5_000. */
  previewTimeoutMs?: number
  /** Called before a copy is accepted at the start, with what that takes over. Default: does nothing. */
  onAccepting?: (open: OpenActions) => void
}

export interface RunningServer {
  /** Where it listens, for example `http://127.0.0.1:4319`. */
  readonly url: string
  readonly engine: Engine
  /**
   * Returns a new link that signs in the person at this machine: valid once, for ten minutes. Undefined where people sign in with a key or
   * a sign-in service. A secret.
   */
  signInLink(): string | undefined
  /**
   * Ends streams, drains running work, closes the database. While a Postgres does not answer, it resolves after three seconds and leaves
   * the rest to the next start; what waits for the database ends by itself within half a minute.
   */
  close(): Promise<void>
}

/**
 * Starts Countersign: opens models and database, adopts earlier work, listens.
 * @throws Error when a model or the database cannot be opened, or the port is taken.
 * @example
 * const server = await startServer({ config: await loadConfig('countersign.yaml', process.env), settings: readSettings({}, process.env),
 * log: pino() })
 * console.log(server.url)
 * await server.close()
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  try {
    return await start(options)
  } catch (error) {
    await options.config.close()
    throw error
  }
}

async function start(options: ServerOptions): Promise<RunningServer> {
  const { config, settings, log, clientKey } = options
  const sender = config.anchor && openAnchor({ settings: config.anchor, network: config.network, clock: systemClock, log })
  const engine = await openServerEngine(options, sender, () => requireFreePort(settings))
  const { store, clock } = engine
  const streams = createStreams()
  const stopping = new AbortController()
  try {
    const opened = { config, settings, log, engine }
    const { signInLinks, ...identity } = await openIdentity(opened, clientKey)
    const app = await createApp({
      ...identity,
      signInLinks,
      store,
      gate: engine.gate,
      refusals: engine.refusals,
      agentLoop: engine.agentLoop,
      announcements: engine.announcements,
      agents: engine.agents,
      policies: engine.policies,
      tools: engine.registered.tools,
      registered: engine.registered,
      sources: config.sources,
      hub: engine.hub,
      consoleCredential: createConsoleCredential(settings.publicUrl),
      limits: createLimits(settings.rateLimits, clock),
      publicUrl: settings.publicUrl,
      trustedProxies: settings.trustedProxies,
      sessionLimits: settings.sessionLimits,
      clock,
      auditKey: engine.auditKey,
      pushKey: engine.pushKey,
      sealer: engine.sealer,
      anchor: sender,
      network: config.network,
      log,
      streams,
      logs: createLogReader(store),
      keepsObjectives: [...config.sources.values()].some(({ kind }) => kind === 'objectives'),
      consoleDir: CONSOLE_DIRS.find((dir) => existsSync(join(dir, 'index.html'))),
      hold: engine.hold,
      trouble: () => (stopping.signal.aborted ? 'the server is shutting down' : engine.trouble),
      reconciler: engine.reconciler,
      tally: engine.tally,
      countWaitingJobs: engine.countWaitingJobs,
      isStopping: () => stopping.signal.aborted,
      stopping: stopping.signal,
      gateway: config.gateway,
      corsOrigins: config.corsOrigins,
      prices: config.prices,
      gatewaySecret: await openSecret(store, 'gateway_secret'),
    })
    const url = await listen(app, settings)
    const local = signInLinks && (await openLocalConsole({ app, settings, url, secret: signInLinks.secret, log }))
    const rounds = await startRounds(opened)
    checkpoint('start.listening')
    log.info({ url, database: nameOf(settings.database), agents: [...engine.agents.keys()] }, 'server.listening')
    return {
      url,
      engine,
      signInLink: () => local && signInLinks && signInLink(local.origin, mintLinkToken(signInLinks.secret, Date.now())),
      async close() {
        const isWhole = await unlessDatabaseIsAway(end(), { clock: thisMachine.clock, silentMs: () => engine.databaseSilentMs, log })
        log.info({ isWhole }, 'server.stopped')
      },
    }

    async function end(): Promise<void> {
      stopping.abort()
      await local?.[Symbol.asyncDispose]()
      checkpoint('stop.asked')
      streams.endAll()
      // A round may wait for its disk for ever: that must keep no tool from its end, and no job from other processes.
      await Promise.all([engine.drain(), endsWithin(ROUND_MS, rounds[Symbol.asyncDispose]())])
      await sender?.[Symbol.asyncDispose]()
      await app.close()
      await identity.refusedSignIns.flush()
      await engine.close()
      await config.close()
    }
  } catch (error) {
    await engine.close()
    throw error
  }
}

async function openServerEngine(
  { config, settings, log, clock, previewTimeoutMs, onAccepting }: ServerOptions,
  sender: AnchorSender | undefined,
  beforeStart: () => Promise<void>,
): Promise<Engine> {
  // All agents share the state of a model.
  const circuits = createCircuits(thisMachine)
  const agents = await Promise.all(config.agents.map((agent) => openAgent(agent, { config, settings, circuits, log })))
  const { database, executions, modelCalls, auditKeyFile, headFile, instance } = settings
  tightenFiles({ dataDir: settings.dataDir, files: [auditKeyFile, headFile, instance.file] }, log)
  return openEngine({
    ...{ database, clock, previewTimeoutMs, instance, executions, modelCalls, auditKeyFile, headFile, agents, log, onAccepting },
    beforeStart,
    anchor: sender && { sender, file: config.anchor?.file },
    tools: config.tools,
    sources: config.sources.values(),
    ownFiles: ownFilesOf(settings, config),
    policy: config.policy,
    webhooks: { network: config.network, publicUrl: settings.publicUrl },
  })
}

interface Opened {
  config: Config
  settings: Settings
  log: Logger
  engine: Engine
}

/** Opens what tells people and programs apart. */
async function openIdentity({ config, settings, log, engine }: Opened, clientKey: string | undefined) {
  const { store, clock } = engine
  const oidc = oidcOf(settings, config.signIn)
  // Behind a proxy or under a public address, requests from this machine may come from anybody.
  const isReachedDirectly = settings.publicUrl === undefined && settings.trustedProxies.length === 0
  const signInLinks = LOOPBACK.has(settings.host) && isReachedDirectly && !oidc ? createSignInLinks(Date.now) : undefined
  const directory = await openDirectory({
    store,
    clock,
    log,
    savePrincipal: engine.savePrincipal,
    bootstrapKey: settings.bootstrapKey,
    clientKey,
    // Otherwise that person signs in with the bootstrap key alone, and the user of the process says nothing about their identity.
    localName: signInLinks ? userInfo().username : 'Bootstrap key',
  })
  const secret = await openSecret(store, 'cookie_secret')
  const signInService =
    oidc && (await import('./identity/oidc.ts')).createSignInService({ settings: oidc, store, clock, log, secret, network: config.network })
  const consoleSessions = createConsoleSessions({
    store,
    clock,
    log,
    limits: settings.sessionLimits,
    accepts: (how) => how === 'key' || (how === 'local' ? signInLinks !== undefined : signInService !== undefined),
    byKeyHash: directory.byHash,
    keyStanding: directory.standingIn,
  })
  return { signInLinks, directory, signInService, consoleSessions, refusedSignIns: createRefusedSignIns({ store, clock, log }) }
}

/** Starts the work that comes again and again: checks of the record, deletion of old rows, the archive. */
async function startRounds({ config, settings, log, engine }: Opened): Promise<AsyncDisposable> {
  const { store, clock } = engine
  const rounds: AsyncDisposable[] = [
    startRecordCheck({ store, sealer: engine.sealer, clock, log }),
    startRetention({ store, clock, log, limits: config.retention, sessionLimits: settings.sessionLimits }),
  ]
  const { archive } = config
  if (archive) {
    const folder = archive.folder ?? join(settings.dataDir, 'archive')
    const trouble = () => engine.trouble ?? engine.hold.why
    const { startArchiveSchedule } = await import('./archive/schedule.ts')
    rounds.push(startArchiveSchedule({ ...archive, folder, store, database: settings.database, clock, log, trouble }))
  }
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(rounds.map((round) => round[Symbol.asyncDispose]()))
    },
  }
}

/** Waits for an end, but no longer than this. */
async function endsWithin(limitMs: number, ended: PromiseLike<void>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const stopWaiting = thisMachine.clock.after(limitMs, late.resolve)
  await Promise.race([ended, late.promise]).finally(stopWaiting)
}

/** Returns where the data is, without the password. */
export function nameOf(database: Settings['database']): string {
  if (database.kind === 'sqlite') return database.dataDir
  const { host, pathname } = new URL(database.url)
  return `postgres://${host}${pathname}`
}

async function listen(app: App, { host, port }: Settings): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    // Its timers would keep the process alive.
    await app.close()
    throw orPortTaken(error, port)
  }
}

interface AgentOpening {
  config: Config
  settings: Settings
  circuits: Circuits
  log: Logger
}

async function openAgent(configured: ConfiguredAgent, { config, settings, circuits, log }: AgentOpening) {
  const { name, model, remoteHeaders, contextTokens, fallbacks, fallbackAlsoOn, cache, tools: _, ...agent } = configured
  const { folder, network } = config
  const secrets = secretsOf(settings, config)
  const open = (spec: string, headers: Readonly<Record<string, string>> = {}) =>
    openModel(spec, { ...settings.models, remote: { headers: { ...headers } }, scriptDirectory: folder, network, secrets, cache })
  try {
    const first: ChainLink = { model: await open(model, remoteHeaders), contextTokens }
    const others = await Promise.all(
      fallbacks.map(async ({ model: spec, contextTokens }): Promise<ChainLink> => ({ model: await open(spec), contextTokens })),
    )
    return {
      ...agent,
      name,
      // Read for each request: they may change while the server runs.
      get tools() {
        return configured.tools
      },
      model: modelChain({
        links: [first, ...others],
        alsoOn: fallbackAlsoOn,
        circuits,
        clock: systemClock,
        log: log.child({ agent: name }),
      }),
    }
  } catch (cause) {
    throw new Error(`agent ${name}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}
