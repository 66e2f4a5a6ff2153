import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { type Browser, chromium, type Page } from '@playwright/test'
import type { Installed } from './installed.ts'

/** A page of the cards that wait, and with `?inbox` of the whole inbox. The key is in its address: a page of somebody's own signs people in differently. */
const FILES: Readonly<Record<string, string>> = {
  'index.html':
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Approvals</title><link rel="icon" href="data:,"></head>' +
    '<body><div id="root"></div><script type="module" src="/main.jsx"></script></body></html>\n',
  'main.jsx': `import { createClient, openInbox } from '@countersign/client'
import { ApprovalCard, ApprovalInbox, useInbox } from '@countersign/react'
import { StrictMode, version } from 'react'
import { createRoot } from 'react-dom/client'
import '@countersign/react/card.css'

const client = createClient({ key: location.hash.slice(1) })
const inbox = openInbox(client)

function Approvals({ me }) {
  const { items, connection } = useInbox(inbox)
  return items.map((action) => (
    <ApprovalCard
      key={action.id}
      action={action}
      me={me}
      connection={connection.kind}
      onDecide={(verdict, details) => client.actions.decide(action.id, { verdict, ...details })}
    />
  ))
}

const { principal } = await client.me()
createRoot(document.getElementById('root')).render(
  <StrictMode>
    <h1>React {version}</h1>
    {location.search === '?inbox' ? <ApprovalInbox client={client} /> : <Approvals me={principal} />}
  </StrictMode>,
)
`,
}

/** Scripts and style sheets from the page's own origin only: nothing inline, no eval. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:"
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

/** Installs our tarballs with this React and Vite into an empty folder and builds a page with the card. Returns the folder of the build. */
export async function buildEmbeddingPage(installed: Installed, react: string): Promise<string> {
  const project = installed.emptyProject(`react-${react}`)
  for (const [name, source] of Object.entries(FILES)) writeFileSync(join(project.folder, name), source)
  await project.install([...project.tarballs(['core', 'client', 'react']), `react@${react}`, `react-dom@${react}`, 'vite@8'])
  mkdirSync(join(project.folder, 'dist'), { recursive: true })
  // Under the tests' NODE_ENV this bundles React's development build, whose warnings the page then reports.
  const { code, stdout, stderr } = await project.run('npx', ['vite', 'build', '--target', 'es2022'])
  if (code !== 0) throw new Error(`vite build ended with ${code}\n${stdout}\n${stderr}`)
  return join(project.folder, 'dist')
}

/** A server of built files under the policy, with `/api` forwarded to a Countersign server. */
export async function serveEmbeddingPage(folder: string, apiUrl: string): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((asked, answer) => {
    const path = new URL(asked.url ?? '/', 'http://page').pathname
    if (path.startsWith('/api/')) forward(asked, answer, apiUrl)
    else sendFile(answer, folder, path === '/' ? 'index.html' : normalize(path))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function sendFile(answer: ServerResponse, folder: string, path: string): void {
  try {
    const body = readFileSync(join(folder, path))
    answer
      .writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream', 'content-security-policy': POLICY })
      .end(body)
  } catch {
    answer.writeHead(404).end()
  }
}

function forward(asked: IncomingMessage, answer: ServerResponse, apiUrl: string): void {
  const { host: _, origin: __, ...headers } = asked.headers
  const onward = request(new URL(asked.url ?? '/', apiUrl), { method: asked.method, headers }, (reply) => {
    answer.writeHead(reply.statusCode ?? 502, reply.headers)
    reply.pipe(answer)
  })
  onward.on('error', () => answer.destroy())
  answer.on('close', () => onward.destroy())
  asked.pipe(onward)
}

/** A step that takes longer than this hangs: a busy machine is slow. */
const PATIENCE_MS = 240_000

/** A page in a real browser, and everything it complained about: console errors, exceptions, breaches of the policy. */
export async function openInBrowser(): Promise<AsyncDisposable & { browser: Browser; page: Page; complaints: string[] }> {
  const args = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']
  const executablePath = process.env.COUNTERSIGN_CHROMIUM ?? '/usr/bin/chromium'
  const browser = await chromium.launch({ executablePath, args, timeout: PATIENCE_MS })
  const page = await browser.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return { browser, page, complaints, [Symbol.asyncDispose]: () => browser.close() }
}
