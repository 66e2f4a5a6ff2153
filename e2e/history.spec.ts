import { readFile } from 'node:fs/promises'
import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { openAll } from '../apps/web/src/testing/scan.ts'
import type { Action } from '../packages/core/src/index.ts'
import { untilSettled } from './busy.ts'
import { type Demo, expect, expectNoSideScroll, test } from './demo.ts'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

async function expectNoViolations(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).withTags(WCAG).analyze()
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)).toEqual([])
}

/** Proposes a change of an order and decides it; resolves when it is settled. */
async function decided(demo: Demo, orderId: string, verdict: 'approve' | 'decline', reason?: string): Promise<Action> {
  const body = { tool: 'updateOrderStatus', arguments: { orderId, newStatus: 'processing' } }
  const { id } = await (await demo.call('POST', '/api/actions', body)).json()
  await demo.call('POST', `/api/actions/${id}/decision`, { verdict, ...(reason && { reason }) })
  return untilSettled(demo, id)
}

/** The file that a button saves, as text. */
async function saved(page: Page, name: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()])
  return readFile(await file.path(), 'utf8')
}

/** Every cell is quoted. */
const csvRows = (text: string): number => text.split('"\r\n').filter(Boolean).length - 1
const jsonlRows = (text: string): number => text.split('\n').filter(Boolean).length

test('what was decided is in the table, its filters in the address, and both exports have as many rows', async ({ page, demo }) => {
  await decided(demo, 'ORD-001', 'approve')
  await decided(demo, 'ORD-004', 'decline', '=cmd')
  const third = await decided(demo, 'ORD-007', 'decline')
  const rows = page.getByTestId('decided-row')
  await page.goto(`${demo.url}/history`)
  await expect(rows).toHaveCount(3)
  await expect(rows.filter({ hasText: 'ORD-004' })).toContainText('Declined')
  const csv = await saved(page, 'Export CSV')
  expect([csvRows(csv), jsonlRows(await saved(page, 'Export JSONL'))]).toEqual([3, 3])
  expect(csv).toContain(`"'=cmd"`)

  await page.getByRole('searchbox', { name: 'Search', exact: true }).fill('ORD-007 older:0m')
  await expect(rows).toHaveCount(1)
  await page.getByLabel('Result').selectOption('succeeded')
  await expect(page.getByTestId('history-empty')).toBeVisible()
  await page.reload()
  await expect(page.getByTestId('history-empty')).toBeVisible()
  await page.getByLabel('Result').selectOption('declined')
  await expect(rows).toHaveCount(1)
  expect([csvRows(await saved(page, 'Export CSV')), jsonlRows(await saved(page, 'Export JSONL'))]).toEqual([1, 1])
  await rows.getByRole('link').click()
  await expect(page).toHaveURL(`${demo.url}/actions/${third.id}`)
})

test('what was decided last is first, also today, and the address that people type leads there', async ({ page, demo }) => {
  const body = (orderId: string) => ({ tool: 'updateOrderStatus', arguments: { orderId, newStatus: 'processing' } })
  const asked: string[] = []
  for (const orderId of ['ORD-001', 'ORD-004', 'ORD-007'])
    asked.push((await (await demo.call('POST', '/api/actions', body(orderId))).json()).id)
  const [one, two, three] = asked
  for (const id of [three, one, two]) await demo.call('POST', `/api/actions/${id}/decision`, { verdict: 'decline' })
  // Today is the day of these decisions, also around midnight.
  await page.clock.setFixedTime((await (await demo.call('GET', `/api/actions/${two}`)).json()).settledAt)
  await page.goto(`${demo.url}/decided?q=order`)
  await expect(page).toHaveURL(`${demo.url}/history?q=order`)
  const rows = page.getByTestId('decided-row')
  await expect(rows).toContainText(['ORD-004', 'ORD-001', 'ORD-007'])
  await page.getByRole('button', { name: 'Today' }).click()
  await expect(page).toHaveURL(/since=/)
  await expect(rows).toContainText(['ORD-004', 'ORD-001', 'ORD-007'])
})

test('the story of an action shows the wait of people as long as it was, and the steps with names; the browser verifies the record', async ({
  page,
  demo,
}) => {
  const action = await decided(demo, 'ORD-001', 'approve')
  await page.goto(`${demo.url}/actions/${action.id}`)
  const wait = page.getByTestId('story-bar').locator('[data-span=waiting]')
  await expect(wait).toHaveCount(1)
  const shownMs = Number(await wait.getAttribute('data-ms'))
  expect(Math.abs(shownMs - (Date.parse(action.decidedAt ?? '') - Date.parse(action.createdAt)))).toBeLessThanOrEqual(1_000)
  await expect(page.getByTestId('story-step')).toHaveCount(4)
  await expect(page.getByTestId('story-step').nth(0)).toContainText('current values read')
  await expect(page.getByTestId('story-step').nth(1)).toContainText('approved it')
  await expect(page.getByTestId('story-step').nth(2)).toContainText(new RegExp(`sent to ${demo.shopUrl} · attempt 1 · key ${action.id}`))
  await page.goto(`${demo.url}/record`)
  await expect(page.getByTestId('record-sentence').filter({ hasText: /approved “Set order ORD-001 to processing”/ })).toHaveCount(1)
  // By name, and the address keeps it.
  const by = page.getByLabel('By', { exact: true })
  await by.fill('The server')
  await by.press('Enter')
  await expect(page).toHaveURL(/actor=system/)
  await expect(page.getByTestId('record-sentence').filter({ hasText: /approved/ })).toHaveCount(0)
  await page.reload()
  await expect(by).toHaveValue('The server')
  await by.fill('')
  await by.press('Enter')
  await page.getByRole('button', { name: 'Verify in this browser' }).click()
  await expect(page.getByTestId('verify-passed')).toContainText('are as they were signed')
})

