// The server of the page: it serves the page, and passes its chat on to Countersign with the key of the person who is signed in.
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'

const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' }

const built = new Map()

/** Builds a page into memory, once. */
const pageOf = (settings) => built.get(settings.root) ?? built.set(settings.root, buildPage(settings)).get(settings.root)

async function buildPage(settings) {
  const { build } = await import('vite')
  const { output } = await build({
    ...settings,
    configFile: false,
    logLevel: 'error',
    build: { write: false, target: 'es2022', modulePreload: false, assetsInlineLimit: 0, chunkSizeWarningLimit: 20_000 },
  })
  return Object.fromEntries(output.map((file) => [`/${file.fileName}`, file.type === 'chunk' ? file.code : file.source]))
}

/**
 * @param settings.countersign Where Countersign is.
 * @param settings.page The Vite settings of the page, `root` among them; default the page of this folder.
 * @param settings.key The key of Ana, who is signed in. A real page has a session for each person, and keeps their keys on its server.
 */
export async function startFrontEnd({ port, countersign, key, page = { root: join(import.meta.dirname, 'page') } }) {
  const files = await pageOf(page)

  /** The bytes of the stream are passed on as they come. */
  async function passOn(request, response) {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const isPost = request.method === 'POST'
    const answer = await fetch(countersign + request.url.replace('/api/chat', '/api/ai-sdk/chat'), {
      method: request.method,
      headers: { authorization: `Bearer ${key}`, ...(isPost && { 'content-type': 'application/json' }) },
      signal: gone.signal,
      ...(isPost && { body: Readable.toWeb(request), duplex: 'half' }),
    })
    response.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'text/plain',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    if (answer.body)
      Readable.fromWeb(answer.body)
        .on('error', () => response.destroy())
        .pipe(response)
    else response.end()
  }

  const server = createServer(async (request, response) => {
    if (request.url.startsWith('/api/chat')) {
      // A page of another origin cannot send JSON here without asking first, and is not answered.
      const isOwn = request.method === 'GET' || request.headers['content-type'] === 'application/json'
      if (!isOwn) return response.writeHead(415).end()
      return passOn(request, response).catch(() => response.headersSent || response.writeHead(502).end('Countersign cannot be reached.'))
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
