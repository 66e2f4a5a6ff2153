import { expect } from './demo.ts'
import { openInbox, rowOf, test } from './office.ts'

test('by keys alone: three chosen are snoozed, the one that expires sooner is left out and stays chosen; M assigns the rest', async ({
  page,
  office,
}) => {
  const letters = [await office.agentProposes('letter 1'), await office.agentProposes('letter 2')]
  const soon = await office.agentProposes('soon', { expiresIn: 'PT30M' })
  await openInbox(page, office, '?order=oldest')
  await expect(page.getByTestId('count-mine')).toHaveText('3')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  for (const { id } of [...letters, soon]) {
    await expect(rowOf(page, id)).toBeFocused()
    await page.keyboard.press('x')
    await page.keyboard.press('j')
  }
  await expect(page.getByTestId('chosen-bar')).toContainText('3 chosen')
  await page.keyboard.press('s')
  const snooze = page.getByRole('dialog', { name: 'Snooze 3 actions' })
  await expect(snooze.getByRole('button', { name: /^15 minutes/ })).toBeFocused()
  await page.screenshot({ path: test.info().outputPath('snooze.png') })
  await page.keyboard.press('Tab')
  await expect(snooze.getByRole('button', { name: /^1 hour.*2 of 3/ })).toBeFocused()
  await page.keyboard.press('Enter')
  const outcome = page.getByTestId('bulk-outcome')
  await expect(outcome).toContainText('2 actions snoozed until')
  await expect(outcome).toContainText('1 action not snoozed:Do soon: It expires too soon for that.')
  await expect(page.getByTestId('count-mine')).toHaveText('1')
  await expect(page.getByTestId('chosen-bar')).toContainText('1 chosen')
  await page.screenshot({ path: test.info().outputPath('outcome.png') })
  await page.keyboard.press('m')
  const assign = page.getByRole('dialog', { name: 'Assign 1 action' })
  await expect(assign.getByRole('button', { name: 'I’m on it' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(outcome).toContainText('1 action assigned to you.')
  await expect(rowOf(page, soon.id)).toContainText('Assigned to you')
  const snoozes = await (await office.call('GET', '/api/snoozes')).json()
  expect(snoozes.items.map(({ actionId }: { actionId: string }) => actionId).toSorted()).toEqual(letters.map(({ id }) => id).toSorted())
})

test('on a phone: two are chosen and assigned to a role; the one that was decided meanwhile is named', async ({ page, office }) => {
  await page.setViewportSize({ width: 390, height: 780 })
  const [kept, gone] = [await office.agentProposes('kept'), await office.agentProposes('gone')]
  await openInbox(page, office, '?view=waiting&order=oldest')
  for (const { id } of [kept, gone]) await rowOf(page, id).getByTestId('choose').click()
  await page.getByRole('button', { name: 'Assign…' }).click()
  const assign = page.getByRole('dialog', { name: 'Assign 2 actions' })
  await expect(assign.getByRole('button', { name: 'The role approver' })).toBeVisible()
  await page.screenshot({ path: test.info().outputPath('phone.png') })
  await office.call('POST', `/api/actions/${gone.id}/decision`, { revision: gone.revision, verdict: 'decline', reason: 'No.' })
  await assign.getByRole('button', { name: 'The role approver' }).click()
  await expect(page.getByTestId('bulk-outcome')).toContainText('1 action assigned to approver. 1 action not assigned:')
  await expect(page.getByTestId('bulk-outcome')).toContainText('Do gone: It does not wait any more: declined.')
  await page.screenshot({ path: test.info().outputPath('phone-outcome.png') })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await expect(rowOf(page, kept.id)).toContainText('Assigned to approver')
  await expect(rowOf(page, gone.id)).toContainText('Declined')
})
