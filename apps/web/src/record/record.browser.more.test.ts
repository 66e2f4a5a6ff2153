import { AxeBuilder } from '@axe-core/playwright'
import * as wire from '@countersign/core'
import type { Browser, Page } from '@playwright/test'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

const WHY = 'This server signed head 9 of the record, and the database ends with head 4: newer heads were deleted.'
const SEAL = {
  head: { number: 9, hash: 'h'.repeat(43), at: '2026-11-22T10:00:00.000Z' },
  memory: { place: 'file', since: '2026-11-20T10:00:00.000Z', from: 1 },
  anchor: null,
}
const PROBLEM = {
  kind: 'behind',
  why: WHY,
  since: '2026-11-22T10:00:00.000Z',
  found: { number: 4, hash: 'f'.repeat(43) },
  remembered: { number: 9, hash: 'h'.repeat(43) },
}
const answers = hostileAnswers(plant(), wire)
const posted: string[] = []
let isWrong = true
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({
    answer(method, path, query) {
      if (method === 'POST') posted.push(path)
      if (path === '/api/audit/accept') isWrong = false
      if (path === '/api/audit/accept' || path === '/api/audit/seal') return { body: { ...SEAL, problem: isWrong ? PROBLEM : null } }
      if (path === '/api/hold') return { body: { held: false, why: null, since: null, epoch: 1, open: null } }
      if (path === '/api/audit') return { body: { items: [], nextCursor: null } }
      return answers.answer(method, path, query)
    },
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})
// A page that stays open may send while the next test counts.
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
})

async function openPage(width: number): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 640 }, locale: 'en-GB' })
  const page = await context.newPage()
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  return page
}

test('while the record is not what was signed every page says so, and why', async () => {
  isWrong = true
  const page = await openPage(1100)
  for (const path of ['/', '/waiting', '/policy', '/keys', '/record']) {
    await page.goto(server.url + path)
    const banner = page.getByTestId('record-problem')
    await banner.waitFor()
    expect([path, await banner.textContent()]).toEqual([path, expect.stringContaining(WHY)])
  }
})

test('the record is accepted from its page with the keyboard, not without a reason, and the banner goes', async () => {
  isWrong = true
  posted.length = 0
  const page = await openPage(320)
  await page.goto(`${server.url}/record`)
  const button = page.getByRole('button', { name: 'Accept the record as it is' })
  await button.waitFor()
  expect(await button.isDisabled()).toBe(true)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
  const { violations } = await new AxeBuilder({ page }).analyze()
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
  await page.getByLabel('Reason').focus()
  await page.keyboard.type('I looked into it')
  await page.keyboard.press('Enter')
  await page.getByTestId('record-problem').waitFor({ state: 'detached' })
  expect(posted).toEqual(['/api/audit/accept'])
  await page.getByText('9:hhhh').waitFor()
})

test('the fields of the record keep the focus when Enter applies them, and follow a link', async () => {
  isWrong = false
  const page = await openPage(1_280)
  await page.goto(`${server.url}/record`)
  const focused = () => page.evaluate(() => (document.activeElement as HTMLInputElement | null)?.value)
  const [action, by] = [page.getByLabel('Action id'), page.getByPlaceholder('A name')]
  for (const [field, text, address] of [
    [action, 'act_one', /action=act_one/],
    [by, 'prn_ana', /actor=prn_ana/],
  ] as const) {
    await field.fill(text)
    await page.keyboard.press('Enter')
    await page.waitForURL(address)
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
    expect(await focused()).toBe(text)
  }
  await page.getByRole('navigation').getByRole('link', { name: 'Record', exact: true }).click()
  await page.waitForURL(/\/record$/)
  await expect.poll(async () => [await action.inputValue(), await by.inputValue()]).toEqual(['', ''])
})

test('a name that comes with the rows takes nothing that somebody types in its place', async () => {
  isWrong = false
  const json = answers.answer('GET', '/api/audit', new URLSearchParams())?.body as { items: wire.AuditEntryView[] } | undefined
  const id = json?.items[0]?.actor.id ?? ''
  const page = await openPage(1_280)
  const held = Promise.withResolvers<void>()
  await page.route(/\/api\/audit\?/, async (route) => {
    await held.promise
    await route.fulfill({ json })
  })
  await page.goto(`${server.url}/record?actor=${encodeURIComponent(id)}`)
  const by = page.getByPlaceholder('A name')
  await by.fill('An')
  held.resolve()
  await page.getByTestId('record-row').first().waitFor()
  expect(await by.inputValue()).toBe('An')
})
