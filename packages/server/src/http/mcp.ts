import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireOwnHost } from '../gateway/own-host.ts'
import type { Holders } from '../hooks/holders.ts'
import type { App, HttpDeps } from './app.ts'
import { McpEvent } from './docs/index.ts'
import { callerOfGateway, openMcpAnswers } from './mcp-answers.ts'

const Query = z.object({
  agent: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Only the tools of this agent of the configuration: its name. The key of another agent may repeat that agent’s name.'),
})
/** JSON-RPC; the SDK validates its content. */
const Message = z.looseObject({ jsonrpc: z.literal('2.0') })
const Messages = z.union([Message, z.array(Message).min(1).max(100)])
const ANSWER = { 'application/json': { schema: Message }, 'text/event-stream': { schema: z.string() } }

/** Registers `/mcp`: the tools of the configuration, or those of one agent with `?agent=`, for any MCP client. */
export function mcpRoutes(app: App, http: HttpDeps, holders: Holders): void {
  const { answer, listen } = openMcpAnswers(app, http, holders)
  const tags = ['mcp']
  const hooks = {
    onRequest: async (request: FastifyRequest) => requireOwnHost(request, { publicUrl: http.publicUrl, hosts: http.gateway.hosts }),
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
    listen,
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
