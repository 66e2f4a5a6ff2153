import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from '../../apps/web/src/testing/launch.ts'
import { sidebar } from './sidebar.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

let site: string
let server: Server
let url: string

beforeAll(async () => {
  site = mkdtempSync(join(tmpdir(), 'countersign-site-'))
  const flags = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', 'scripts/docs/main.ts', 'build']
  const child = spawn(process.execPath, [...flags, '--outDir', site], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  const output = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await ended
  // A link to a page that does not exist, or to a file outside docs that does not, fails the build.
  if (code !== 0) throw new Error(`npm run docs:build ended with ${code}:\n${output.join('')}`)
  server = createServer(({ url: path = '/' }, response) => {
    const file = join(site, normalize(decodeURI(path.replace(/[?#].*$/, '').replace(/\/$/, '/index.html'))))
    if (!existsSync(file)) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' }).end(readFileSync(file))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}, 900_000)
afterAll(() => {
  server?.close()
  rmSync(site, { recursive: true, force: true })
})

/** A page that waits as long as a busy machine needs. */
async function newPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage()
  page.setDefaultTimeout(240_000)
  return page
}

test('every page of docs is on the site and in its sidebar', () => {
  const pages = globSync('*/*.md', { cwd: join(ROOT, 'docs'), exclude: (path) => /node_modules/.test(path) })
  expect(pages.length).toBeGreaterThan(40)
  for (const page of pages) expect(existsSync(join(site, page.replace(/\.md$/, '.html'))), page).toBe(true)
  const linked = JSON.stringify(sidebar(join(ROOT, 'docs')))
  for (const page of pages) expect(linked).toContain(`"/${page.replace(/\.md$/, '').replace(/index$/, '')}"`)
})

test.each([
  ['configuration', 'agents.&lt;name&gt;.maxSteps'],
  ['configuration', 'The result of a look-up.'],
  ['measurements', 'Countersign, SQLite'],
  ['cli', 'countersign policy test'],
  ['http', 'decideAction'],
  ['events', 'ApprovalOverdueEvent'],
  ['limits', 'The webhooks of a server.'],
  ['../guides/metrics', 'countersign_waiting_oldest_seconds'],
  ['log', 'record.head_file_stale'],
  ['policy', 'rules[].requires.quorum'],
  ['record', 'record_memory_lost'],
  ['record', 'The Ed25519 signature of the same text.'],
  ['tools', 'mergePullRequest'],
  ['clients', 'Approved twice'],
  ['client', 'createClient'],
  ['react', 'ApprovalCard'],
  ['server', 'defineTool'],
  ['../guides/retention', 'graphile_worker._private_jobs'],
  ['../guides/python', 'Makes the idempotency key'],
  ['../guides/coding-agent-rules', 'Files that redirections write.'],
  ['../guides/coding-agent-rules', 'Searches the web.'],
  ['../guides/webhooks', 'waits for a decision.'],
  ['../guides/inbox', 'Choose all that are alike'],
  ['../guides/inbox', 'A part of the name of the agent.'],
  ['../guides/gate-frameworks', 'Lines added besides imports'],
  ['../guides/gate-frameworks', 'Mastra, documented quickstart: before and after'],
])('the page reference/%s has its generated part', (page, words) => {
  expect(readFileSync(join(site, 'reference', `${page}.html`), 'utf8')).toContain(words)
})

test('the pictures of the console load, two beside each other, and below each other on a narrow phone', async () => {
  await using browser = await launchBrowser()
  const page = await newPage(browser)
  await page.goto(`${url}/concepts/console.html`)
  const pictures = page.locator('.vp-doc img')
  expect(await pictures.count()).toBe(20)
  for (const picture of await pictures.all()) {
    await picture.scrollIntoViewIfNeeded()
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(300)
    expect(await picture.getAttribute('alt')).toMatch(/ (before|after): /)
  }
  const left = (nth: number) => pictures.nth(nth).evaluate((image) => image.getBoundingClientRect().left)
  expect(await left(1)).toBeGreaterThan(await left(0))
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await left(1)).toBe(await left(0))
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
})

test('the site searches, has a dark mode, reports no error, and loads nothing from another host', async () => {
  await using browser = await launchBrowser()
  const page = await newPage(browser)
  const elsewhere: string[] = []
  const errors: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) elsewhere.push(request.url())
  })
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(`${url}/guides/policy.html`)
  // The buttons are in the page before it is loaded, and do something once the application has taken it over.
  await page.waitForFunction(() => '__vue_app__' in (document.querySelector('#app') ?? {}))
  await page.locator('button.VPSwitchAppearance').first().click()
  await expect.poll(() => page.locator('html').getAttribute('class')).toContain('dark')
  await page.locator('#local-search button, .VPNavBarSearch button').first().click()
  await page.locator('#localsearch-input').fill('quorum')
  await page.locator('.VPLocalSearchBox .result').first().waitFor()
  expect([elsewhere, errors]).toEqual([[], []])
})
