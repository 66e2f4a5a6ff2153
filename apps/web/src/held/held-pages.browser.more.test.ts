import * as wire from '@countersign/core'
import type { Browser, Page } from '@playwright/test'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

const HELD = 500
/** As many as the server sends at a time. */
const PAGE = 50
/** Elements of the page, with one page of actions on it. */
const MOST_ELEMENTS = 2_000
const answers = hostileAnswers(plant(), wire)
const idOf = (nth: number) => `act_held${String(nth).padStart(3, '0')}`
const everything = Array.from({ length: HELD }, (_, nth) => ({
  ...answers.newAction,
  id: idOf(nth),
  state: 'approved',
  description: `Send ${nth}`,
}))
let open = [...everything]
/** The cursors of the lists that were read. */
const read: (string | null)[] = []
let accepted = 0
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({
    answer(method, path, query) {
      if (path === '/api/hold') {
        const counts = { approved: open.length - 5, executing: 2, waiting: 3, outcomeUnknown: 0 }
        return { body: { held: true, why: 'A copy.', since: '2026-11-22T10:00:00.000Z', epoch: 1, open: counts } }
      }
      if (path === '/api/hold/accept') accepted++
      const voided = method === 'POST' ? /^\/api\/actions\/(\w+)\/void$/.exec(path)?.[1] : undefined
      if (voided) {
        const found = open.find(({ id }) => id === voided)
        open = open.filter(({ id }) => id !== voided)
        return { body: { ...found, state: 'cancelled' } }
      }
      if (path === '/api/actions' && query.get('state')?.includes('executing')) {
        const after = query.get('cursor')
        read.push(after)
        // As the server does: the cursor names the last one that was sent.
        const items = open.filter(({ id }) => after === null || id > after).slice(0, PAGE)
        const last = items.at(-1)?.id
        return { body: { items, nextCursor: last !== undefined && open.some(({ id }) => id > last) ? last : null } }
      }
      return answers.answer(method, path, query)
    },
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})
// A page that stays open goes on reading while the next test counts what is read.
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
})

async function openHeld(): Promise<Page> {
  open = [...everything]
  const page = await browser.newPage({ viewport: { width: 1100, height: 640 }, locale: 'en-GB' })
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  await page.goto(`${server.url}/held`)
  await page.getByRole('link', { name: 'Send 0', exact: true }).waitFor()
  return page
}

const shown = (page: Page) =>
  page.getByTestId('held-action').evaluateAll((rows) => rows.map((row) => row.querySelector('a')?.getAttribute('href')))
const elements = (page: Page) => page.evaluate(() => document.querySelectorAll('*').length)
const hrefsFrom = (first: number, count = PAGE) => Array.from({ length: count }, (_, i) => `/actions/${idOf(first + i)}`)

test('all of 500 held actions can be reached, and the page never holds more than one page of them', async () => {
  const page = await openHeld()
  await page.getByText('500 actions are open').waitFor()
  for (let first = 0; first < HELD; first += PAGE) {
    await page.getByRole('link', { name: `Send ${first}`, exact: true }).waitFor()
    expect(await shown(page)).toEqual(hrefsFrom(first))
    expect(await elements(page)).toBeLessThan(MOST_ELEMENTS)
    // By keyboard: the button keeps the focus from page to page.
    if (first === 0) await page.getByRole('button', { name: 'Next page' }).focus()
    if (first + PAGE < HELD) await page.keyboard.press('Enter')
  }
  expect(await page.getByRole('button', { name: 'Next page' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Previous page' }).click()
  await page.getByRole('link', { name: `Send ${HELD - 2 * PAGE}`, exact: true }).waitFor()
  expect(await shown(page)).toEqual(hrefsFrom(HELD - 2 * PAGE))
})

test('before a copy is accepted, the page says how many actions start, were under way and wait', async () => {
  const page = await openHeld()
  await page.getByText('500 actions are open: 495 approved, 3 waiting, 2 under way').waitFor()
  await page.getByRole('button', { name: 'Accept this copy' }).click()
  await page
    .getByRole('alertdialog')
    .getByText('495 approved actions may start. The outcome of 2 that were under way becomes unknown. 3 wait for a decision.')
    .waitFor()
  expect(accepted).toBe(0)
})

test('before anything is released, the page says under which policy, and that roles may be older, too', async () => {
  const page = await openHeld()
  await page.getByText(/follows the policy \(version \d+\) and the roles of this copy, which may be older/).waitFor()
})

test('after one of 500 is voided, only the page in sight is read again, and the list stays where it is', async () => {
  const page = await openHeld()
  for (const first of [PAGE, 2 * PAGE]) {
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByRole('link', { name: `Send ${first}`, exact: true }).waitFor()
  }
  read.length = 0
  await page.getByLabel('Note: Send 103', { exact: true }).fill('The original did it.')
  await page.getByRole('button', { name: 'Void: Send 103', exact: true }).click()
  await page.getByRole('link', { name: 'Send 103', exact: true }).waitFor({ state: 'detached' })
  await page.getByText('499 actions are open').waitFor()
  expect(await shown(page)).toEqual([...hrefsFrom(100, 3), ...hrefsFrom(104, 47)])
  expect(read).toEqual([idOf(99)])
})

test('when everything on the last page was settled, the page says so, and the page before can be reached', async () => {
  const page = await openHeld()
  open = open.slice(0, PAGE + 1)
  await page.reload()
  await page.getByRole('button', { name: 'Next page' }).click()
  await page.getByLabel('Note: Send 50', { exact: true }).fill('The original did it.')
  await page.getByRole('button', { name: 'Void: Send 50', exact: true }).click()
  await page.getByText('Nothing on this page is open any more').waitFor()
  await page.getByRole('button', { name: 'Previous page' }).click()
  await page.getByRole('link', { name: 'Send 0', exact: true }).waitFor()
  expect(await shown(page)).toEqual(hrefsFrom(0))
})
