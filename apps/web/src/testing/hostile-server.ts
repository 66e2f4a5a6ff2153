import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { builtConsole } from './console-build.ts'
import type { HostileAnswers } from './hostile-answers.ts'

export interface HostileServer extends AsyncDisposable {
  url: string
  /** Requests for anything but the console and its API. No page may make one. */
  strays: string[]
  /** Sends an event on every open stream at this address; where none is open, on the next one. */
  push(path: string, type: string, data: unknown): void
  /** How many streams are open at this address. */
  streamsAt(path: string): number
  /** Ends every open stream at this address, as the server does when the rights of its reader change. */
  cut(path: string): void
}

/** As a server does, so that a page does not take a silent stream for a dead one after 40 s. */
const HEARTBEAT_MS = 5_000

/** Serves the real console over HTTP with its own content security policy and a server whose texts are all hostile. */
export async function startHostileServer({ answer }: Pick<HostileAnswers, 'answer'>): Promise<HostileServer> {
  const files = await builtConsole()
  const streams = new Map<ServerResponse, string>()
  /** Events for which no stream was open, by address. */
  const unsent = new Map<string, string>()
  const strays: string[] = []
  let seq = 100
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server')
    if (!pathname.startsWith('/api/')) return page(pathname, response)
    if (pathname.endsWith('/events')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`: hello\n\n${unsent.get(pathname) ?? ''}`)
      unsent.delete(pathname)
      streams.set(response, pathname)
      response.once('close', () => streams.delete(response))
      return
    }
    const {
      status = 200,
      type = 'application/json',
      body,
    } = answer(request.method ?? 'GET', pathname, searchParams) ?? {
      status: 404,
      body: { code: 'not_found', detail: 'nothing' },
    }
    // As JSON half a character is spelled `\ud800`; the console gets it back whole.
    response.writeHead(status, { 'content-type': type }).end(type === 'application/yaml' ? body : JSON.stringify(body))
  })

  function page(pathname: string, response: ServerResponse): void {
    const file = files.get(pathname)
    if (!file && /\.\w+$|^\/x/.test(pathname)) strays.push(pathname)
    if (file) return void response.writeHead(200, { 'content-type': file.type }).end(file.body)
    const policy = `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-n'; img-src 'self' data:; connect-src 'self'`
    const html = String(files.get('/index.html')?.body).replaceAll('__CSP_NONCE__', 'n')
    response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy }).end(html)
  }

  const heartbeat = setInterval(() => {
    for (const stream of streams.keys()) stream.write(': here\n\n')
  }, HEARTBEAT_MS)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    strays,
    push(path, type, data) {
      const event = `id: ${++seq}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
      const open = [...streams].filter(([, at]) => at === path)
      for (const [stream] of open) stream.write(event)
      if (open.length === 0) unsent.set(path, (unsent.get(path) ?? '') + event)
    },
    streamsAt: (path) => [...streams.values()].filter((at) => at === path).length,
    cut(path) {
      for (const [stream, at] of streams) if (at === path) stream.end()
    },
    async [Symbol.asyncDispose]() {
      clearInterval(heartbeat)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
