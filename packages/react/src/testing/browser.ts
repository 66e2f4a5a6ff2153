import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { isPlain } from '@countersign/core/text'
import { type Browser, type BrowserContextOptions, chromium, type Page } from '@playwright/test'
import { build, defaultClientConditions } from 'vite'
import { ADA, NOW_MS } from './actions.ts'
import type { Shown } from './page.tsx'

const ARGS =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

/** The driver's own limit is 30 s: too short for a busy machine. */
const LIMIT_MS = 280_000

export type CardBrowser = {
  browser: Browser
  /** A fresh page with no card on it yet. */
  open: (options?: BrowserContextOptions) => Promise<Page>
  [Symbol.asyncDispose]: () => Promise<void>
}

/** Once for all files that a worker tests. */
let built: ReturnType<typeof buildPage> | undefined

/** A real Chromium and a page of real cards, built as an embedder would build it and served over loopback with a strict CSP. */
export async function startCardBrowser(): Promise<CardBrowser> {
  built ??= buildPage()
  const files = await built
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? '/')
    if (file === undefined) return response.writeHead(404).end()
    response.setHeader(
      'content-security-policy',
      "default-src 'self'; img-src 'self' data:; style-src 'self'; style-src-attr 'unsafe-inline'",
    )
    response.setHeader('content-type', file.type)
    return response.end(file.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const browser = await chromium.launch({
    executablePath: process.env.COUNTERSIGN_CHROMIUM ?? '/usr/bin/chromium',
    args: ARGS.split(' '),
    timeout: LIMIT_MS,
  })
  return {
    browser,
    open: async (options = {}) => {
      const context = await browser.newContext({ viewport: { width: 900, height: 1000 }, timezoneId: 'UTC', locale: 'en-GB', ...options })
      context.setDefaultTimeout(LIMIT_MS)
      const page = await context.newPage()
      const broken = new Promise<never>((_, reject) => page.once('pageerror', reject))
      // A page that broke later fails its own test; what must not happen is a long wait for a page that never came.
      broken.catch(() => {})
      await page.goto(origin)
      await Promise.race([broken, page.locator('h1').waitFor()])
      return page
    },
    [Symbol.asyncDispose]: async () => {
      await browser.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * Shows these cards, to Ada unless said otherwise, and waits until every part of them has been loaded and is {@link settled}. A part that came later
 * would move the buttons, and begin anew what has to be seen first.
 */
export async function show(page: Page, ...cards: Partial<Shown>[]): Promise<void> {
  await showAtOnce(page, ...cards)
  if (!isPlain(JSON.stringify(cards))) await page.evaluate(() => window.cardPage.loadMarks())
  await page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const isLoading = () =>
          document.querySelector('.cs-card:not(:has(.cs-raw))') !== null ||
          [...document.querySelectorAll('.cs-card :is(.cs-note, [id$="-why"])')].some(({ textContent }) =>
            /Loading.*…$|still loading\.$/.test(textContent ?? ''),
          )
        const look = () => {
          if (isLoading()) return
          observer.disconnect()
          resolve()
        }
        const observer = new MutationObserver(look)
        observer.observe(document.body, { subtree: true, childList: true, characterData: true })
        look()
      }),
  )
  await settled(page)
}

/** As {@link show}, and waits for nothing. */
export const showAtOnce = (page: Page, ...cards: Partial<Shown>[]): Promise<void> =>
  // As text: the type of a JSON value, recursive as it is, is too deep for the browser driver's own types.
  page.evaluate((list) => window.cardPage.show(JSON.parse(list)), JSON.stringify(cards.map((card) => ({ me: ADA, ...card }))))

/** What tests read of the first card on a page. @param page Called at each use: every test has a page of its own. */
export const cardParts = (page: () => Page) => {
  const card = () => page().getByTestId('approval-card')
  const approve = () => card().getByRole('button', { name: /^Approve: / })
  return {
    card,
    /** The decisions that were sent. */
    calls: () => page().evaluate(() => window.cardPage.calls),
    approve,
    /** Approves in every way that a person can. */
    async tryToApprove() {
      await approve().dispatchEvent('click')
      await card().focus()
      for (const key of ['a', 'Enter', 'Control+Enter']) await page().keyboard.press(key)
    },
    decline: () => card().getByRole('button', { name: 'Decline', exact: true }),
    status: () => card().locator('.cs-status').textContent(),
    /** True when the focused element matches the selector. */
    activeIs: (selector: string) => page().evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector),
  }
}

