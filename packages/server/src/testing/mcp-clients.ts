import { type CallToolResult, Client as Client2, StreamableHTTPClientTransport as HttpTransport2 } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpTransport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'

export interface McpCallOptions {
  timeoutMs?: number
  signal?: AbortSignal
  onprogress?(progress: { progress: number; total?: number | undefined; message?: string | undefined }): void
  meta?: Record<string, unknown>
}

/** The published clients behind one face: what a program does with them, and nothing that they do not do themselves. */
export interface McpClient extends AsyncDisposable {
  call(name: string, args?: Record<string, unknown>, options?: McpCallOptions): Promise<CallToolResult>
  tools(): Promise<{ name: string; annotations?: Record<string, unknown> | undefined }[]>
  protocolVersion(): string | undefined
}

export interface McpConnection {
  /** With its path: `http://127.0.0.1:4319/mcp`. */
  url: string
  key: string
  headers?: Record<string, string>
}

const WHO = { name: 'test-client', version: '1.0.0' }

const requestInit = ({ key, headers }: McpConnection) => ({ headers: { authorization: `Bearer ${key}`, ...headers } })

async function connect1(connection: McpConnection): Promise<McpClient> {
  const client = new Client1(WHO)
  const transport = new HttpTransport1(new URL(connection.url), { requestInit: requestInit(connection) })
  await client.connect(transport as Parameters<typeof client.connect>[0])
  return {
    async call(name, args, { timeoutMs, signal, onprogress, meta } = {}) {
      const options = {
        ...(timeoutMs !== undefined && { timeout: timeoutMs }),
        ...(signal && { signal }),
        ...(onprogress && { onprogress }),
      }
      const params = { name, ...(args && { arguments: args }), ...(meta && { _meta: meta }) }
      return (await client.callTool(params, CallToolResultSchema, options)) as CallToolResult
    },
    tools: async () => (await client.listTools()).tools,
    protocolVersion: () => transport.protocolVersion,
    [Symbol.asyncDispose]: () => client.close(),
  }
}

const connect2 =
  (mode: 'legacy' | 'auto') =>
  async (connection: McpConnection): Promise<McpClient> => {
    const client = new Client2(WHO, { versionNegotiation: { mode } })
    await client.connect(new HttpTransport2(new URL(connection.url), { requestInit: requestInit(connection) }))
    return {
      call(name, args, { timeoutMs, signal, onprogress, meta } = {}) {
        const options = {
          ...(timeoutMs !== undefined && { timeout: timeoutMs }),
          ...(signal && { signal }),
          ...(onprogress && { onprogress }),
        }
        return client.callTool({ name, ...(args && { arguments: args }), ...(meta && { _meta: meta }) }, options)
      },
      tools: async () => (await client.listTools()).tools,
      protocolVersion: () => client.getNegotiatedProtocolVersion(),
      [Symbol.asyncDispose]: () => client.close(),
    }
  }

/** Published clients, unmodified, and what they speak. */
export const MCP_CLIENTS = [
  { client: 'SDK 1.32.2', speaks: '2025-11-25', connect: connect1 },
  { client: 'SDK 2.4.0', speaks: '2025-11-25', connect: connect2('legacy') },
  { client: 'SDK 2.4.0', speaks: '2026-07-28', connect: connect2('auto') },
] as const