test('what was declined without a reason shows none: why policy asked is not why a person declined', async ({ page, demo }) => {
  await decided(demo, 'ORD-001', 'decline')
  await page.goto(`${demo.url}/history`)
  const result = page.getByTestId('decided-row').getByRole('cell').last()
  await expect(result).toHaveText(/^\S+ Declined$/)
})

test('the story says what was edited, from which value to which, and by whom', async ({ page, demo }) => {
  const asked = { tool: 'updateOrderStatus', arguments: { orderId: 'ORD-001', newStatus: 'processing' } }
  const { id, revision, digest } = await (await demo.call('POST', '/api/actions', asked)).json()
  const edited = { verdict: 'approve', arguments: { ...asked.arguments, newStatus: 'cancelled' }, revision, digest }
  expect((await demo.call('POST', `/api/actions/${id}/decision`, edited)).status).toBe(200)
  await page.goto(`${demo.url}/actions/${id}`)
  const step = page.getByTestId('story-step').filter({ hasText: 'edited it' })
  await expect(step).toContainText('newStatus "processing" → "cancelled"')
  await expect(page.getByTestId('revision')).toContainText('newStatus: "processing" → "cancelled"')
})

test('range and filters of the dashboard are in the address, and every chart has a table and is saved as CSV and as PNG', async ({
  page,
  demo,
}) => {
  for (const orderId of ['ORD-001', 'ORD-004']) await decided(demo, orderId, 'decline', 'Not now')
  await page.goto(`${demo.url}/dashboard`)
  await page.getByRole('combobox', { name: 'Time' }).selectOption({ label: 'Last 24 hours' })
  await page.getByRole('combobox', { name: 'Tool' }).fill('updateOrderStatus')
  await expect(page).toHaveURL(/range=.*tool=updateOrderStatus|tool=updateOrderStatus.*range=/)
  await page.reload()
  await expect(page.getByRole('combobox', { name: 'Tool' })).toHaveValue('updateOrderStatus')
  await expect(page.getByTestId('tile-proposed').locator('dd')).toHaveText('2')
  const figures = page.locator('.figure').filter({ has: page.getByRole('button', { name: /as CSV$/ }) })
  await expect(figures.first()).toBeVisible()
  const { length } = await figures.all()
  for (let at = 0; at < length; at++) {
    // Chromium drops, without a word, what a page downloads beyond ten files in a second: each chart has a page of its own.
    const own = await page.context().newPage()
    await own.goto(page.url())
    const figure = own
      .locator('.figure')
      .filter({ has: own.getByRole('button', { name: /as CSV$/ }) })
      .nth(at)
    await expect(figure.getByTestId('figure-table')).toHaveCount(1)
    for (const [kind, start] of [
      ['CSV', /^[^,]+,/],
      ['PNG', /^.PNG/],
    ] as const) {
      const saving = own.waitForEvent('download')
      await figure.getByRole('button', { name: new RegExp(`as ${kind}$`) }).click()
      expect((await readFile(await (await saving).path())).toString('latin1')).toMatch(start)
    }
    await own.close()
  }
})

test('what is always approved leads with one click to a rule to review, and nothing holds before it is saved', async ({ page, demo }) => {
  const stats = await (await demo.call('GET', '/api/stats')).json()
  stats.actions.alwaysApproved = [{ tool: 'updateOrderStatus', approved: 14 }]
  await page.route('**/api/stats*', (route) => route.fulfill({ json: stats }))
  await page.goto(`${demo.url}/dashboard`)
  await page.getByRole('link', { name: 'Review a rule for updateOrderStatus' }).click()
  await expect(page.getByTestId('policy-editor').locator('.diff ins').first()).toContainText('updateOrderStatus')
  await expect(page.getByRole('button', { name: 'Save and activate' })).toBeDisabled()
  const body = { tool: 'updateOrderStatus', arguments: { orderId: 'ORD-001', newStatus: 'processing' } }
  expect((await (await demo.call('POST', '/api/actions', body)).json()).state).toBe('proposed')
})

