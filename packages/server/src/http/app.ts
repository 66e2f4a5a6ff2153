import { CountersignError, type Principal } from '@countersign/core'
import type { Network } from '@countersign/toolkit'
import { checkpoint, type ToolRegistry } from '@countersign/toolkit/internal'
import fastifyCookie from '@fastify/cookie'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify'
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import type { AgentDeps, AgentLoop, Announcements } from '../agent/index.ts'
import type { AnchorSender, AuditKey, Refusals, Sealer } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import type { GatewaySettings } from '../config/index.ts'
import type { EventHub, Reconciler } from '../dispatch/index.ts'
import type { Gate } from '../gate/index.ts'
import { authenticate } from '../identity/authenticate.ts'
import type { ConsoleSessions } from '../identity/console-sessions.ts'
import type { Cookie } from '../identity/cookie.ts'
import type { Directory } from '../identity/directory.ts'
import type { Limits } from '../identity/limits.ts'
import type { SignInService } from '../identity/oidc.ts'
import type { RefusedSignIns } from '../identity/refused-sign-ins.ts'
import type { SignInLinks } from '../identity/sign-in-links.ts'
import type { Tally } from '../metrics/index.ts'
import type { Policies } from '../policy/index.ts'
import type { Store } from '../store/index.ts'
import { actionRoutes } from './actions.ts'
import { agentRequestRoutes } from './agent-requests.ts'
import { auditRoutes } from './audit.ts'
import { chatRoutes } from './chat.ts'
import { claimRoutes } from './claims.ts'
import { consoleRoutes, reachedByClients, sendNotFound } from './console.ts'
import { consoleSessionRoutes } from './console-sessions.ts'
import { allowOrigins } from './cors.ts'
import { delegationRoutes } from './delegations.ts'
import { docsRoutes } from './docs/index.ts'
import { handleError } from './errors.ts'
import { eventRoutes } from './events.ts'
import { grantRoutes } from './grants.ts'
import { holdRoutes, requireTakenWhileHeld } from './hold.ts'
import { INTAKE_LIMITS } from './intake.ts'
import { acceptStrictJson } from './json-body.ts'
import { keyRoutes } from './keys.ts'
import { refuseUnknownQuery } from './known-query.ts'
import type { LogReader } from './log-reader.ts'
import { mcpRoutes } from './mcp.ts'
import { metricRoutes } from './metrics.ts'
import { noteAnswers } from './note-answers.ts'
import { objectiveRoutes } from './objectives.ts'
import { outcomeRoutes } from './outcomes.ts'
import { overviewRoutes } from './overview.ts'
import { peopleRoutes } from './people.ts'
import { policyRoutes } from './policy.ts'
import { recordRefusals } from './refusals.ts'
import { addSecurityHeaders } from './security-headers.ts'
import { sessionRoutes } from './sessions.ts'
import { identityRoutes } from './sign-in.ts'
import type { Streams } from './sse.ts'
import { statsRoutes } from './stats.ts'
import { webhookRoutes } from './webhooks.ts'

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression<RawServerDefault>,
  RawReplyDefaultExpression<RawServerDefault>,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** Nothing is carried out while a database looks like a copy. */
export interface Hold {
  /** As a sentence; undefined while everything goes on. */
  readonly why: string | undefined
  /** Begins a new epoch, in which nothing is held. Harmless when nothing is. */
  accept(by: Principal): Promise<void>
}

