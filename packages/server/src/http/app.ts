import { CountersignError } from '@countersign/core'
import type { Network, ToolSource } from '@countersign/toolkit'
import { checkpoint, type ToolRegistry } from '@countersign/toolkit/internal'
import fastifyCookie from '@fastify/cookie'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify'
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import type { AgentDeps, AgentLoop, Announcements } from '../agent/index.ts'
import type { Accepter, AnchorSender, AuditKey, Refusals, Sealer } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import type { GatewaySettings } from '../config/index.ts'
import type { Prices } from '../config/prices.ts'
import type { EventHub, Reconciler } from '../dispatch/index.ts'
import type { Gate } from '../gate/index.ts'
import { createHolders } from '../hooks/holders.ts'
import { authenticate } from '../identity/authenticate.ts'
import type { ConsoleSessions } from '../identity/console-sessions.ts'
import type { Cookie } from '../identity/cookie.ts'
import type { Directory } from '../identity/directory.ts'
import type { Limits } from '../identity/limits.ts'
import type { SignInService } from '../identity/oidc.ts'
import type { RefusedSignIns } from '../identity/refused-sign-ins.ts'
import type { SignInLinks } from '../identity/sign-in-links.ts'
import type { Tally } from '../metrics/index.ts'
import type { PushKey } from '../notify/index.ts'
import type { Policies } from '../policy/index.ts'
import type { RegisteredTools } from '../registered/index.ts'
import type { Store } from '../store/index.ts'
import { actionChangeRoutes } from './action-changes.ts'
import { actionExportRoutes } from './action-export.ts'
import { actionRoutes } from './actions.ts'
import { agUiRoutes } from './ag-ui/routes.ts'
import { agentRequestRoutes } from './agent-requests.ts'
import { aiSdkRoutes } from './ai-sdk/routes.ts'
import { auditRoutes } from './audit.ts'
import { authzenRoutes } from './authzen/routes.ts'
import { chatRoutes } from './chat.ts'
import { consoleRoutes, reachedByClients, sendNotFound } from './console.ts'
import { consoleSessionRoutes } from './console-sessions.ts'
import { allowOrigins } from './cors.ts'
import { delegationRoutes } from './delegations.ts'
import { docsRoutes } from './docs/index.ts'
import { embedTokenRoutes } from './embed-tokens.ts'
import { handleError } from './errors.ts'
import { eventRoutes } from './events.ts'
import { routeToEndpoint } from './ext-authz/endpoint.ts'
import { extAuthzRoutes } from './ext-authz/routes.ts'
import { grantRoutes } from './grants.ts'
import { holdRoutes, requireTakenWhileHeld } from './hold.ts'
import { hookRoutes } from './hooks.ts'
import { INTAKE_LIMITS } from './intake.ts'
import { acceptStrictJson } from './json-body.ts'
import { keyRoutes } from './keys.ts'
import { refuseUnknownQuery } from './known-query.ts'
import { answerBeforeClosing } from './last-answers.ts'
import type { LogReader } from './log-reader.ts'
import { mcpRoutes } from './mcp.ts'
import { metricRoutes } from './metrics.ts'
import { noteAnswers } from './note-answers.ts'
import { objectiveRoutes } from './objectives.ts'
import { overviewRoutes } from './overview.ts'
import { peopleRoutes } from './people.ts'
import { policyRoutes } from './policy.ts'
import { policyCheckRoutes } from './policy-check.ts'
import { policyRuleRoutes } from './policy-rules.ts'
import { preferenceRoutes } from './preferences.ts'
import { pushRoutes } from './push.ts'
import { recordRefusals } from './refusals.ts'
import { registeredToolRoutes } from './registered-tools.ts'
import { enforceRights } from './rights.ts'
import { answerWithDeclaredStatus } from './route.ts'
import { addSecurityHeaders } from './security-headers.ts'
import { sessionRoutes } from './sessions.ts'
import { identityRoutes } from './sign-in.ts'
import { snoozeRoutes } from './snoozes.ts'
import type { Streams } from './sse.ts'
import { statsRoutes } from './stats.ts'
import { timelineRoutes } from './timeline.ts'
import { toolRoutes } from './tools.ts'
import { refuseUnreadable } from './unreadable.ts'
import { webhookRoutes } from './webhooks.ts'

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression<RawServerDefault>,
  RawReplyDefaultExpression<RawServerDefault>,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** The hold on execution while a database looks like a copy. */
export interface Hold {
  /** The reason as a sentence; undefined while nothing is held. */
  readonly why: string | undefined
  /** Begins a new epoch, in which nothing is held. Does nothing when nothing is held. */
  accept(by: Accepter): Promise<void>
}

