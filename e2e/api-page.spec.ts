import { expect, test } from './demo.ts'

test('the page of the API lists every operation by its group, and opens one with its headers and errors', async ({ page, demo }) => {
  const { tags, paths } = await (await demo.call('GET', '/api/openapi.json')).json()
  await page.goto(`${demo.url}/api/docs/`)
  await expect(page).toHaveTitle('Countersign API')
  await expect(page.locator('.swagger-ui .topbar')).toHaveCSS('background-color', 'rgb(255, 255, 255)')
  const operations = page.locator('.opblock')
  const methods = Object.values(paths as Record<string, object>).flatMap((path) => Object.keys(path))
  await expect(operations).toHaveCount(methods.length)
  for (const { name, description } of tags) {
    await expect(page.locator('.opblock-tag-section').filter({ hasText: description }).locator('.opblock-tag a').first()).toHaveText(name)
  }
  const decide = page.locator('#operations-actions-decideAction')
  await decide.getByRole('button').first().click()
  await expect(decide.getByText('Idempotency-Key').first()).toBeVisible()
  await expect(decide.getByText('already_decided').first()).toBeVisible()
})
