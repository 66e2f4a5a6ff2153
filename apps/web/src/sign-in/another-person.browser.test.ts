import * as wire from '@countersign/core'
import { expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

test('whoever signs in after somebody else sees nothing of what that person had on the page', async () => {
  const answers = hostileAnswers(plant(), wire)
  let isSecond = false
  const askedBySecond = Promise.withResolvers<void>()
  await using server = await startHostileServer({
    answer(method, path, query) {
      const answer = answers.answer(method, path, query)
      if (!isSecond) return answer
      if (path === '/api/grants') {
        askedBySecond.resolve()
        return { status: 403, body: { code: 'forbidden', detail: 'not for you' } }
      }
      if (path !== '/api/me' || !answer) return answer
      const me = answer.body as { principal: object }
      return { body: { ...me, principal: { ...me.principal, id: 'prn_second', name: 'Second' } } }
    },
  })
  const browser = await launchBrowser()
  try {
    const context = await browser.newContext()
    const page = await context.newPage()
    // The driver's own limit is 30 s: too short for a busy machine.
    page.setDefaultTimeout(280_000)
    await page.goto(`${server.url}/grants`)
    await page.getByTestId('grant').first().waitFor()
    isSecond = true
    const elsewhere = await context.newPage()
    await elsewhere.goto(`${server.url}/index.html`)
    await elsewhere.evaluate(() => localStorage.setItem('countersign.console', 'another secret'))
    await askedBySecond.promise
    await page.getByText('not for you').first().waitFor()
    expect(await page.getByTestId('grant').count()).toBe(0)
  } finally {
    await browser.close()
  }
})