/** Dependencies of the routes. */
export interface HttpDeps {
  store: Store
  gate: Gate
  refusals: Refusals
  agentLoop: AgentLoop
  announcements: Announcements
  agents: AgentDeps['agents']
  tools: ToolRegistry
  registered: RegisteredTools
  /** The sources of tools by their group. */
  sources: ReadonlyMap<string, ToolSource>
  policies: Policies
  hub: EventHub
  directory: Directory
  consoleSessions: ConsoleSessions
  /** Verifies the signed-in console. */
  consoleCredential: Cookie
  /** Undefined without one: then only keys and the person at this machine can sign in. */
  signInService: SignInService | undefined
  limits: Limits
  publicUrl: string | undefined
  trustedProxies: string[]
  sessionLimits: { maxMs: number }
  clock: Clock
  /** The key that signs the record. */
  auditKey: AuditKey
  /** Signs the record, and knows whether it still matches its signature. */
  sealer: Sealer
  /** Where the record's heads are sent; undefined for nowhere. */
  anchor: AnchorSender | undefined
  /** Identifies this server at push services. */
  pushKey: PushKey
  /** The targets that webhooks may use. */
  network: Network
  log: FastifyBaseLogger
  streams: Streams
  /** Reads the logs for streams. */
  logs: LogReader
  /** On loopback without a sign-in service: the links that sign in the person at this machine. */
  signInLinks: SignInLinks | undefined
  refusedSignIns: RefusedSignIns
  /** True with a source of tools for objectives: the console has a page for them then. */
  keepsObjectives: boolean
  /** Folder of the console's build; undefined serves none. */
  consoleDir: string | undefined
  /** The hold because the database looks like a copy, and how to end it. */
  hold: Hold
  /** Why this process can take no decision at the moment; undefined while it can. */
  trouble(): string | undefined
  /** Due work that has not begun. */
  reconciler: Reconciler
  /** Counts what this process has committed since it started. */
  tally: Tally
  /** Returns how many due jobs wait to begin. */
  countWaitingJobs(): Promise<number>
  /** Returns true while the process drains: it refuses every other request. */
  isStopping(): boolean
  /** Aborts when the process begins to drain: requests that only wait for people end then. */
  stopping: AbortSignal
  gateway: GatewaySettings
  /** Origins whose pages may call the API with a key. */
  corsOrigins: readonly string[]
  /** The prices of model calls; undefined if none are configured. */
  prices?: Prices | undefined
  /** The key that seals and signs data for MCP clients. */
  gatewaySecret: string
}

/** Probes of load balancers, which decide whether this process receives traffic. */
const PROBES = new Set(['/healthz', '/readyz'])

/** An EventSource gives up for good after a 503. After a connection that ended without an answer, it tries again. */
const isEventSource = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && url.startsWith('/api/') && headers.accept === 'text/event-stream'

/** In the place of Fastify's own compilers of schemas, which it then does not load: they are a hundred modules. */
const isReplaced = (): never => {
  throw new Error('the application sets the compilers of schemas itself')
}

/** Builds the HTTP application; the caller starts listening. */
export async function createApp(deps: HttpDeps): Promise<App> {
  const app: App = Fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    routerOptions: { maxParamLength: 200 },
    forceCloseConnections: true,
    // Its own answer is no problem document, and to a gateway a 503 may be a yes: a request that comes that late is refused as any other.
    return503OnClosing: false,
    rewriteUrl: routeToEndpoint,
    trustProxy: deps.trustedProxies.length === 0 ? false : deps.trustedProxies,
    ...INTAKE_LIMITS,
    // Malformed URLs never reach the error handler of the routes.
    frameworkErrors: handleError,
    clientErrorHandler: refuseUnreadable,
    schemaController: { compilersFactory: { buildValidator: isReplaced, buildSerializer: isReplaced } },
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  // The tests check response shapes against the same schemas; at run time the check would only cost time.
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
  answerBeforeClosing(app)
  app.addHook('onRequest', async (request, reply) => {
    if (!deps.isStopping() || PROBES.has(request.url)) return
    if (!isEventSource(request)) throw new CountersignError('not_ready', 'the server is shutting down')
    reply.hijack()
    request.raw.destroy()
  })
  // This runs before everything that reads the request, and before every route, including those of plugins.
  authenticate(app, deps)
  enforceRights(app)
  recordRefusals(app, deps)
  noteAnswers(app, deps.announcements)
  acceptStrictJson(app)
  refuseUnknownQuery(app)
  answerWithDeclaredStatus(app)
  app.addHook('onRequest', async ({ method, routeOptions: { url = '' } }) => requireTakenWhileHeld(deps.hold.why, method, url))
  await docsRoutes(app, deps.publicUrl)
  app.after(() => {
    overviewRoutes(app, deps)
    toolRoutes(app, deps)
    registeredToolRoutes(app, deps)
    identityRoutes(app, deps)
    consoleSessionRoutes(app, deps)
    keyRoutes(app, deps)
    embedTokenRoutes(app, deps)
    sessionRoutes(app, deps)
    timelineRoutes(app, deps)
    actionRoutes(app, deps)
    actionChangeRoutes(app, deps)
    actionExportRoutes(app, deps)
    policyRoutes(app, deps)
    policyRuleRoutes(app, deps)
    policyCheckRoutes(app, deps)
    agentRequestRoutes(app, deps)
    holdRoutes(app, deps)
    grantRoutes(app, deps)
    delegationRoutes(app, deps)
    peopleRoutes(app, deps)
    objectiveRoutes(app, deps)
    chatRoutes(app, deps)
    aiSdkRoutes(app, deps)
    agUiRoutes(app, deps)
    eventRoutes(app, deps)
    auditRoutes(app, deps)
    statsRoutes(app, deps)
    metricRoutes(app, deps)
    webhookRoutes(app, deps)
    pushRoutes(app, deps)
    preferenceRoutes(app, deps)
    snoozeRoutes(app, deps)
    const holders = createHolders()
    mcpRoutes(app, deps, holders)
    authzenRoutes(app, deps)
    extAuthzRoutes(app, deps)
    hookRoutes(app, deps, holders)
  })
  app.setNotFoundHandler(
    deps.consoleDir === undefined ? sendNotFound : await consoleRoutes(app, deps.consoleDir, reachedByClients(deps.tools)),
  )
  await app.ready()
  return app
}
