import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test as base, expect, type Locator, type Page } from '@playwright/test'

const MAIN = fileURLToPath(new URL('../packages/server/src/main.ts', import.meta.url))
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
  call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Response>
  order(id: string): Promise<Order>
  /** How often the shop really changed this order. */
  effects(orderId: string): Promise<number>
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  return address.port
}

async function startDemo(dataDir: string, ports: readonly number[]): Promise<ChildProcess> {
  const [port, shopPort, brainPort] = ports
  const flags = ['--port', port, '--shop-port', shopPort, '--brain-port', brainPort, '--data', dataDir, '--no-open'].map(String)
  const child = spawn(process.execPath, ['--conditions=countersign-source', MAIN, 'demo', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, COUNTERSIGN_BOOTSTRAP_KEY: KEY },
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
  return child
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

export const test = base.extend<{ demo: Demo }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that a fixture needs from this pattern.
  demo: async ({}, use) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'countersign-e2e-'))
    const ports = [await freePort(), await freePort(), await freePort()]
    const url = `http://127.0.0.1:${ports[0]}`
    const shopUrl = `http://127.0.0.1:${ports[1]}`
    let child = await startDemo(dataDir, ports)
    const demo: Demo = {
      url,
      shopUrl,
      kill: () => endProcess(child, 'SIGKILL'),
      async start() {
        child = await startDemo(dataDir, ports)
      },
      async crashAndRestart() {
        await demo.kill()
        await demo.start()
      },
      call: (method, path, body) =>
        fetch(url + path, {
          method,
          headers: { authorization: `Bearer ${KEY}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      order: async (id) => (await fetch(`${shopUrl}/api/orders/${id}`)).json(),
      effects: async (orderId) => (await (await fetch(`${shopUrl}/api/effects?orderId=${orderId}`)).json()).total,
    }
    await use(demo)
    await endProcess(child, 'SIGTERM')
    await rm(dataDir, { recursive: true })
  },
})

export { expect }

/** Opens a fresh chat and asks; resolves when the message is sent. */
export async function ask(page: Page, demo: Demo, text: string, agent?: string): Promise<void> {
  await page.goto(demo.url)
  const message = page.getByRole('textbox', { name: 'Message' })
  await message.waitFor()
  if (agent !== undefined) await page.getByLabel('Agent').selectOption(agent)
  await message.fill(text)
  await message.press('Enter')
  await page.waitForURL(/\/sessions\//)
}

export const cards = (page: Page): Locator => page.getByTestId('approval-card')

export const approveButton = (card: Locator): Locator => card.getByRole('button', { name: /^Approve/ })

/** Presses a button of a card when its cool-down is over: a click before that, or right after the card moved, counts as an accident. */
export async function press(button: Locator): Promise<void> {
  await button.scrollIntoViewIfNeeded()
  await expect(button).toHaveAttribute('aria-disabled', 'false')
  await button.click()
}

export const approve = (card: Locator): Promise<void> => press(approveButton(card))

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
