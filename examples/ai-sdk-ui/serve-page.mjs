// Builds a page and serves it beside one API, for the examples of pages.
import { createServer } from 'node:http'

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
 * @param settings.page The Vite settings of the page, `root` among them.
 * @param settings.api The path that the addresses of the API begin with.
 * @param settings.answer Answers a request for the API.
 */
export async function servePage({ port, page, api, answer }) {
  const files = await pageOf(page)
  const server = createServer((request, response) => {
    if (request.url.startsWith(api)) {
      // A page of another origin cannot send JSON here without asking first, and is not answered.
      const isOwn = request.method === 'GET' || request.headers['content-type'] === 'application/json'
      return isOwn ? answer(request, response) : response.writeHead(415).end()
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
