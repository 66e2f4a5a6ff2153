import { AxeBuilder } from '@axe-core/playwright'
import * as wire from '@countersign/core'
import type { Browser } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'
import { pressUntil } from '../testing/press-until.ts'
import { withoutTimers } from '../testing/timers.ts'

const SESSIONS = 1_000
/** How often the newest sessions are read again. */
const EVERY_MS = 30_000
/** As many elements as a page may have. */
const MOST_ELEMENTS = 2_000
const answers = hostileAnswers(plant(), wire)
const AT = '2026-11-24T10:00:00.000Z'
const all = Array.from({ length: SESSIONS }, (_, nth) => ({
  ...{ id: `ses_${String(SESSIONS - nth).padStart(6, '0')}`, agent: 'desk', title: `Order ${SESSIONS - nth}`, lastSeq: 1 },
  ...{ status: nth % 2 === 0 ? 'active' : 'completed', owner: { id: 'prn_bo', name: 'Bo' }, participants: [], pendingApprovals: [] },
  ...{ unknownOutcomes: 0, tokens: { input: 1_200, output: 34 }, createdAt: AT, updatedAt: AT },
}))
/** The queries of the page's lists. */
const asked: string[] = []
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({
    answer(method, path, query) {
      if (path === '/api/hold') return { body: { held: false, why: null, since: null, epoch: 1, open: null } }
      if (path === '/api/audit/seal')
        return { body: { head: null, problem: null, memory: { place: 'file', since: null, from: null }, anchor: null } }
      // An approval that arrives has the sessions read again.
      if (path === '/api/actions') return { body: { items: [], nextCursor: null } }
      if (path !== '/api/sessions') return answers.answer(method, path, query)
      const [limit, before, q, status] = ['limit', 'cursor', 'q', 'status'].map((name) => query.get(name) ?? '')
      if (limit === '100') asked.push(`${q} ${status} ${before}`.trim())
      const found = all.filter(
        (each) => each.title.includes(q ?? '') && (!status || each.status === status) && (!before || each.id < before),
      )
      const items = found.slice(0, Number(limit))
      return { body: { items, nextCursor: found.length > items.length ? (items.at(-1)?.id ?? null) : null } }
    },
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

test('a thousand sessions stand in a list of which only those in sight are drawn; search and status are in the address', async () => {
  const context = await browser.newContext({ viewport: { width: 1_200, height: 700 }, locale: 'en-GB' })
  const page = await context.newPage()
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  await withoutTimers(page, EVERY_MS)
  await page.goto(`${server.url}/`)
  await page.getByRole('link', { name: 'Sessions', exact: true }).click()
  const rows = page.getByTestId('sessions-row')
  const count = page.getByTestId('sessions-count')
  await count.getByText('100+ sessions').waitFor()
  expect(await rows.first().textContent()).toMatch(/^Order 1000desk for BoWorking.*1,234 tokens$/)
  expect(asked).toEqual([''])

  const box = page.locator('.sessions-box')
  await box.focus()
  const loaded = async () => Number.parseInt((await count.textContent()) ?? '', 10)
  for (const wanted of [200, 300]) await pressUntil(page, 'End', async () => (await loaded()) >= wanted)
  expect(await page.locator('*').count()).toBeLessThan(MOST_ELEMENTS)
  expect(await rows.count()).toBeLessThan(60)

  await page.getByRole('searchbox', { name: 'Search', exact: true }).fill('Order 99')
  // The search enters the address once nobody types any more: picked before that, the status would come first.
  await page.waitForURL(/\?q=Order\+99$/)
  await page.getByRole('combobox', { name: 'Status', exact: true }).selectOption('Done')
  await count.getByText(/^6 sessions$/).waitFor()
  await page.waitForURL(/\?q=Order\+99&status=completed$/)
  await page.reload()
  await count.getByText(/^6 sessions$/).waitFor()
  expect(await page.getByRole('searchbox', { name: 'Search', exact: true }).inputValue()).toBe('Order 99')
  await expect
    .poll(() => rows.getByRole('link').allTextContents())
    .toEqual(['Order 999', 'Order 997', 'Order 995', 'Order 993', 'Order 991', 'Order 99'])

  await page.setViewportSize({ width: 320, height: 640 })
  // The page is laid out after the call has answered.
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    // The page changes its colours after the call has answered.
    await page.locator(`[data-theme=${colorScheme}]`).waitFor({ state: 'attached' })
    const { violations } = await new AxeBuilder({ page }).analyze()
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
    await page.screenshot({ path: `test-results/sessions-${colorScheme}.png` })
  }
  await page.setViewportSize({ width: 1_200, height: 700 })
  await page.goto(`${server.url}/sessions`)
  await rows.first().waitFor()
  await page.screenshot({ path: 'test-results/sessions.png' })
  await rows.first().getByRole('link').click()
  await page.waitForURL(/\/sessions\/ses_001000$/)
  await context.close()
})
