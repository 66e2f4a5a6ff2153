import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { ReadableStream } from 'node:stream/web'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { type Certificate, SPOILED } from '../../../toolkit/src/testing/certificate.ts'

export interface HttpMcp {
  url: string
  /** The names of the tools that were called, in order. */
  calls: string[]
  /** The methods of the requests that it took, in order. */
  methods: string[]
  /** Forgets its sessions, like a restarted server. */
  forget(): void
  /** Gives its tool `note` another description, without a notice. */
  describe(description: string): void
  /** Tells whoever listens that its tools changed. */
  notify(): void
  /** Breaks all its connections. */
  cut(): void
  /** Closes all connections and stops listening. `back` listens again at the same address. */
  away(): Promise<void>
  back(): Promise<void>
}

type Answer = (request: IncomingMessage, body: string, response: ServerResponse) => Promise<void> | void

interface Place {
  certificate?: Certificate | undefined
  /** Of a server that goes away: another test may get the port that the system chose for it. Default: one that the system chooses. */
  port?: number | undefined
}

async function listen({ certificate, port: wanted = 0 }: Place, answer: Answer): Promise<Pick<HttpMcp, 'url' | 'away' | 'back' | 'cut'>> {
  const take = (request: IncomingMessage, response: ServerResponse) => void text(request).then((body) => answer(request, body, response))
  const server = certificate ? createSecureServer(certificate, take) : createServer(take)
  // What is below the encryption of a connection.
  server.on('connection', (socket: Socket) => sockets.set(socket.remotePort, socket))
  const start = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const away = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  await start(wanted)
  const { port } = server.address() as AddressInfo
  onTestFinished(away)
  return {
    url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}/mcp`,
    away,
    back: () => start(port),
    cut: () => server.closeAllConnections(),
  }
}

const sockets = new Map<number | undefined, Socket>()

interface SessionServerOptions extends Pick<Place, 'port'> {
  /** The status of its answers to requests that it does not know or that come before the handshake. Default 400. */
  unknownStatus?: number
  /** A status of the handshake that fails. Its answer repeats what the request signed in with. */
  initializeStatus?: number
  /** The status of its answer to the nth ping, counted from 1; `unknown`: it implements no ping. Default 200. */
  ping?(nth: number): number | 'unknown' | Promise<number>
  /** Settles when the tool `hold` may end. */
  held?: Promise<void>
  onCall?(): void
  /** False: each request stands for itself. Default true. */
  hasSessions?: boolean
  /** The status of its answer to the nth request for its tools, counted from 1. Default 200. */
  list?(nth: number): number | Promise<number>
}

/** Starts a server of the protocol 2025-11-25 with sessions. A tool does what its name says. */
export async function startSessionServer(certificate?: Certificate, options: SessionServerOptions = {}): Promise<HttpMcp> {
  const { unknownStatus = 400, initializeStatus = 200, ping = () => 200, held, onCall, hasSessions = true, list = () => 200 } = options
  const calls: string[] = []
  const methods: string[] = []
  let pings = 0
  let lists = 0
  let description = 'Adds a note'
  let sessions = new Set<string>()
  const server = await listen({ certificate, port: options.port }, async (request, body, response) => {
    const json = (status: number, value: object, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method, params = {} } = JSON.parse(body)
    methods.push(method)
    const result = (value: object, headers?: Record<string, string>) => void json(200, { jsonrpc: '2.0', id, result: value }, headers)
    if (method === 'initialize' && initializeStatus !== 200)
      return void json(initializeStatus, { error: `refused ${request.headers.authorization}` })
    if (method === 'initialize') {
      const session = `session-${sessions.size}-${performance.now()}`
      sessions.add(session)
      const serverInfo = { name: 'sessions', version: '1' }
      return result(
        { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
        hasSessions ? { 'mcp-session-id': session } : {},
      )
    }
    if (method === 'server/discover')
      return void json(unknownStatus, { jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown method' } })
    if (hasSessions && !sessions.has(String(request.headers['mcp-session-id'])))
      return void json(404, { jsonrpc: '2.0', id, error: { code: -32001, message: 'Session not found' } })
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'ping') {
      const status = await ping(++pings)
      if (status === 'unknown') return void json(200, { jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown method' } })
      return status === 200 ? result({}) : void json(status, {}, { 'retry-after': '0' })
    }
    const names = ['hold', 'note', 'moved', 'broken', 'slow', 'forbidden', 'limited', 'busy', 'cut', 'flood', 'spoil']
    const tools = names.map((name) => ({ name, inputSchema: { type: 'object' }, ...(name === 'note' && { description }) }))
    if (method === 'tools/list') {
      const nth = ++lists
      const status = await list(nth)
      // Some servers list their tools in any order.
      return status === 200 ? result({ tools: nth % 2 === 1 ? tools : tools.toReversed() }) : void json(status, {})
    }
    calls.push(params.name)
    onCall?.()
    if (params.name === 'hold') await held
    if (params.name === 'moved') return void response.writeHead(307, { location: '/elsewhere' }).end()
    if (params.name === 'spoil') return void sockets.get(request.socket.remotePort)?.write(SPOILED)
    if (params.name === 'broken') return void json(502, {})
    if (params.name === 'slow') return void json(408, {})
    if (params.name === 'forbidden') return void json(403, {})
    if (params.name === 'limited') return void json(429, {}, { 'retry-after': '7' })
    if (params.name === 'busy') return void json(503, {}, { 'retry-after': '90' })
    if (params.name === 'cut') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"jsonrpc"')
      return void setImmediate(() => response.destroy())
    }
    if (params.name === 'flood') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: "')
      const more = () => {
        while (response.write('x'.repeat(1_000_000)));
      }
      response.on('drain', more)
      return more()
    }
    return result({ content: [{ type: 'text', text: `did ${params.name}` }] })
  })
  return {
    ...server,
    calls,
    methods,
    forget: () => {
      sessions = new Set()
    },
    describe: (other) => {
      description = other
    },
    // It has no stream for notices.
    notify: () => {},
  }
}

/** Starts a server of the protocol 2026-07-28, made with the SDK. */
export async function startModernServer(place: Pick<Place, 'port'> = {}): Promise<HttpMcp> {
  const calls: string[] = []
  const methods: string[] = []
  let description = 'Adds a note'
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'modern', version: '2' })
      server.registerTool('note', { description, inputSchema: z.object({ text: z.string() }) }, ({ text: words }) => {
        calls.push('note')
        return { content: [{ type: 'text', text: `noted ${words}` }] }
      })
      server.registerTool('ask', { inputSchema: z.object({}) }, () => {
        calls.push('ask')
        return {
          resultType: 'input_required',
          inputRequests: {
            sure: { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } } },
          },
        } as never
      })
      return server
    },
    { legacy: 'reject' },
  )
  const server = await listen(place, async (request, body, response) => {
    const headers = new Headers(Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]))
    const { method = 'GET' } = request
    if (body !== '') methods.push(JSON.parse(body).method)
    const answer = await handler.fetch(new Request(`http://127.0.0.1${request.url}`, { method, headers, ...(body !== '' && { body }) }))
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    // A stream whose connection is cut fails.
    if (answer.body)
      Readable.fromWeb(answer.body as ReadableStream)
        .on('error', () => {})
        .pipe(response)
    else response.end()
  })
  return {
    ...server,
    calls,
    methods,
    forget: () => {},
    describe: (other) => {
      description = other
    },
    notify: () => handler.notify.toolsChanged(),
  }
}
