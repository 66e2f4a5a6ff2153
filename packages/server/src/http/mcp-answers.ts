import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { CountersignError } from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { agentNamed } from '../gate/index.ts'
import { type Exchange, type GatewayDeps, type PermissionPrompt, whenDelivered } from '../gateway/exchange.ts'
import { openHeldRequests } from '../gateway/held-requests.ts'
import { createOpenCalls } from '../gateway/open-calls.ts'
import { whenHungUp } from '../gateway/read-until.ts'
import { createRunningCalls } from '../gateway/running-calls.ts'
import { createSessionIds } from '../gateway/session-id.ts'
import type { Holders } from '../hooks/holders.ts'
import { isHostRunTool } from '../host-run.ts'
import { callerOf } from '../identity/authenticate.ts'
import { CONSOLE_HEADER } from '../identity/console-credential.ts'
import { watchStanding } from '../identity/standing.ts'
import type { App, HttpDeps } from './app.ts'
import type { EventStream } from './sse.ts'
import { streamWhileStanding } from './stream-while-standing.ts'

const TOOLS_CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
const Initialize = z.object({ method: z.literal('initialize') })
/** A client of 2026-07-28 listens with the answer to this request. */
const Listen = z.object({ method: z.literal('subscriptions/listen') })

/** A request to `/mcp`, which may name an agent of the configuration. */
type McpRequest = FastifyRequest<{ Querystring: { agent?: string | undefined } }>

/** Answers the requests of MCP clients. */
export interface McpAnswers {
  /** Gives the messages of a request to the SDK, and sends its answer. */
  answer(request: McpRequest, reply: FastifyReply): Promise<never>
  /** Streams messages of the server to a client of the older protocol versions. */
  listen(request: McpRequest, reply: FastifyReply): Promise<never>
}

/** Opens what the answers need, until the app closes. */
export function openMcpAnswers(app: App, http: HttpDeps, holders: Holders): McpAnswers {
  const deps = openGatewayDeps(http, holders)
  const sessionIds = createSessionIds(deps.gatewaySecret)
  const running = createRunningCalls()
  const exchanges = new WeakMap<globalThis.Request, Exchange>()
  // Loaded with the first request: the SDK would slow down every start of a server.
  const load = async () => (await import('../gateway/handler.ts')).openHandler(deps, exchanges)
  let opened: ReturnType<typeof load> | undefined
  const listening = new Set<EventStream>()
  app.addHook('onClose', () => deps.heldRequests[Symbol.asyncDispose]())
  app.addHook('onClose', async () => (await opened)?.close())
  deps.tools.onChange(() => {
    void opened?.then(({ notify }) => notify.toolsChanged())
    for (const stream of listening) stream.send({ type: 'message', data: TOOLS_CHANGED })
  })

  async function answer(request: McpRequest, reply: FastifyReply): Promise<never> {
    const caller = callerOfGateway(request)
    const { agent } = request.query
    agentNamed(agent, caller.principal)
    const isFirst = Initialize.safeParse(request.body).success
    const sessionId = isFirst ? undefined : sessionOf(request, caller.principal.id)
    const cancelled = sessionId === undefined ? undefined : running.cancel(sessionId, request.body)
    if (cancelled) {
      if (cancelled.isWithdrawn) await deps.heldRequests.takeBack(cancelled.name, caller)
      return sent(reply.code(202).send())
    }
    const closed = whenHungUp(reply)
    const delivered = whenDelivered(reply)
    const otherRights = Listen.safeParse(request.body).success ? [await whenRightsChange(deps, request, closed)] : []
    const call = running.begin(sessionId, request.body)
    const hungUp = AbortSignal.any([closed, call.cancelled, ...otherRights])
    const exchange: Exchange = {
      request,
      caller,
      agent,
      tools: toolsFor(deps, agent, caller),
      consoleUrl: deps.publicUrl ?? `${request.protocol}://${request.host}`,
      requestName: call.name,
      hungUp,
      isWithdrawn: call.isWithdrawn,
      delivered: delivered.then((isWhole) => {
        call.end()
        return isWhole && !call.cancelled.aborted
      }),
    }
    const asked = new Request(`http://countersign${request.url}`, { method: request.method, headers: headersOf(request), signal: hungUp })
    exchanges.set(asked, exchange)
    const authInfo = { token: '', clientId: caller.principal.id, scopes: [] }
    opened ??= load()
    const response = await (await opened).fetch(asked, { authInfo, ...(request.body !== undefined && { parsedBody: request.body }) })
    reply.code(response.status).headers(Object.fromEntries(response.headers))
    if (isFirst && response.status === 200) reply.header('mcp-session-id', sessionIds.draw(caller.principal.id))
    return sent(reply.send(response.body ? Readable.fromWeb(response.body as ReadableStream) : undefined))
  }

  async function listen(request: McpRequest, reply: FastifyReply): Promise<never> {
    const { principal } = callerOfGateway(request)
    if (sessionOf(request, principal.id) === undefined) return answer(request, reply)
    const stream = await streamWhileStanding(deps, request, reply)
    listening.add(stream)
    stream.onClose(() => listening.delete(stream))
    return sent(reply)
  }

  /** @throws CountersignError `not_found` for a session that is not the caller's: the client begins another. */
  function sessionOf({ headers }: FastifyRequest, principalId: string): string | undefined {
    const id = headers['mcp-session-id']
    if (id === undefined) return undefined
    if (typeof id === 'string' && sessionIds.isOf(id, principalId)) return id
    throw new CountersignError('not_found', 'there is no such MCP session: begin another with initialize')
  }

  return { answer, listen }
}

