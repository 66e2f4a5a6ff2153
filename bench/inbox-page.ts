import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Browser, type BrowserContextOptions, chromium, type Page } from '@playwright/test'
import { signInWithKey } from '../verification/testing/sign-in.ts'
import { copyActions, openSqliteForBench } from './database.ts'
import { KEY, startServer, startTarget, writeServerConfig } from './server.ts'
import { statsOf } from './stats.ts'
import { framesOf, longTasksOf, noteFrames, type Task, tasksDuring } from './trace.ts'

const ROW = '[data-testid=waiting-row]'
const SCROLL_MS = 10_000
const ARRIVALS = 100
const ARRIVE_EVERY_MS = 100

type Server = Awaited<ReturnType<typeof startServer>>
/** @property slowdown How many times slower than the machine's the processor of the page is made. */
type Screen = { options: BrowserContextOptions; slowdown: number }

const SCREENS: Record<string, Screen> = {
  desk: { options: { viewport: { width: 1280, height: 800 } }, slowdown: 1 },
  phone: { options: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }, slowdown: 4 },
}

/**
 * Measures the inbox in Chromium while `waiting` actions wait, on a desk and with the slower processor of a phone: the time until the first row is
 * drawn; the long tasks of the page until all rows are listed, while they are scrolled through, while new ones arrive, and while both happen; the
 * frames of each; and how many elements the page has.
 */
export async function benchInboxPage(waiting: number, runs: number) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
  const database = await openSqliteForBench(folder)
  const target = await startTarget()
  const configFile = writeServerConfig(folder, target.url, { rules: [], limits: { waitingPerAgent: 2 * waiting } })
  const first = await startServer(configFile, database)
  const { id } = await first.call('/api/actions', { tool: 'act', arguments: { what: 'a thing' } })
  await first.stop()
  await copyActions(database, id, waiting - 1, {
    description: `'Do thing ' || i || ' for the customer who asked for it'`,
    arguments: `'{"what":"thing ' || i || '"}'`,
    created_at: `created_at - (${waiting} - i) * 1000`,
  })
  const server = await startServer(configFile, database)
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
  const screens: Record<string, unknown> = {}
  for (const [name, screen] of Object.entries(SCREENS)) {
    const measured: Measured[] = []
    for (let run = 0; run < runs; run++) measured.push(await measure(browser, server, screen, waiting))
    screens[name] = figuresOf(measured)
  }
  const version = browser.version()
  await browser.close()
  await server.stop()
  target.close()
  await rm(folder, { recursive: true })
  return { waiting, chromium: version, ...screens }
}

type Phase = { tasks: Task[]; frames: number[] }
type Measured = Awaited<ReturnType<typeof measure>>

/** Opens the inbox in a browser that has nothing of it yet, and does what people do. */
async function measure(browser: Browser, server: Server, { options, slowdown }: Screen, waiting: number) {
  const value = (await signInWithKey(server.url, KEY))['countersign-console']
  const localStorage = [{ name: 'countersign.console', value }]
  const context = await browser.newContext({ ...options, storageState: { cookies: [], origins: [{ origin: server.url, localStorage }] } })
  const page = await context.newPage()
  await page.addInitScript(noteFirstRow, ROW)
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown })

  const during = async (work: () => Promise<void>): Promise<Phase> => {
    let frames: number[] = []
    const tasks = await tasksDuring(browser, page, async () => {
      const end = await noteFrames(page)
      await work()
      frames = await end()
    })
    return { tasks, frames }
  }
  const opening = await tasksDuring(browser, page, async () => {
    await page.goto(`${server.url}/waiting?view=waiting`)
    await page.getByTestId('waiting-summary').getByText(`${waiting} waiting`).waitFor()
  })
  const firstRowMs = await page.evaluate(() => performance.getEntriesByName('first row')[0]?.startTime ?? Number.NaN)
  const nodes: number[] = []
  const count = async () => nodes.push(await page.evaluate(() => document.querySelectorAll('*').length))
  const scroll = async () => {
    await page.evaluate(scrollThrough, SCROLL_MS)
    await count()
    await page.evaluate(() => document.querySelector('.inbox-scroll')?.scrollTo({ top: 0 }))
  }
  await count()
  const scrolling = await during(scroll)
  const arriving = await during(() => arrive(server, page, waiting + ARRIVALS))
  await count()
  const both = await during(async () => void (await Promise.all([scroll(), arrive(server, page, waiting + 2 * ARRIVALS)])))
  await context.close()
  await declineArrived(server)
  return { firstRowMs, nodes: Math.max(...nodes), opening, scrolling, arriving, both }
}

/** In the page: marks the time at which the frame with the first row has been drawn. */
function noteFirstRow(row: string): void {
  const look = () => {
    if (!document.querySelector(row)) return void requestAnimationFrame(look)
    // The frame of this callback is drawn before the next task.
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => performance.mark('first row')
    port2.postMessage(null)
  }
  requestAnimationFrame(look)
}

/** In the page: scrolls the list from its first row to its last, a step in each frame. */
async function scrollThrough(forMs: number): Promise<void> {
  const box = document.querySelector('.inbox-scroll')
  if (!box) throw new Error('the page has no list')
  const beginMs = performance.now()
  await new Promise<void>((resolve) => {
    const step = () => {
      const share = Math.min(1, (performance.now() - beginMs) / forMs)
      box.scrollTop = share * (box.scrollHeight - box.clientHeight)
      if (share < 1) requestAnimationFrame(step)
      else resolve()
    }
    requestAnimationFrame(step)
  })
}

const ARRIVED = 'arrived meanwhile'

/** New actions arrive one after the other, until the page says that so many wait. */
async function arrive(server: Server, page: Page, expected: number): Promise<void> {
  for (let i = 0; i < ARRIVALS; i++) {
    await server.call('/api/actions', { tool: 'act', arguments: { what: ARRIVED } })
    await pause(ARRIVE_EVERY_MS)
  }
  await page.getByTestId('waiting-summary').getByText(`${expected} waiting`).waitFor()
}

/** Takes away what arrived, so that each run begins with the same rows. */
async function declineArrived(server: Server): Promise<void> {
  for (let left = 2 * ARRIVALS; left > 0; ) {
    const { items } = await server.call('/api/actions?state=proposed&limit=200')
    for (const { id, arguments: args } of items) {
      if (args.what !== ARRIVED || left === 0) continue
      await server.call(`/api/actions/${id}/decision`, { verdict: 'decline' })
      left--
    }
  }
}

/** The figures of several runs together. */
function figuresOf(runs: readonly Measured[]) {
  const phaseOf = (key: 'scrolling' | 'arriving' | 'both') => ({
    frames: framesOf(runs.flatMap((run) => run[key].frames)),
    longTasks: longTasksOf(runs.flatMap((run) => run[key].tasks)),
  })
  return {
    runs: runs.length,
    firstRowMs: statsOf(runs.map(({ firstRowMs }) => firstRowMs)),
    mostNodes: Math.max(...runs.map(({ nodes }) => nodes)),
    untilAllAreListed: { longTasks: longTasksOf(runs.flatMap(({ opening }) => opening)) },
    scrolling: phaseOf('scrolling'),
    arriving: phaseOf('arriving'),
    scrollingWhileArriving: phaseOf('both'),
  }
}