/** What the routes are made of. */
export interface HttpDeps {
  store: Store
  gate: Gate
  refusals: Refusals
  agentLoop: AgentLoop
  announcements: Announcements
  agents: AgentDeps['agents']
  tools: ToolRegistry
  policies: Policies
  hub: EventHub
  directory: Directory
  consoleSessions: ConsoleSessions
  /** How the signed-in console proves itself. */
  consoleCredential: Cookie
  /** Undefined without one: then there are keys, and the person at this machine. */
  signInService: SignInService | undefined
  limits: Limits
  publicUrl: string | undefined
  trustedProxies: string[]
  sessionLimits: { maxMs: number }
  clock: Clock
  /** What the record is signed with. */
  auditKey: AuditKey
  /** Signs it, and knows whether it is what was signed. */
  sealer: Sealer
  /** Where its heads are sent; undefined for nowhere. */
  anchor: AnchorSender | undefined
  /** Where webhooks may be sent. */
  network: Network
  log: FastifyBaseLogger
  streams: Streams
  /** Where streams read their logs. */
  logs: LogReader
  /** On loopback with no sign-in service: the links that sign the person at this machine in. */
  signInLinks: SignInLinks | undefined
  refusedSignIns: RefusedSignIns
  /** True with a source of tools for objectives: then the console has a page for them. */
  keepsObjectives: boolean
  /** Folder of the console's build; undefined serves none. */
  consoleDir: string | undefined
  /** Why everything is held because the database looks like a copy, and the way out of that. */
  hold: Hold
  /** Why this process can take no decision at the moment; undefined while all is well. */
  trouble(): string | undefined
  /** What was due and has not begun. */
  reconciler: Reconciler
  /** What this process has committed since it started, counted. */
  tally: Tally
  /** How many jobs are due and wait to be begun. */
  countWaitingJobs(): Promise<number>
  /** True while the process drains: it answers that it does, and nothing else. */
  isStopping(): boolean
  /** Aborts when the process begins to drain: what only waits for people has no reason to go on here. */
  stopping: AbortSignal
  gateway: GatewaySettings
  /** Origins whose pages may call the API with a key. */
  corsOrigins: readonly string[]
  /** What is sealed or signed for MCP clients is under this. */
  gatewaySecret: string
}

/** Asked by whoever decides whether this process gets traffic. */
const PROBES = new Set(['/healthz', '/readyz'])

/** Builds the HTTP application; it listens when the caller says so. */
export async function createApp(deps: HttpDeps): Promise<App> {
  const app: App = Fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    routerOptions: { maxParamLength: 200 },
    forceCloseConnections: true,
    trustProxy: deps.trustedProxies.length === 0 ? false : deps.trustedProxies,
    ...INTAKE_LIMITS,
    // Addresses that cannot be read never reach the error handler of the routes.
    frameworkErrors: handleError,
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  // Shapes of answers are checked by the tests against the same schemas; at run time they only cost.
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler(handleError)
  await app.register(fastifyCookie)
  app.addHook('onSend', async (request) => {
    if (request.method === 'POST') checkpoint('http.before_answer')
  })
  addSecurityHeaders(app, deps.publicUrl)
  allowOrigins(app, deps)
  app.addHook('onResponse', async (request) => {
    if (request.method === 'POST') checkpoint('http.after_answer')
  })
  app.addHook('onRequest', async (request) => {
    if (deps.isStopping() && !PROBES.has(request.url)) throw new CountersignError('not_ready', 'the server is shutting down')
  })
  // Before whatever looks at the request itself, and before every route, those of plugins too.
  authenticate(app, deps)
  recordRefusals(app, deps)
  noteAnswers(app, deps.announcements)
  acceptStrictJson(app)
  refuseUnknownQuery(app)
  app.addHook('onRequest', async ({ method, routeOptions: { url = '' } }) => requireTakenWhileHeld(deps.hold.why, method, url))
  await docsRoutes(app, deps.publicUrl)
  app.after(() => {
    overviewRoutes(app, deps)
    identityRoutes(app, deps)
    consoleSessionRoutes(app, deps)
    keyRoutes(app, deps)
    sessionRoutes(app, deps)
    actionRoutes(app, deps)
    policyRoutes(app, deps)
    outcomeRoutes(app, deps)
    agentRequestRoutes(app, deps)
    claimRoutes(app, deps)
    holdRoutes(app, deps)
    grantRoutes(app, deps)
    delegationRoutes(app, deps)
    peopleRoutes(app, deps)
    objectiveRoutes(app, deps)
    chatRoutes(app, deps)
    eventRoutes(app, deps)
    auditRoutes(app, deps)
    statsRoutes(app, deps)
    metricRoutes(app, deps)
    webhookRoutes(app, deps)
    mcpRoutes(app, deps)
  })
  app.setNotFoundHandler(
    deps.consoleDir === undefined ? sendNotFound : await consoleRoutes(app, deps.consoleDir, reachedByClients(deps.tools)),
  )
  await app.ready()
  return app
}
