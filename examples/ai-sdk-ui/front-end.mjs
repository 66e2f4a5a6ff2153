// The server of the page: it serves the page, and passes its chat on to Countersign with the key of the person who is signed in.
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { servePage } from './serve-page.mjs'

/**
 * @param settings.countersign Where Countersign is.
 * @param settings.page The Vite settings of the page, `root` among them; default the page of this folder.
 * @param settings.key The key of Ana, who is signed in. A real page has a session for each person, and keeps their keys on its server.
 */
export function startFrontEnd({ port, countersign, key, page = { root: join(import.meta.dirname, 'page') } }) {
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

  const answer = (request, response) =>
    passOn(request, response).catch(() => response.headersSent || response.writeHead(502).end('Countersign cannot be reached.'))
  return servePage({ port, page, api: '/api/chat', answer })
}
