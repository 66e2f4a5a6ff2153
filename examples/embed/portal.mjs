// The server of the portal: it serves its page, knows who is signed in, and has Countersign make tokens for them. The key stays here.
import { createServer } from 'node:http'
import { join } from 'node:path'
import { defaultClientConditions } from 'vite'

/** People of the portal and the roles that they have in Countersign. */
const PEOPLE = { ana: { name: 'Ana', roles: ['approver'] }, ben: { name: 'Ben', roles: ['viewer'] } }

/** Scripts and styles from the page's own origin only: nothing inline, no eval. Countersign is the one other server it speaks to. */
const policyFor = (countersign) =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' ${countersign}; report-uri /csp-report`

/** Builds the page as a real portal would, into memory. */
async function buildPage() {
  const { build } = await import('vite')
  const { output } = await build({
    root: join(import.meta.dirname, 'page'),
    configFile: false,
    logLevel: 'error',
    resolve: { conditions: ['countersign-source', ...defaultClientConditions] },
    build: { write: false, target: 'es2022', modulePreload: false, assetsInlineLimit: 0 },
  })
  return Object.fromEntries(output.map((file) => [`/${file.fileName}`, file.type === 'chunk' ? file.code : file.source]))
}

const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' }

async function readJson(request) {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text === '' ? {} : JSON.parse(text)
}

/**
 * @param settings.countersign Where Countersign is, for this server and for the page.
 * @param settings.embedKey The key of a service with the scope `embed`.
 * @param settings.agentKey The key of the agent that asks.
 */
export async function startPortal({ port, countersign, embedKey, agentKey }) {
  const files = await buildPage()
  const reports = []

  async function call(path, key, body) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(countersign + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: answer.status, body: await answer.json() }
  }

  /** A real portal has sessions; here the cookie holds the name. A page of another site sends no such cookie. */
  const personOf = ({ headers: { cookie = '' } }) => /(?:^|; )who=(\w+)/.exec(cookie)?.[1]

  const routes = {
    '/sign-in': async (request) => {
      const { who } = await readJson(request)
      return { status: 200, body: {}, cookie: `who=${Object.hasOwn(PEOPLE, who) ? who : ''}; HttpOnly; SameSite=Strict; Path=/` }
    },
    // For whoever is signed in here, never for whom the page names.
    '/countersign-token': async (request) => {
      const who = personOf(request) ?? ''
      if (!Object.hasOwn(PEOPLE, who)) return { status: 401, body: {} }
      const { name, roles } = PEOPLE[who]
      return call('/api/embed-tokens', embedKey, { person: { id: who, name }, roles })
    },
    '/propose': () => {
      const title = `Answer within ${1 + Math.floor(Math.random() * 1_000)} hours`
      return call('/api/actions', agentKey, { tool: 'goals.createObjective', arguments: { title, owner: 'Support', period: '2026-Q4' } })
    },
    '/csp-report': async (request) => {
      reports.push(await readJson(request))
      return { status: 204, body: {} }
    },
  }

  const server = createServer(async (request, response) => {
    const path = request.url === '/' ? '/index.html' : request.url
    if (request.method === 'POST' && Object.hasOwn(routes, path)) {
      const { status, body, cookie } = await routes[path](request).catch((error) => ({ status: 502, body: { error: String(error) } }))
      response.writeHead(status, {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        ...(cookie && { 'set-cookie': cookie }),
      })
      return response.end(status === 204 ? undefined : JSON.stringify(body))
    }
    if (path === '/where.json') return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ countersign }))
    if (path === '/csp-reports.json') return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reports))
    if (!Object.hasOwn(files, path)) return response.writeHead(404).end()
    const type = TYPES[path.split('.').at(-1)] ?? 'application/octet-stream'
    response.writeHead(200, { 'content-type': type, 'content-security-policy': policyFor(countersign) }).end(files[path])
  })
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.closeAllConnections() || server.close() }
}
