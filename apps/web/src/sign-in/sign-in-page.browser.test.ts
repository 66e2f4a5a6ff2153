import * as wire from '@countersign/core'
import { expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

test('whoever comes back from the sign-in service by the browser’s Back can press the button again', async () => {
  const answers = hostileAnswers(plant(), wire)
  await using server = await startHostileServer({
    answer: (method, path, query) =>
      path === '/api/me' ? { body: { principal: null, signIn: 'oidc' } } : answers.answer(method, path, query),
  })
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    // The driver's own limit is 30 s: too short for a busy machine.
    page.setDefaultTimeout(280_000)
    // An address within the page: it stays as it was left, as in the browser's cache of pages.
    await page.route('**/api/sign-in/oidc', (route) => route.fulfill({ json: { url: '#left', begun: 'a sign-in' } }))
    await page.goto(server.url)
    const button = page.getByTestId('sign-in-service')
    await button.click()
    await page.waitForURL(/#left$/)
    await expect.poll(() => button.isDisabled()).toBe(true)
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await expect.poll(() => button.isEnabled()).toBe(true)
  } finally {
    await browser.close()
  }
})
