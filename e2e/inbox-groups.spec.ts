import type { Locator } from '@playwright/test'
import { untilReady } from '../apps/web/src/testing/press.ts'
import type { Action } from '../packages/core/src/index.ts'
import { expect, expectNoSideScroll } from './demo.ts'
import { boxOf, idOf, nodes, openInbox, rowOf, test } from './office.ts'

const ROWS = 10_000

test.describe('with actions of two shapes', () => {
  test.use({ policy: { rules: [{ name: 'risky', match: { when: 'args.what == "bomb"' }, verdict: 'ask', risk: 'high' }] } })

  test('a group is chosen by its box, the preview says what is left out and why, and a saved view keeps the groups', async ({
    page,
    office,
  }) => {
    const letters: Action[] = []
    for (let n = 1; n <= 3; n++) letters.push(await office.agentProposes(`letter ${n}`))
    const bomb = await office.agentProposes('bomb')
    await openInbox(page, office, '?view=waiting&order=oldest')
    await page.getByLabel('Group').selectOption('Tool')
    const heading = page.getByRole('treeitem', { name: /4 × keyed/ })
    await expect(heading).toHaveAttribute('aria-expanded', 'true')
    await page.getByRole('button', { name: 'Save view' }).click()
    await page.getByLabel('Name of the view').fill('By tool')
    await page.keyboard.press('Enter')
    const saved = page.getByRole('link', { name: 'By tool' })
    await expect(saved).toHaveAttribute('aria-current', 'page')
    await openInbox(page, office)
    await expect(heading).toHaveCount(0)
    await saved.click()
    await heading.getByTestId('choose').click()
    await expect(heading).toHaveAttribute('aria-checked', 'true')
    await page.getByRole('button', { name: 'Approve…' }).click()
    const dialog = page.getByRole('dialog')
    await expect(dialog.getByRole('heading', { name: 'Approve 3 actions of 4' })).toBeVisible()
    await expect(dialog.locator('.bulk-left li')).toHaveText(['Do bomb High risk is decided one by one.'])
    const approve = dialog.getByRole('button', { name: 'Approve 3', exact: true })
    await untilReady(approve)
    await approve.click()
    for (const { id } of letters) await expect(rowOf(page, id)).toContainText(/Starts in|Done/)
    const now: Action = await (await office.call('GET', `/api/actions/${bomb.id}`)).json()
    expect(now).toMatchObject({ state: 'proposed', votes: [] })
  })
})

/** Whether a heading stands at the top of the list, and rows in the middle and at the end. */
const isFilled = (box: Locator) =>
  box.evaluate((element) => {
    const { left, top, height } = element.getBoundingClientRect()
    const at = (y: number) => document.elementFromPoint(left + 60, top + y)
    return at(20)?.closest('[aria-expanded]') !== null && [height / 2, height - 20].every((y) => at(y)?.closest('[data-row]') !== null)
  })

for (const [screen, viewport] of [
  ['a desk', { width: 1280, height: 720 }],
  ['a phone', { width: 390, height: 844 }],
] as const) {
  test.describe(`on ${screen}`, () => {
    test.use({ many: ROWS, viewport })

    test(`a group of ${ROWS} scrolls under its heading, which folds where it stands; few lines are drawn, and no focused one moves`, async ({
      page,
      office,
    }) => {
      await openInbox(page, office, '?group=shape')
      await expect(page.getByTestId('waiting-summary')).toHaveText(`${ROWS} waiting`)
      const heading = page.getByRole('treeitem', { name: /10,000 × Do letter …/ })
      await expect(heading).toBeVisible()
      const before = await boxOf(heading)
      const box = page.locator('.inbox-scroll')
      for (let step = 1; step <= 10; step++) {
        await box.evaluate((element, share) => element.scrollTo(0, element.scrollHeight * share), step / 10)
        await expect.poll(() => isFilled(box)).toBe(true)
        expect(await boxOf(heading)).toEqual(before)
        expect(await nodes(page)).toBeLessThan(2_000)
      }
      await expectNoSideScroll(page)
      await box.evaluate((element) => element.scrollTo(0, 0))
      for (let i = 0; i < 4; i++) await page.keyboard.press('j')
      const focused = rowOf(page, idOf(5))
      await expect(focused).toBeFocused()
      const place = await boxOf(focused)
      expect((await office.call('POST', `/api/actions/${idOf(2)}/decision`, { verdict: 'decline' })).status).toBe(200)
      await expect(rowOf(page, idOf(2))).toContainText('Declined')
      await office.propose('one', { expiresIn: 'PT1H' })
      await expect(page.getByTestId('waiting-fresh')).toHaveText('1 new')
      expect(await boxOf(focused)).toEqual(place)
      await expect(focused).toBeFocused()
      await page.keyboard.press('ArrowLeft')
      await page.keyboard.press('ArrowLeft')
      const folded = page.getByRole('treeitem', { name: /9,999 × Do letter …/, expanded: false })
      await expect(folded).toBeFocused()
      expect(await boxOf(folded)).toEqual(before)
      expect(await nodes(page)).toBeLessThan(2_000)
    })
  })
}
