import AxeBuilder from '@axe-core/playwright'
import { expect } from './demo.ts'
import { openInbox, rowOf, rows, test } from './office.ts'

test('S snoozes the selected action: it is not counted, stands under Snoozed, and comes back by hand; a phone does the same by touch', async ({
  page,
  office,
}) => {
  const [kept, later] = [await office.agentProposes('kept'), await office.agentProposes('later', { expiresIn: 'PT30M' })]
  await openInbox(page, office, '?order=newest')
  await expect(page.getByTestId('count-mine')).toHaveText('2')
  await rowOf(page, later.id).click()
  await page.keyboard.press('s')
  const dialog = page.getByRole('dialog', { name: 'Snooze' })
  await expect(dialog.getByRole('button', { name: /^15 minutes/ })).toBeFocused()
  // It expires in half an hour.
  await expect(dialog.getByRole('button', { name: /^1 hour/ })).toHaveCount(0)
  await expect(dialog.getByRole('button', { name: /^Until 5 minutes before/ })).toBeVisible()
  expect((await new AxeBuilder({ page }).include('[role=dialog]').analyze()).violations).toEqual([])
  await page.screenshot({ path: test.info().outputPath('snooze.png') })
  await page.keyboard.press('Enter')
  await expect(dialog).toHaveCount(0)
  await expect(page.getByTestId('count-mine')).toHaveText('1')
  await expect(page).toHaveTitle(/^\(1\)/)
  await page.reload()
  await expect(rows(page)).toHaveCount(1)
  await expect(rowOf(page, kept.id)).toBeVisible()

  await page.setViewportSize({ width: 390, height: 780 })
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Snoozed' }).click()
  await expect(rowOf(page, later.id)).toContainText('Snoozed until')
  await rowOf(page, later.id).click()
  await page.waitForURL(`**/actions/${later.id}`)
  await page.getByTestId('snooze').click()
  await expect(dialog).toBeVisible()
  await page.screenshot({ path: test.info().outputPath('phone.png') })
  await dialog.getByRole('button', { name: 'Back to the inbox now' }).click()
  await expect(page.getByTestId('snooze')).toHaveText('Snooze…')
  await openInbox(page, office)
  await expect(page.getByTestId('count-mine')).toHaveText('2')
})