const openGatewayDeps = (http: HttpDeps, holders: Holders): GatewayDeps => ({
  ...http,
  openCalls: createOpenCalls(http),
  heldRequests: openHeldRequests({
    ...http,
    graceMs: http.gateway.graceSeconds * 1_000,
    isStopping: () => http.stopping.aborted,
    whyHeld: () => http.hold.why,
  }),
  // Read anew each time, because the tools change while the server runs.
  get answerPrompt() {
    const hasHostTools = http.tools.all().some((tool) => isHostRunTool(tool, 'other'))
    if (!hasHostTools) return undefined
    return async (prompt: PermissionPrompt, exchange: Exchange) => {
      const { answerPrompt } = await import('../hooks/answer-prompt.ts')
      return answerPrompt({ ...http, holders }, prompt, exchange)
    }
  },
})

/** Aborts once the caller of a request that stays open is disabled or has other rights. @param closed Ends the watch. */
async function whenRightsChange(deps: GatewayDeps, request: FastifyRequest, closed: AbortSignal): Promise<AbortSignal> {
  const standing = await watchStanding(deps, request)
  const changed = new AbortController()
  standing.onChanged(() => changed.abort())
  if (closed.aborted) standing[Symbol.dispose]()
  else closed.addEventListener('abort', () => standing[Symbol.dispose](), { once: true })
  return changed.signal
}

/** Looks the tools up for each request, because they change while the server runs. */
function toolsFor({ tools, agents }: HttpDeps, agent: string | undefined, { principal }: Exchange['caller']): Exchange['tools'] {
  const configured = agent === undefined ? undefined : agents.get(agent)
  if (configured) return configured.tools
  // An agent outside the configuration may repeat the name that its key proves. Coding agents have the tools left out here of their own.
  if (agent === undefined || agent === principal.agent) return tools.all().filter(({ isHostRun }) => isHostRun !== true)
  throw new CountersignError('not_found', `there is no agent ${agent}`)
}

/** Fastify treats its own reply as an answer in progress; this type stands for it in the route's schema. */
const sent = (reply: FastifyReply): never => reply as never

/** Returns the principal of a key: credentials that a browser sends by itself do not count here. */
export function callerOfGateway(request: FastifyRequest): Exchange['caller'] {
  if (request.consoleSession) {
    throw new CountersignError('unauthenticated', 'MCP clients send a key: Authorization: Bearer <key>; a console sign-in is not accepted')
  }
  const { once: _, ...caller } = callerOf(request)
  return { ...caller, signIn: `${caller.signIn}, mcp` }
}

/** Removes the key, which must not be passed on. */
function headersOf({ headers }: FastifyRequest): Headers {
  const { authorization: _, cookie: __, [CONSOLE_HEADER]: ___, ...rest } = headers
  const kept = new Headers()
  for (const [name, value] of Object.entries(rest)) if (typeof value === 'string') kept.set(name, value)
  return kept
}
