import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, type BrowserContext, test as base, expect, type Locator, type Page } from '@playwright/test'
import { press, untilReady } from '../apps/web/src/testing/press.ts'
import { COMPILE_CACHE } from '../verification/testing/compile-cache.ts'
import { freePort } from '../verification/testing/free-port.ts'
import { signInWithKey, signInWithLink } from '../verification/testing/sign-in.ts'
import { type Call, callWith, ONCE } from './call.ts'

const START = fileURLToPath(new URL('../packages/server/bundle/start.js', import.meta.url))
const KEY = 'e2e-bootstrap-key-0123456789'

interface Order {
  id: string
  status: string
}

/** The demo as `npm start` runs it, in a process of its own on its own data. */
export interface Demo {
  url: string
  shopUrl: string
  /** kill -9, and start again on the same data and ports. */
  crashAndRestart(): Promise<void>
  kill(): Promise<void>
  start(): Promise<void>
  /** A call with the bootstrap key, past the browser. */
  call: Call
  /** A key for a person, accepted on the data as who runs the server does. */
  makeKey(name: string, roles: string[]): Promise<{ key: string; principal: { id: string } }>
  order(id: string): Promise<Order>
  /** Changes an order past Countersign. */
  changeOrder(id: string, status: string): Promise<Response>
  /** How often the shop really changed this order. */
  effects(orderId: string): Promise<number>
}

/** Returns the storage of a browser that is signed in at `url`. @param proof The answer to the sign-in. */
const signedIn = (url: string, proof: { 'countersign-console': string }) => ({
  cookies: [],
  origins: [{ origin: url, localStorage: [{ name: 'countersign.console', value: proof['countersign-console'] }] }],
})

/** Signs a browser in with the link of the person who started the server; the page of links itself is tested in local-sign-in.spec.ts. */
export async function signInBrowser(context: BrowserContext, link: string): Promise<void> {
  await context.setStorageState(signedIn(new URL(link).origin, await signInWithLink(link)))
}

/** A browser in which somebody signed in with a key. */
export async function browserOf(browser: Browser, url: string, key: string): Promise<BrowserContext> {
  return browser.newContext({ storageState: signedIn(url, await signInWithKey(url, key)) })
}

async function startDemo(dataDir: string, ports: readonly number[]): Promise<{ child: ChildProcess; link: string }> {
  const [port, shopPort, brainPort] = ports
  const flags = ['--port', port, '--shop-port', shopPort, '--brain-port', brainPort, '--data', dataDir, '--no-open'].map(String)
  const child = spawn(process.execPath, ['--conditions=countersign-source', START, 'demo', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...COMPILE_CACHE, PATH: process.env.PATH, COUNTERSIGN_BOOTSTRAP_KEY: KEY },
  })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk
      if (output.includes('Try:')) resolve()
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('exit', (code) => reject(new Error(`the demo ended with ${code}:\n${output}`)))
  })
  return { child, link: /http:\S+#sign-in=\S+/.exec(output)?.[0] ?? '' }
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

export const test = base.extend<{ demo: Demo }>({
  // The browser of the test is signed in with the link that the demo prints.
  demo: async ({ context }, use) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'countersign-e2e-'))
    const ports = [await freePort(), await freePort(), await freePort()]
    const url = `http://localhost:${ports[0]}`
    const shopUrl = `http://127.0.0.1:${ports[1]}`
    const started = await startDemo(dataDir, ports)
    let { child } = started
    const demo: Demo = {
      url,
      shopUrl,
      kill: () => endProcess(child, 'SIGKILL'),
      async start() {
        child = (await startDemo(dataDir, ports)).child
      },
      async crashAndRestart() {
        await demo.kill()
        await demo.start()
      },
      call: callWith(KEY, () => url),
      async makeKey(name, roles) {
        const made = await (await demo.call('POST', '/api/keys', { name, kind: 'person', roles })).json()
        const flags = ['--conditions=countersign-source', START, 'key', 'accept', made.id, '--data', dataDir]
        await promisify(execFile)(process.execPath, flags, { env: { ...COMPILE_CACHE, PATH: process.env.PATH } })
        return made
      },
      order: async (id) => (await fetch(`${shopUrl}/api/orders/${id}`, { headers: ONCE })).json(),
      changeOrder: (id, status) =>
        fetch(`${shopUrl}/api/orders/${id}/status`, {
          method: 'PATCH',
          headers: { ...ONCE, 'content-type': 'application/json' },
          body: JSON.stringify({ status }),
        }),
      effects: async (orderId) => (await (await fetch(`${shopUrl}/api/effects?orderId=${orderId}`, { headers: ONCE })).json()).total,
    }
    await signInBrowser(context, started.link)
    await use(demo)
    await endProcess(child, 'SIGTERM')
    await rm(dataDir, { recursive: true })
  },
})

export { expect, press }

/** Opens a fresh chat and asks; resolves when the message is sent, and its session is on the page: the address changes before that. */
export async function ask(page: Page, demo: Demo, text: string, agent?: string): Promise<void> {
  await page.goto(demo.url)
  const message = page.getByRole('textbox', { name: 'Message' })
  await message.waitFor()
  if (agent !== undefined) await page.getByLabel('Agent').selectOption(agent)
  await message.fill(text)
  await message.press('Enter')
  await page.waitForURL(/\/sessions\//)
  await page.getByRole('region', { name: 'Conversation' }).waitFor()
}

/** Nothing is wider than the viewport, once the page has been laid out for it. */
export const expectNoSideScroll = (page: Page): Promise<void> =>
  expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0)

export const cards = (page: Page): Locator => page.getByTestId('approval-card')

export const approveButton = (card: Locator): Locator => card.getByRole('button', { name: /^Approve/ })

/** Resolves when the card's Approve is in view and takes clicks. */
export const ready = (card: Locator): Promise<void> => untilReady(approveButton(card))

/** Presses a button that sends a decision; resolves when the browser has sent it. */
export async function decide(button: Locator): Promise<void> {
  const sent = button.page().waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/decision'))
  await Promise.all([sent, press(button)])
}

export const approve = (card: Locator): Promise<void> => decide(approveButton(card))

/** Opens what a card keeps behind *Details*. */
export const openDetails = (card: Locator): Promise<void> => card.locator('.cs-more > summary').click()

/** Opens the form for a reason. */
export async function openDecline(card: Locator): Promise<void> {
  await press(card.getByRole('button', { name: 'Decline with reason' }))
  await card.getByRole('textbox', { name: /Reason/ }).waitFor()
}

/** Counts the browser's decisions on their way to the server. */
export function countDecisions(page: Page): { readonly count: number } {
  const seen = { count: 0 }
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/decision')) seen.count++
  })
  return seen
}

export const isDecision = (response: { url(): string; request(): { method(): string } }): boolean =>
  response.request().method() === 'POST' && response.url().endsWith('/decision')