test('the bins of the histogram add up to the table, and to the decisions of people', async ({ page, demo }) => {
  for (const orderId of ['ORD-001', 'ORD-004', 'ORD-007']) await decided(demo, orderId, 'decline', 'Not now')
  await page.goto(`${demo.url}/dashboard`)
  const figure = page.getByTestId('figure-time-to-decide')
  await figure.getByText('Table').click()
  const numbers = (await figure.locator('tbody td').allTextContents()).map(Number)
  expect(numbers.reduce((sum, each) => sum + each, 0)).toBe(3)
  await expect(page.getByTestId('tile-decisions').locator('dd')).toHaveText('3')
  expect(csvRows(await saved(page, 'Save Time to decide as CSV'))).toBe(numbers.length)
  const [picture] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save Reasons for declining as PNG' }).click(),
  ])
  expect((await readFile(await picture.path())).subarray(1, 4).toString()).toBe('PNG')
  await page.getByTestId('figure-rules').getByRole('link').first().click()
  await expect(page.getByTestId('decided-row')).toHaveCount(3)
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing on decided, sessions, dashboard, record and story, and 320 px is enough, ${colorScheme}`, async ({
    page,
    demo,
  }) => {
    await page.emulateMedia({ colorScheme })
    const { id } = await decided(demo, 'ORD-001', 'approve')
    await page.setViewportSize({ width: colorScheme === 'light' ? 320 : 1_280, height: 800 })
    for (const path of [
      '/history',
      '/history?group=decider&order=risk',
      '/sessions',
      '/history?q=sate:x',
      '/dashboard',
      '/record',
      '/consoles',
      `/actions/${id}`,
    ]) {
      await page.goto(demo.url + path)
      const title = page.locator('h1')
      await title.waitFor()
      // A title is never cut: on a narrow screen it takes a second line.
      const isWhole = () => title.evaluate((h1) => h1.scrollWidth <= h1.clientWidth && h1.scrollHeight <= h1.clientHeight)
      await expect.poll(isWhole).toBe(true)
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
      await page.evaluate(openAll)
      await expectNoViolations(page)
      await expectNoSideScroll(page)
    }
  })
}

test('on a phone what was decided has the whole width of its row', async ({ page, demo }) => {
  await decided(demo, 'ORD-001', 'approve')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${demo.url}/history`)
  const row = page.getByTestId('decided-row')
  await expect.poll(() => row.evaluate((one) => one.clientWidth - (one.querySelector('th')?.clientWidth ?? 0))).toBe(0)
})

test('the order and the groups of what was decided are in the address, hold after a reload, on the next page and in the export', async ({
  page,
  demo,
}) => {
  // Asked one after the other and decided the other way round: the one that was asked first waited longest.
  const propose = async (orderId: string): Promise<string> =>
    (await (await demo.call('POST', '/api/actions', { tool: 'updateOrderStatus', arguments: { orderId, newStatus: 'processing' } })).json())
      .id
  const orders = ['ORD-001', 'ORD-004', 'ORD-007']
  const ids: string[] = []
  for (const orderId of orders) ids.push(await propose(orderId))
  for (const id of ids.toReversed()) await demo.call('POST', `/api/actions/${id}/decision`, { verdict: 'decline' })
  const { id: look } = await (await demo.call('POST', '/api/actions', { tool: 'getOrder', arguments: { orderId: 'ORD-001' } })).json()
  await untilSettled(demo, look)
  const rows = page.getByTestId('decided-row')
  const groups = page.getByTestId('decided-group')
  await page.goto(`${demo.url}/history`)
  await expect(rows).toHaveCount(4)
  await page.getByRole('combobox', { name: 'Order' }).selectOption('Longest wait')
  await expect(page).toHaveURL(/order=waited/)
  await expect(rows).toContainText([...orders, 'ORD-001'])
  await page.getByRole('combobox', { name: 'Order' }).selectOption('Oldest')
  await expect(rows).toContainText([...orders.toReversed(), 'ORD-001'])
  await page.getByRole('combobox', { name: 'Group' }).selectOption('Tool')
  await expect(groups).toHaveText([/updateOrderStatus\s*3/, /getOrder\s*1/])
  await page.reload()
  await expect(groups).toHaveText([/updateOrderStatus\s*3/, /getOrder\s*1/])
  await expect(page.getByRole('table', { name: 'Settled actions, oldest first' })).toBeVisible()
  const lines = (await saved(page, 'Export JSONL')).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).id)).toEqual([...ids.toReversed(), look])
  // While only a part of it is read, a group leads to all of its kind.
  await page.route('**/api/actions?*', (route) => {
    const url = new URL(route.request().url())
    url.searchParams.set('limit', '2')
    return route.continue({ url: url.href })
  })
  await page.reload()
  await expect(groups).toHaveText([/updateOrderStatus\s*2\+/])
  await page.getByRole('button', { name: /more/i }).click()
  await expect(groups).toHaveText([/updateOrderStatus\s*3/, /getOrder\s*1/])
  await page.reload()
  await groups.getByRole('link', { name: 'Find all: updateOrderStatus' }).click()
  await expect(page).toHaveURL(/q=tool/)
  await expect(groups).toHaveCount(0)
  await expect(page.getByRole('searchbox', { name: 'Search', exact: true })).toHaveValue('tool:"updateOrderStatus"')
})
