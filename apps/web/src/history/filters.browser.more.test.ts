import * as wire from '@countersign/core'
import type { Browser } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drawn } from '../testing/drawn.ts'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

const answers = hostileAnswers(plant(), wire)
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({ answer: (method, path, query) => answers.answer(method, path, query) })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

test.for(['/history', '/record'])('a day is typed digit by digit at %s, and the address has it', async (path) => {
  const page = await browser.newPage({ locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  await page.goto(server.url + path)
  const since = page.locator('input[type=date]').first()
  await since.focus()
  await page.keyboard.type('11112')
  await page.waitForURL(/[?&]since=0002-11-11/)
  await drawn(page)
  await page.keyboard.type('026')
  await page.waitForURL(/[?&]since=2026-11-11/)
  expect(await since.inputValue()).toBe('2026-11-11')
  expect(await since.evaluate((input) => document.activeElement === input)).toBe(true)
  await page.close()
})

test('on a phone, More filters stays open while somebody empties the last of them to type another', async () => {
  const page = await browser.newPage({ locale: 'en-GB', viewport: { width: 320, height: 800 } })
  page.setDefaultTimeout(280_000)
  await page.goto(`${server.url}/history`)
  await page.getByText('More filters').click()
  const decider = page.getByLabel('Decided by')
  await decider.pressSequentially('Ana')
  await page.waitForURL(/decider=Ana/)
  for (const _ of 'Ana') await page.keyboard.press('Backspace')
  await page.waitForURL((url) => !url.searchParams.has('decider'))
  await drawn(page)
  await page.keyboard.type('Ben')
  await page.waitForURL(/decider=Ben/)
  expect(await decider.isVisible()).toBe(true)
  expect(await decider.inputValue()).toBe('Ben')
  await page.close()
})
