import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import type { Exchange, GatewayDeps } from './exchange.ts'
import { createMcpServer, createStateCodec } from './mcp-server.ts'

/**
 * Answers MCP requests: each gets its own server from the SDK, for 2026-07-28 and for the protocol versions that begin with `initialize`.
 */
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
