import { createHash } from 'node:crypto'
import { VERSION } from '@countersign/toolkit/internal'
import { createRequestStateCodec, type RequestStateCodec, Server } from '@modelcontextprotocol/server'
import { WAIT_TOOL } from './answers.ts'
import { callTool, type PausedCall } from './call-tool.ts'
import type { Exchange, GatewayDeps } from './exchange.ts'
import { listTools } from './tool-list.ts'

const INSTRUCTIONS = `Calls that change something may need a person’s approval. Such a call answers "waiting for approval act_…": nothing was carried out then. Call ${WAIT_TOOL} with that actionId, or make exactly the same call again later, to get its result. A call that was declined is not to be tried in another way.`

/** Longer than an approval may reasonably wait: its binding is checked in any case. */
const STATE_SECONDS = 90 * 24 * 60 * 60

/** Signs the state that a client sends back, for this principal only. */
export const createStateCodec = (secret: string): RequestStateCodec<PausedCall> =>
  createRequestStateCodec<PausedCall>({
    key: createHash('sha256').update(`mcp request state ${secret}`).digest(),
    ttlSeconds: STATE_SECONDS,
    bind: (ctx) => ctx.http?.authInfo?.clientId ?? '',
  })

/** Creates an MCP server for one HTTP request: the data of one client is never in the server of another. */
export function createMcpServer(deps: GatewayDeps, exchange: Exchange, codec: RequestStateCodec<PausedCall>): Server {
  const server = new Server(
    { name: 'countersign', title: 'Countersign', version: VERSION },
    { capabilities: { tools: { listChanged: true } }, instructions: INSTRUCTIONS, requestState: { verify: codec.verify } },
  )
  server.setRequestHandler('tools/list', ({ params }) => listTools(exchange.tools, params?.cursor, deps.answerPrompt !== undefined))
  server.setRequestHandler('tools/call', ({ params }, ctx) => callTool({ deps, exchange, codec }, params, ctx))
  return server
}
