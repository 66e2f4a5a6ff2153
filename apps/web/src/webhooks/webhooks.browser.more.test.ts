import * as wire from '@countersign/core'
import { expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

test('the form of a webhook sends what was changed in it, and leaves what another admin changed while it was open', async () => {
  const { answer } = hostileAnswers(plant(), wire)
  await using server = await startHostileServer({ answer })
  await using browser = await launchBrowser()
  const page = await browser.newPage()
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  const list = answer('GET', '/api/webhooks', new URLSearchParams())?.body as wire.WebhookList
  const [listed] = list.items
  let webhook = { ...listed, url: 'https://old.example/hook', description: 'Shop', callbacks: true, events: ['action.proposed'] }
  await page.route(/\/api\/webhooks(\?|$)/, (route) => route.fulfill({ json: { items: [webhook], nextCursor: null } }))
  await page.route('**/api/webhooks/*/test', (route) => route.fulfill({ status: 202, json: { id: 'evt_1' } }))
  const sent: object[] = []
  await page.route(`**/api/webhooks/${listed?.id}`, (route) => {
    const body = route.request().postDataJSON()
    sent.push(body)
    webhook = { ...webhook, ...body }
    return route.fulfill({ json: webhook })
  })
  await page.goto(`${server.url}/webhooks`)
  const row = page.getByTestId('webhook')
  await row.getByText('Edit').click()
  const description = row.getByLabel('Description (optional)')
  await description.waitFor()
  webhook = { ...webhook, url: 'https://new.example/hook', callbacks: false, events: ['action.decided'] }
  // The list is read again after it, as when the window gets the focus.
  await row.getByRole('button', { name: 'Send a test' }).click()
  await row.locator('strong').getByText('https://new.example/hook').waitFor()
  await description.fill('Shop and returns')
  await row.getByRole('button', { name: 'Save' }).click()
  await description.waitFor({ state: 'detached' })
  expect(sent).toEqual([{ description: 'Shop and returns' }])
  await row.getByText('Edit').click()
  expect(await row.getByLabel('Address (https)').inputValue(), 'opened again: the current values').toBe('https://new.example/hook')
})
