import * as wire from '@countersign/core'
import type { Browser } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

const { answer } = hostileAnswers(plant(), wire)
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({ answer })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

test('on a phone, no choice of the form for a key is cut', async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 }, locale: 'en-GB' })
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  await page.goto(`${server.url}/keys`)
  await page.getByText('Make a key').first().click()
  await page.getByLabel('Good').waitFor()
  const cut = await page.locator('form select').evaluateAll((all) =>
    all.flatMap((select) => {
      const given = select.getBoundingClientRect().width
      // Widens the select to its longest option.
      Object.assign((select as HTMLSelectElement).style, { width: 'max-content', justifySelf: 'start' })
      return select.getBoundingClientRect().width > given ? [select.parentElement?.textContent] : []
    }),
  )
  expect(cut).toEqual([])
})

test('on a phone, a key that was made comes into view with the focus, for it is shown only once; closed, the focus is at the list', async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 }, locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  const made = answer('POST', '/api/keys', new URLSearchParams())?.body as wire.CreatedKey
  await page.route('**/api/keys', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 201, json: { ...made, principal: { ...made.principal, name: 'Ana' }, key: 'cs_secret' } })
      : route.fallback(),
  )
  await page.goto(`${server.url}/keys`)
  await page.getByText('Make a key').first().click()
  await page.getByLabel('Name', { exact: true }).fill('Ana')
  await page.getByRole('button', { name: 'Make a key' }).click()
  const text = page.getByTestId('key-text')
  await text.waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-testid'))).toBe('made-key')
  const box = await text.boundingBox()
  expect(box?.y).toBeGreaterThanOrEqual(0)
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(844)
  await page.getByRole('button', { name: 'I have it' }).click()
  await text.waitFor({ state: 'detached' })
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Keys')
  await page.close()
})
