import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { CountersignError } from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { agentNamed } from '../gate/index.ts'
import { type Exchange, type GatewayDeps, type PermissionPrompt, whenDelivered } from '../gateway/exchange.ts'
import { openHeldRequests } from '../gateway/held-requests.ts'
import { createOpenCalls } from '../gateway/open-calls.ts'
import { requireOwnHost } from '../gateway/own-host.ts'
import { whenHungUp } from '../gateway/read-until.ts'
import { createRunningCalls } from '../gateway/running-calls.ts'
import { createSessionIds } from '../gateway/session-id.ts'
import type { Holders } from '../hooks/holders.ts'
import { isHostRunTool } from '../host-run.ts'
import { callerOf } from '../identity/authenticate.ts'
import { CONSOLE_HEADER } from '../identity/console-credential.ts'
import type { App, HttpDeps } from './app.ts'
import { McpEvent } from './docs/index.ts'
import type { EventStream } from './sse.ts'
import { streamWhileStanding } from './stream-while-standing.ts'

const Query = z.object({
  agent: z.string().min(1).max(100).optional().describe('Only the tools of this agent of the configuration: its name.'),
})
/** JSON-RPC; the SDK validates its content. */
const Message = z.looseObject({ jsonrpc: z.literal('2.0') })
const Messages = z.union([Message, z.array(Message).min(1).max(100)])
const ANSWER = { 'application/json': { schema: Message }, 'text/event-stream': { schema: z.string() } }
const TOOLS_CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
const Initialize = z.object({ method: z.literal('initialize') })

