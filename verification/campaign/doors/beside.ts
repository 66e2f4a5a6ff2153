import type { Action } from '@countersign/core'
import { type Browser, chromium } from '@playwright/test'
import { fromAnotherPort, sendFrom, startNeighbour } from '../../testing/neighbour.ts'
import type { Ledger } from './ledger.ts'
import type { World } from './world.ts'

const ATTACKER = 'dev server on another port'

/** A Chromium in which somebody is signed in to the console, and has a page of a dev server on another port open. */
export interface Beside extends AsyncDisposable {
  /** Sends from that page all that a browser lets it. */
  attack(action: Action): Promise<void>
}

export async function openBeside(world: World, ledger: Ledger): Promise<Beside> {
  await using stack = new AsyncDisposableStack()
  const browser: Browser = await chromium.launch({
    executablePath: process.env.COUNTERSIGN_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic'],
  })
  stack.defer(() => browser.close())
  const neighbour = stack.use(await startNeighbour())
  const context = await browser.newContext()
  const console = await context.newPage()
  await console.goto(world.signInLink())
  await console.getByTestId('account').waitFor({ timeout: 120_000 })
  const secret = await console.evaluate(() => localStorage.getItem('countersign.console'))
  if (secret === null) throw new Error('the console is signed in')
  const { origin } = new URL(console.url())
  const page = await context.newPage()
  await page.goto(`http://localhost:${neighbour.port}/`)
  // The browser hides most answers from the page and from the driver, so the statuses come from its network events.
  const network = await context.newCDPSession(page)
  const sent = new Map<string, { method: string; url: string }>()
  network.on('Network.requestWillBeSent', ({ requestId, request }) => sent.set(requestId, request))
  network.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode: status }) => {
    const { method, url } = sent.get(requestId) ?? { method: 'OPTIONS', url: origin }
    const { origin: to, pathname: path } = new URL(url)
    if (to === origin) ledger.note({ attacker: ATTACKER, method, path, status })
  })
  await network.send('Network.enable')
  const owned = stack.move()
  return {
    async attack({ id }) {
      const answers = await sendFrom(page, origin, fromAnotherPort(id))
      if (answers.some((answer) => answer !== 'unreadable')) ledger.violations.push(`${ATTACKER}: reads ${answers}`)
      await page.goto(`http://${new URL(origin).hostname}:${neighbour.port}/`)
      for (const { headers, url } of neighbour.seen) {
        if (JSON.stringify([headers, url]).includes(secret) || headers.cookie !== undefined) {
          ledger.violations.push(`${ATTACKER}: was sent what the console signed in with`)
        }
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
