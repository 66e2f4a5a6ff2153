import { fileURLToPath } from 'node:url'
import { type CallToolResult, Client as Client2, StreamableHTTPClientTransport as HttpTransport2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioTransport2 } from '@modelcontextprotocol/client/stdio'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioTransport1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpTransport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import { COMPILE_CACHE } from './compile-cache.ts'

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))

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

/** An address with its key, how long connecting may take and what sends its requests; or the arguments of a `countersign` process that is started: this checkout's, or with `npx` the one that is installed in a folder. */
export type McpConnection =
  | { url: string; key: string; headers?: Record<string, string>; timeoutMs?: number; fetch?: typeof fetch }
  | { args: readonly string[]; environment: Record<string, string>; stderr(line: string): void; installedIn?: string }

const WHO = { name: 'test-client', version: '1.0.0' }

const programOf = ({ args, environment, installedIn }: Extract<McpConnection, { args: unknown }>) => ({
  ...(installedIn === undefined
    ? { command: process.execPath, args: ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, ...args] }
    : { command: 'npx', args: ['--no-install', 'countersign', ...args], cwd: installedIn }),
  env: { ...COMPILE_CACHE, ...environment },
  stderr: 'pipe' as const,
})

const requestOf = ({ key, headers, fetch: send }: Extract<McpConnection, { url: string }>) => ({
  ...(send && { fetch: send }),
  requestInit: { headers: { authorization: `Bearer ${key}`, ...headers } },
})

/** The SDKs give up after 60 s by themselves, and a busy machine may take longer, above all to start a process. */
const limitOf = ({ timeoutMs = 240_000 }: { timeoutMs?: number | undefined }) => ({ timeout: timeoutMs })

async function connect1(connection: McpConnection): Promise<McpClient> {
  const client = new Client1(WHO)
  if ('url' in connection) {
    const transport = new HttpTransport1(new URL(connection.url), requestOf(connection))
    // Its own types disagree about `sessionId` under exact optional properties.
    await client.connect(transport as Parameters<typeof client.connect>[0], limitOf(connection))
  } else {
    const transport = new StdioTransport1(programOf(connection))
    transport.stderr?.on('data', (chunk) => connection.stderr(String(chunk)))
    await client.connect(transport, limitOf({}))
  }
  return {
    async call(name, args, { timeoutMs, signal, onprogress, meta } = {}) {
      const options = {
        ...limitOf({ timeoutMs }),
        ...(signal && { signal }),
        ...(onprogress && { onprogress }),
      }
      const params = { name, ...(args && { arguments: args }), ...(meta && { _meta: meta }) }
      return (await client.callTool(params, CallToolResultSchema, options)) as CallToolResult
    },
    tools: async () => (await client.listTools(undefined, limitOf({}))).tools,
    protocolVersion: () => '2025-11-25',
    [Symbol.asyncDispose]: () => client.close(),
  }
}

const connect2 =
  (mode: 'legacy' | 'auto') =>
  async (connection: McpConnection): Promise<McpClient> => {
    const client = new Client2(WHO, { versionNegotiation: { mode } })
    if ('url' in connection) await client.connect(new HttpTransport2(new URL(connection.url), requestOf(connection)), limitOf(connection))
    else {
      const transport = new StdioTransport2(programOf(connection))
      transport.stderr?.on('data', (chunk) => connection.stderr(String(chunk)))
      await client.connect(transport, limitOf({}))
    }
    return {
      call(name, args, { timeoutMs, signal, onprogress, meta } = {}) {
        const options = {
          ...limitOf({ timeoutMs }),
          ...(signal && { signal }),
          ...(onprogress && { onprogress }),
        }
        return client.callTool({ name, ...(args && { arguments: args }), ...(meta && { _meta: meta }) }, options)
      },
      tools: async () => (await client.listTools(undefined, limitOf({}))).tools,
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

/** Makes a call, and takes it back once the server has said that it waits. */
export async function takeBack(client: McpClient, what = 'a'): Promise<void> {
  const hangUp = new AbortController()
  const progress = Promise.withResolvers<void>()
  const call = client.call('keyed', { what }, { signal: hangUp.signal, onprogress: () => progress.resolve() })
  await progress.promise
  hangUp.abort()
  await expect(call).rejects.toThrow()
}
