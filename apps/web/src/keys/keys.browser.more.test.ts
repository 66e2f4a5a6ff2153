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