/** Registers `/mcp`: the tools of the configuration, or those of one agent with `?agent=`, for any MCP client. */
export function mcpRoutes(app: App, http: HttpDeps, holders: Holders): void {
  const heldRequests = openHeldRequests({
    ...http,
    graceMs: http.gateway.graceSeconds * 1_000,
    isStopping: () => http.stopping.aborted,
    whyHeld: () => http.hold.why,
  })
  app.addHook('onClose', () => heldRequests[Symbol.asyncDispose]())
  const deps: GatewayDeps = {
    ...http,
    openCalls: createOpenCalls(http),
    heldRequests,
    get answerPrompt() {
      const hasHostTools = http.tools.all().some((tool) => isHostRunTool(tool, 'other'))
      if (!hasHostTools) return undefined
      return async (prompt: PermissionPrompt, exchange: Exchange) => {
        const { answerPrompt } = await import('../hooks/answer-prompt.ts')
        return answerPrompt({ ...http, holders }, prompt, exchange)
      }
    },
  }
  const sessionIds = createSessionIds(deps.gatewaySecret)
  const running = createRunningCalls()
  const exchanges = new WeakMap<globalThis.Request, Exchange>()
  // Loaded with the first request: the SDK would slow down every start of a server.
  const load = async () => (await import('../gateway/handler.ts')).openHandler(deps, exchanges)
  let opened: ReturnType<typeof load> | undefined
  const handlerOf = () => {
    opened ??= load()
    return opened
  }
  app.addHook('onClose', async () => (await opened)?.close())
  const listening = new Set<EventStream>()
  deps.tools.onChange(() => {
    void opened?.then(({ notify }) => notify.toolsChanged())
    for (const stream of listening) stream.send({ type: 'message', data: TOOLS_CHANGED })
  })

  async function answer(request: FastifyRequest<{ Querystring: z.infer<typeof Query> }>, reply: FastifyReply): Promise<never> {
    const caller = callerOfGateway(request)
    const { agent } = request.query
    agentNamed(agent, caller.principal)
    const isFirst = Initialize.safeParse(request.body).success
    const sessionId = isFirst ? undefined : sessionOf(request, caller.principal.id)
    const cancelled = sessionId === undefined ? undefined : running.cancel(sessionId, request.body)
    if (cancelled) {
      if (cancelled.isWithdrawn) await heldRequests.takeBack(cancelled.name, caller)
      return sent(reply.code(202).send())
    }
    const call = running.begin(sessionId, request.body)
    const hungUp = AbortSignal.any([whenHungUp(reply), call.cancelled])
    const exchange: Exchange = {
      request,
      caller,
      agent,
      tools: toolsFor(agent),
      consoleUrl: deps.publicUrl ?? `${request.protocol}://${request.host}`,
      requestName: call.name,
      hungUp,
      isWithdrawn: call.isWithdrawn,
      delivered: whenDelivered(reply).then((isWhole) => {
        call.end()
        return isWhole && !call.cancelled.aborted
      }),
    }
    const asked = new Request(`http://countersign${request.url}`, { method: request.method, headers: headersOf(request), signal: hungUp })
    exchanges.set(asked, exchange)
    const authInfo = { token: '', clientId: caller.principal.id, scopes: [] }
    const handler = await handlerOf()
    const response = await handler.fetch(asked, { authInfo, ...(request.body !== undefined && { parsedBody: request.body }) })
    reply.code(response.status).headers(Object.fromEntries(response.headers))
    if (isFirst && response.status === 200) reply.header('mcp-session-id', sessionIds.draw(caller.principal.id))
    return sent(reply.send(response.body ? Readable.fromWeb(response.body as ReadableStream) : undefined))
  }

  /** Looks the tools up for each request, because they change while the server runs. */
  function toolsFor(agent: string | undefined): Exchange['tools'] {
    // Coding agents have these tools of their own.
    if (agent === undefined) return deps.tools.all().filter(({ isHostRun }) => isHostRun !== true)
    const configured = deps.agents.get(agent)
    if (configured) return configured.tools
    throw new CountersignError('not_found', `there is no agent ${agent}`)
  }

  /** @throws CountersignError `not_found` for a session that is not the caller's: the client begins another. */
  function sessionOf({ headers }: FastifyRequest, principalId: string): string | undefined {
    const id = headers['mcp-session-id']
    if (id === undefined) return undefined
    if (typeof id === 'string' && sessionIds.isOf(id, principalId)) return id
    throw new CountersignError('not_found', 'there is no such MCP session: begin another with initialize')
  }

  const tags = ['mcp']
  const hooks = {
    onRequest: async (request: FastifyRequest) => requireOwnHost(request, { publicUrl: deps.publicUrl, hosts: deps.gateway.hosts }),
    onSend: async (_request: FastifyRequest, reply: FastifyReply) => {
      if (reply.statusCode === 401) reply.header('www-authenticate', 'Bearer realm="countersign"')
    },
  }
  const refused = { description: 'A JSON-RPC error', content: { 'application/json': { schema: Message } } }
  const answers = {
    200: { description: 'JSON-RPC messages, as the client accepts them', content: ANSWER },
    202: z.null(),
    ...{ 400: refused, 406: refused, 415: refused },
  }
  app.post(
    '/mcp',
    {
      ...hooks,
      config: { right: 'anyone' },
      schema: {
        operationId: 'sendMcpMessages',
        summary: 'Send JSON-RPC messages of the Model Context Protocol',
        errors: ['not_found'],
        sends: ['Mcp-Session-Id'],
        tags,
        querystring: Query,
        body: Messages,
        response: answers,
      },
    },
    answer,
  )

  // A client of the older protocol versions listens here for server messages.
  app.get(
    '/mcp',
    {
      ...hooks,
      config: { right: 'anyone' },
      schema: {
        operationId: 'streamMcp',
        summary: 'Stream messages of the Model Context Protocol from the server',
        errors: ['not_found'],
        streams: McpEvent,
        tags,
        querystring: Query,
        produces: ['text/event-stream'],
        response: { 405: refused, 406: refused },
      },
    },
    async (request, reply) => {
      const { principal } = callerOfGateway(request)
      if (sessionOf(request, principal.id) === undefined) return answer(request, reply)
      const stream = await streamWhileStanding(deps, request, reply)
      listening.add(stream)
      stream.onClose(() => listening.delete(stream))
      return sent(reply)
    },
  )

  // The server keeps no session state, so there is nothing to end.
  app.delete(
    '/mcp',
    {
      ...hooks,
      config: { right: 'anyone' },
      schema: {
        operationId: 'endMcpSession',
        summary: 'End a session of the Model Context Protocol',
        tags,
        response: { 200: z.object({}) },
      },
    },
    async (request) => {
      callerOfGateway(request)
      return {}
    },
  )
}

/** Fastify treats its own reply as an answer in progress; this type stands for it in the route's schema. */
const sent = (reply: FastifyReply): never => reply as never

/** Returns the principal of a key: credentials that a browser sends by itself do not count here. */
function callerOfGateway(request: FastifyRequest): Exchange['caller'] {
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
