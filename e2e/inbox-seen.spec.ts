import { expect } from './demo.ts'
import { openInbox, rowOf, test } from './office.ts'

test('an action that is opened beside the inbox is reported as seen: its story says so, and the pane names only others', async ({
  page,
  office,
}) => {
  const { id } = await office.agentProposes('seen')
  const reported = page.waitForResponse((response) => response.url().endsWith(`/api/actions/${id}/seen`))
  await openInbox(page, office)
  await rowOf(page, id).click()
  expect((await reported).status()).toBe(200)
  await expect(page.getByTestId('seen-by')).toHaveText('')
  await page.goto(`${office.url}/actions/${id}`)
  await expect(page.locator('[data-testid=story-step][data-kind=seen]')).toContainText('saw it')
})
