// The server of the page: it serves the page, and runs CopilotKit's runtime in front of Countersign with the key of the person who is signed in.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { join } from 'node:path'

const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' }

let page
/** Builds the page into memory, once: CopilotKit is large. */
const builtPage = () => {
  page ??= buildPage()
  return page
}

async function buildPage() {
  const { build } = await import('vite')
  const { output } = await build({
    root: join(import.meta.dirname, 'page'),
    configFile: false,
    logLevel: 'error',
    build: { write: false, target: 'es2022', modulePreload: false, chunkSizeWarningLimit: 20_000 },
  })
  return Object.fromEntries(output.map((file) => [`/${file.fileName}`, file.type === 'chunk' ? file.code : file.source]))
}

/** The runtime of CopilotKit with one agent. Nothing is kept here: what the page is told comes from Countersign each time. */
async function openRuntime(countersign, key) {
  process.env.COPILOTKIT_TELEMETRY_DISABLED ??= 'true'
  const { HttpAgent } = await import('@ag-ui/client')
  const { AgentRunner, CopilotRuntime } = await import('@copilotkit/runtime/v2')
  const { createCopilotNodeListener } = await import('@copilotkit/runtime/v2/node')
  const { catchError, of } = await import('rxjs')
  const desk = new HttpAgent({ url: `${countersign}/api/ag-ui/desk`, headers: { authorization: `Bearer ${key}` } })

  class CountersignRunner extends AgentRunner {
    run({ agent, input }) {
      return agent.run(input).pipe(catchError(({ message }) => of({ type: 'RUN_ERROR', message })))
    }
    /** A page that was loaded: the conversation, what was decided elsewhere meanwhile, and what still waits. */
    connect({ threadId }) {
      const nothing = { messages: [], tools: [], context: [], state: {}, forwardedProps: {} }
      return this.run({ agent: desk.clone(), input: { threadId, runId: randomUUID(), ...nothing } })
    }
    async isRunning() {
      return false
    }
    async stop() {
      return false
    }
  }
  return createCopilotNodeListener({
    runtime: new CopilotRuntime({ agents: { desk }, runner: new CountersignRunner() }),
    basePath: '/api/copilotkit',
  })
}

/**
 * @param settings.countersign Where Countersign is.
 * @param settings.key The key of Ana, who is signed in. A real page has a session for each person, and keeps their keys on its server.
 */
export async function startFrontEnd({ port, countersign, key }) {
  const [files, runtime] = await Promise.all([builtPage(), openRuntime(countersign, key)])
  const server = createServer((request, response) => {
    if (request.url.startsWith('/api/copilotkit')) {
      // A page of another origin cannot send JSON here without asking first, and is not answered.
      const isOwn = request.method === 'GET' || request.headers['content-type'] === 'application/json'
      return isOwn ? runtime(request, response) : response.writeHead(415).end()
    }
    const path = request.url === '/' ? '/index.html' : request.url
    if (!Object.hasOwn(files, path)) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': TYPES[path.split('.').at(-1)] ?? 'application/octet-stream' }).end(files[path])
  })
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
