import AxeBuilder from '@axe-core/playwright'
import { expect } from './demo.ts'
import { openInbox, rowOf, rows, test } from './office.ts'

test('M assigns the selected action: the line says to whom, a search finds it, and a phone takes it back by touch', async ({
  page,
  office,
}) => {
  const [mine, other] = [await office.agentProposes('mine'), await office.agentProposes('other')]
  await openInbox(page, office)
  await rowOf(page, mine.id).click()
  await page.keyboard.press('m')
  const dialog = page.getByRole('dialog', { name: 'Assign' })
  await expect(dialog.getByRole('button', { name: 'I’m on it' })).toBeFocused()
  expect((await new AxeBuilder({ page }).include('[role=dialog]').analyze()).violations).toEqual([])
  await page.screenshot({ path: test.info().outputPath('assign.png') })
  await page.keyboard.press('Enter')
  await expect(dialog).toHaveCount(0)
  await expect(rowOf(page, mine.id)).toContainText('Assigned to you')
  await page.screenshot({ path: test.info().outputPath('assigned.png') })
  await page.getByRole('searchbox', { name: 'Search actions' }).fill('assigned:me')
  await expect(rows(page)).toHaveCount(1)

  await page.setViewportSize({ width: 390, height: 780 })
  await openInbox(page, office)
  // Somebody else says it, and an open page shows it.
  await office.call('POST', `/api/actions/${other.id}/assign`, { to: { role: 'approver' } })
  await expect(rowOf(page, other.id)).toContainText('Assigned to approver')
  await rowOf(page, mine.id).click()
  await page.waitForURL(`**/actions/${mine.id}`)
  await page.getByTestId('assign').click()
  await dialog.getByRole('button', { name: 'Nobody in particular' }).click()
  await expect(page.getByTestId('assign')).toHaveText('Assign…')
})