/** Stops the page's clock: from here on time passes only by `page.clock.runFor`. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install({ time: NOW_MS })
  // The clock runs until then, and cannot be put back: a day is more than any machine stands still.
  await page.clock.pauseAt(NOW_MS + 86_400_000)
}

/**
 * Waits until the browser has told the page of everything that moved or came onto the screen, and the page has drawn what follows from that. Works on a
 * stopped clock as well.
 */
export const settled = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    // The second frame tells of what the first one moved.
    for (let frame = 0; frame < 2; frame++) {
      // A new observer is told in the next frame, together with those of the cards.
      await new Promise<void>((resolve) => {
        const observer = new IntersectionObserver(() => {
          observer.disconnect()
          resolve()
        })
        observer.observe(document.documentElement)
      })
      // Runs once nothing else is waiting to run, drawing among it.
      await scheduler.postTask(() => {}, { priority: 'background' })
    }
  })

/** Waits until the buttons of the first card have stopped resting, also for a move that the browser has not told of yet. */
export async function untilReady(page: Page): Promise<void> {
  await settled(page)
  await page.locator('.cs-refuse[aria-disabled=false]').first().waitFor()
}

/** Gives the page another size, and waits until it is laid out for that: the browser answers earlier. */
export async function resize(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.waitForFunction((wanted) => innerWidth === wanted, width)
  await settled(page)
}

/** Scrolls through the whole page, as a person does: on a narrow screen, buttons come once what they decide about has been seen. */
export const seeAll = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 2) {
      scrollTo(0, y)
      await drawn()
    }
    scrollTo(0, 0)
  })

/**
 * Scrolls the box that has the focus to its end, by its key. On a busy machine, Chromium loses the key for a box that it has not drawn yet:
 * then it is pressed again, as a person does who sees that nothing moved.
 */
export async function scrollToEnd(page: Page): Promise<void> {
  const rests = () =>
    page.evaluate(async () => {
      const box = document.activeElement?.closest('.cs-read, pre')
      if (!box) throw new Error(`no box has the focus, but ${document.activeElement?.outerHTML.slice(0, 200)}`)
      const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      for (let before = -1; before !== box.scrollTop; ) {
        before = box.scrollTop
        await drawn()
        await drawn()
      }
      return box.scrollTop + box.clientHeight >= box.scrollHeight - 1
    })
  await rests()
  do await page.keyboard.press('End')
  while (!(await rests()))
}

/** Opens what the first card keeps behind *Details*. */
export const openDetails = (page: Page): Promise<void> => page.locator('.cs-more:not([open]) > summary').first().click()

async function buildPage(): Promise<Map<string, { type: string; body: string }>> {
  const built = await build({
    root: fileURLToPath(new URL('.', import.meta.url)),
    configFile: false,
    logLevel: 'error',
    // The test runner sets NODE_ENV=test, which would compile JSX for React's development build.
    oxc: { jsx: { runtime: 'automatic', development: false } },
    define: { 'process.env.NODE_ENV': '"production"' },
    resolve: { conditions: ['countersign-source', ...defaultClientConditions] },
    build: { write: false, minify: false, rolldownOptions: { input: fileURLToPath(new URL('./page.tsx', import.meta.url)) } },
  })
  const [output] = Array.isArray(built) ? built : [built]
  if (output === undefined || !('output' in output)) throw new Error('the page was not built')
  const files = new Map<string, { type: string; body: string }>()
  let entry = ''
  for (const file of output.output) {
    if (file.type === 'chunk') files.set(`/${file.fileName}`, { type: 'text/javascript', body: file.code })
    if (file.type === 'chunk' && file.isEntry) entry = file.fileName
    if (file.type === 'asset' && file.fileName.endsWith('.css')) {
      // The page names the one; a part of the card that loads another part asks for the other.
      for (const path of ['card.css', file.fileName]) files.set(`/${path}`, { type: 'text/css', body: String(file.source) })
    }
  }
  const head =
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Cards</title><link rel="stylesheet" href="/card.css">'
  const body = `<div id="root" data-now="${NOW_MS}"></div><script type="module" src="/${entry}"></script>`
  files.set('/', { type: 'text/html', body: `<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>` })
  return files
}
