import AxeBuilder from '@axe-core/playwright'
import { browserOf, expect, test } from './demo.ts'

test('webhooks: an admin adds one, sees its secret once, tests it, sends again, rotates, disables and deletes it', async ({
  page,
  demo,
}) => {
  await page.goto(demo.url)
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await expect(page.getByText('No webhooks yet. No events are sent.')).toBeVisible()

  await page.getByText('Add a webhook').click()
  await page.getByLabel('Address (https)').fill('https://169.254.169.254/latest')
  await page.getByLabel('Description (optional)').fill('On call')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(page.getByRole('alert')).toContainText('the address is not public')
  // Names under .invalid lead nowhere.
  await page.getByLabel('Address (https)').fill('https://hooks.invalid/countersign')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(page.getByTestId('secret-text')).toHaveText(/^whsec_/)
  const secret = await page.getByTestId('secret-text').textContent()
  await expect(page.getByTestId('shown-secret')).toBeFocused()
  await page.getByRole('button', { name: 'I have it' }).click()
  await expect(page.getByRole('heading', { name: 'Webhooks', level: 2 })).toBeFocused()
  const row = page.getByTestId('webhook')
  await expect(row).toContainText('https://hooks.invalid/countersign')
  await expect(row).toContainText('On call')
  await page.reload()
  await expect(row).toBeVisible()
  expect(await page.content()).not.toContain(secret)

  await row.getByRole('button', { name: 'Send a test' }).click()
  const delivery = row.getByTestId('delivery')
  await expect(delivery).toHaveCount(1)
  // Read once, after the attempt: a list that is asked for again and again ends no request on a slow machine.
  const read = async (path: string) => (await demo.call('GET', `/api/webhooks${path}`)).json()
  const [{ id }] = (await read('')).items
  await expect.poll(async () => (await read(`/${id}/deliveries`)).items[0].attempts.length).toBeGreaterThan(0)
  await row.getByRole('button', { name: 'Refresh' }).click()
  await expect(delivery).toContainText('the connection failed')
  await expect(delivery).toContainText('Waiting')
  await delivery.getByRole('button', { name: /^Send again/ }).click()
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([])

  await row.getByText('Edit', { exact: true }).click()
  await expect(row.getByLabel('Address (https)')).toHaveValue('https://hooks.invalid/countersign')
  await row.getByLabel('Address (https)').fill('https://169.254.169.254/latest')
  await row.getByLabel('Description (optional)').fill('On call, nights')
  await row.getByLabel('People decided').check()
  await row.getByLabel('Agents may name this address').check()
  await row.getByRole('button', { name: 'Save' }).click()
  await expect(row.getByRole('alert')).toContainText('the address is not public')
  await row.getByLabel('Address (https)').fill('https://hooks.invalid/nights')
  await row.getByRole('button', { name: 'Save' }).click()
  await expect(row.getByText('Edit', { exact: true })).toBeFocused()
  for (const text of ['https://hooks.invalid/nights', 'On call, nights', 'action.decided', 'callbacks of agents'])
    await expect(row).toContainText(text)
  await row.getByRole('button', { name: 'Rotate the secret' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate' }).click()
  await expect(page.getByTestId('secret-text')).toHaveText(/^whsec_/)
  expect(await page.getByTestId('secret-text').textContent()).not.toBe(secret)
  await expect(row).toContainText('an earlier secret stays valid until')

  await row.getByRole('button', { name: 'Disable' }).click()
  await expect(row).toContainText('Disabled by an admin')
  await expect(row.getByRole('button', { name: 'Enable' })).toBeFocused()
  await row.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByText('No webhooks yet. No events are sent.')).toBeVisible()
  await page.goto(`${demo.url}/record?kind=webhook_deleted`)
  await expect(page.getByText(/deleted the webhook to /).first()).toBeVisible()
})

test('webhooks: an approver finds no page of them', async ({ browser, demo }) => {
  const { key } = await demo.makeKey('Fay', ['approver'])
  const context = await browserOf(browser, demo.url, key)
  const page = await context.newPage()
  await page.goto(`${demo.url}/webhooks`)
  await expect(page.getByText('only an admin may list the webhooks')).toBeVisible()
  await expect(page.getByRole('link', { name: 'Webhooks' })).toHaveCount(0)
  await context.close()
})
