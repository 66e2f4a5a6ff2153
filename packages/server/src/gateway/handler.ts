import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import type { Exchange, GatewayDeps } from './exchange.ts'
import { createMcpServer, createStateCodec } from './mcp-server.ts'

/** What answers MCP requests: each has a server of its own from the SDK, for 2026-07-28 and for the protocols that begin with `initialize`. */
export function openHandler(deps: GatewayDeps, exchanges: WeakMap<globalThis.Request, Exchange>): McpHttpHandler {
  const codec = createStateCodec(deps.gatewaySecret)
  return createMcpHandler(
    ({ requestInfo }) => {
      const exchange = requestInfo && exchanges.get(requestInfo)
      if (!exchange) throw new Error('assertion failed: every request has its exchange')
      return createMcpServer(deps, exchange, codec)
    },
    { onerror: (error) => deps.log.debug({ error }, 'gateway.refused') },
  )
}
