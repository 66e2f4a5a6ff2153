import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test as base, expect, type Locator, type Page } from '@playwright/test'
import { COMPILE_CACHE } from '../packages/server/src/testing/compile-cache.ts'

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
  call(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
  order(id: string): Promise<Order>
  /** How often the shop really changed this order. */
  effects(orderId: string): Promise<number>
}

/** A port that nobody listens at now. */
export async function freePort(): Promise<number> {
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
      call: (method, path, body, more = {}) =>
        fetch(url + path, {
          method,
          headers: { authorization: `Bearer ${KEY}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more },
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

/** Resolves when the card's Approve is in view and takes clicks. */
export async function ready(card: Locator): Promise<void> {
  await approveButton(card).scrollIntoViewIfNeeded()
  await expect(approveButton(card)).toHaveAttribute('aria-disabled', 'false')
}

/**
 * Presses a button of a card as a person does: when its cool-down is over, and once more when nothing came of it because the card moved
 * under the pointer just then (such a click counts as an accident).
 */
export async function press(button: Locator, hasWorked: () => Promise<unknown>): Promise<void> {
  await expect(async () => {
    await button.scrollIntoViewIfNeeded()
    await expect(button).toHaveAttribute('aria-disabled', 'false', { timeout: 2_000 })
    const worked = hasWorked()
    await button.click()
    await worked
  }).toPass({ timeout: 20_000 })
}

/** Presses a button that sends a decision; resolves when the browser has sent it. */
export const decide = (button: Locator): Promise<void> =>
  press(button, () =>
    button.page().waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/decision'), { timeout: 1_500 }),
  )

export const approve = (card: Locator): Promise<void> => decide(approveButton(card))

/** Opens the form for a reason. */
export async function openDecline(card: Locator): Promise<void> {
  const reason = card.getByRole('textbox', { name: /Reason/ })
  await press(card.getByRole('button', { name: 'Decline with reason' }), () => reason.waitFor({ timeout: 1_500 }))
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
