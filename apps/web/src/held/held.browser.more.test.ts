import { fileURLToPath } from 'node:url'
import * as wire from '@countersign/core'
import type { Browser, Page } from '@playwright/test'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

const WHY = 'This database was restored from a backup: what was approved then may have been carried out since.'
const answers = hostileAnswers(plant(), wire)
const actions = ['proposed', 'approved', 'executing'].map((state) => ({
  ...answers.newAction,
  id: `act_${state}`,
  state,
  description: `Send ${state}`,
}))
const posted: string[] = []
let isHeld = true
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({
    answer(method, path, query) {
      if (method === 'POST') posted.push(path)
      if (path === '/api/hold/accept') isHeld = false
      if (path.startsWith('/api/hold')) {
        return { body: { held: isHeld, why: isHeld ? WHY : null, since: isHeld ? '2026-11-22T10:00:00.000Z' : null, epoch: 1, open: null } }
      }
      const acted = actions.find(({ id }) => path.startsWith(`/api/actions/${id}/`))
      if (acted && method === 'POST') return { body: acted }
      if (path === '/api/actions') return { body: { items: actions, nextCursor: null } }
      return answers.answer(method, path, query)
    },
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})
// A page that stays open goes on reading, and may send while the next test counts.
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
})

const folder = fileURLToPath(new URL('../../../../test-results/held/', import.meta.url))

async function openPage(options: { width: number; colorScheme?: 'light' | 'dark' }): Promise<Page> {
  const { width, colorScheme = 'light' } = options
  const page = await browser.newPage({ viewport: { width, height: 640 }, colorScheme, locale: 'en-GB' })
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  return page
}

const PAGES = [
  '/',
  '/waiting',
  '/policy',
  '/grants',
  '/record',
  '/keys',
  '/delegations',
  '/consoles',
  '/objectives',
  '/held',
  '/actions/act_000011',
]

test('while everything is held every page says that this looks like a copy, why, and where to see what is held', async () => {
  isHeld = true
  const page = await openPage({ width: 1100 })
  for (const path of PAGES) {
    await page.goto(server.url + path)
    const banner = page.getByTestId('held')
    await banner.waitFor()
    const said = await banner.textContent()
    expect([path, said]).toEqual([path, expect.stringContaining('This looks like a copy')])
    expect([path, said]).toEqual([path, expect.stringContaining(WHY)])
  }
  await page.goto(`${server.url}/keys`)
  await page.getByRole('link', { name: 'What is held' }).click()
  await page.getByRole('heading', { name: 'Held', exact: true }).waitFor()
})

for (const width of [320, 1100]) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`the page of what is held fits ${width} px, ${colorScheme}, and leaves the list in sight`, async () => {
      isHeld = true
      const page = await openPage({ width, colorScheme })
      await page.goto(`${server.url}/held`)
      await page.getByTestId('held').waitFor()
      await page.getByTestId('held-action').nth(2).waitFor()
      // The banner of the record is there too.
      await page.getByTestId('record-problem').waitFor()
      await page.screenshot({ path: `${folder}${width}-${colorScheme}.png` })
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
      const main = await page.locator('#main').boundingBox()
      const banners = await page.locator('.banners').boundingBox()
      // The one of sources that are away is empty: it announces what comes.
      const all = await page.locator('.banners > *').evaluateAll((all) => all.map(({ clientHeight }) => clientHeight))
      const heights = all.filter((height) => height > 0)
      expect(heights).toHaveLength(2)
      expect(Math.max(...heights)).toBeLessThanOrEqual(width === 320 ? 52 : 88)
      expect(main?.y).toBeGreaterThanOrEqual((banners?.y ?? 0) + (banners?.height ?? 0))
      expect(main?.height).toBeGreaterThan(300)
    })
  }
}

test('what is held is released, voided and marked from its page, and nothing but a release goes without a note', async () => {
  isHeld = true
  posted.length = 0
  const page = await openPage({ width: 1100 })
  await page.goto(`${server.url}/held`)
  await page.getByRole('button', { name: 'Release: Send approved' }).click()
  await expect.poll(() => posted).toEqual(['/api/actions/act_approved/release'])
  expect(await page.getByRole('button', { name: 'Void: Send proposed' }).isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Mark as done: Send executing' }).isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Release: Send executing' }).count()).toBe(0)
  await page.getByLabel('Note: Send proposed').fill('Nobody wants it.')
  await page.getByRole('button', { name: 'Void: Send proposed' }).click()
  // One after the other: requests that are under way together may arrive in any order.
  await expect.poll(() => posted).toHaveLength(2)
  await page.getByLabel('Note: Send executing').fill('It is there.')
  const sent = page.waitForRequest((request) => request.url().endsWith('/resolve'))
  await page.getByRole('button', { name: 'Mark as done: Send executing' }).click()
  // The list may be old: what was found about one attempt settles no later one.
  expect((await sent).postDataJSON()).toMatchObject({ outcome: 'succeeded', attempt: answers.newAction.attempt })
  await expect
    .poll(() => posted)
    .toEqual(['/api/actions/act_approved/release', '/api/actions/act_proposed/void', '/api/actions/act_executing/resolve'])
})

test('accepting asks once more, and after it no page says that anything is held', async () => {
  isHeld = true
  posted.length = 0
  const page = await openPage({ width: 1100 })
  await page.goto(`${server.url}/held`)
  await page.getByRole('button', { name: 'Accept this copy' }).click()
  expect(posted).toEqual([])
  await page.getByRole('alertdialog').getByRole('button', { name: 'Accept' }).click()
  await page.getByTestId('held').waitFor({ state: 'detached' })
  await page.getByText('Nothing is held').waitFor()
  expect(posted).toEqual(['/api/hold/accept'])
  await page.goto(`${server.url}/keys`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await page.getByTestId('held').count()).toBe(0)
})
