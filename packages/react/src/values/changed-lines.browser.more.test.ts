import { AxeBuilder } from '@axe-core/playwright'
import { expect, test } from 'vitest'
import { sampleAction } from '../testing/actions.ts'
import { scrollToEnd, show } from '../testing/browser.ts'
import { openPage, page, prepareCardPages } from '../testing/card-page.ts'

prepareCardPages()

const card = () => page.getByTestId('approval-card')
const table = () =>
  card()
    .locator('.cs-lines tr')
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent?.trim())))

const BEFORE = [
  { sku: 'mug', count: 1, price: '9.50', currency: 'EUR' },
  { sku: 'bag', count: 2, price: '30.00', currency: 'EUR' },
  { sku: 'a\u0440e', count: 3, price: '1.00', currency: 'EUR' },
]
const AFTER = [{ ...BEFORE[0], count: 12_000 }, BEFORE[2], { sku: '<img src=x>', count: 1 }]
const change = (oldValue: unknown, newValue: unknown, level: 'medium' | 'high' = 'medium') =>
  sampleAction({ risk: { level, reasons: [], setBy: 'policy' }, preview: [{ field: 'lines', oldValue, newValue } as never] })

test('a list of lines that changes is one table: which entries come, go and change, and each changed value as old and new', async () => {
  await openPage()
  await show(page, { action: change(BEFORE, AFTER) })
  expect(await card().locator('caption').textContent()).toBe('1 added, 1 removed, 1 changed, 1 unchanged')
  expect(await table()).toEqual([
    ['Change', 'sku', 'count', 'price', 'currency'],
    ['~ changed', 'mug', 'from 1 →  to 12,000, stored as 12000', 'EUR\u00a09.50, stored as "9.50"', 'EUR'],
    ['− removed', 'bag', '2', 'EUR\u00a030.00, stored as "30.00"', 'EUR'],
    ['unchanged', 'aрe⟦U+0440 Cyrillic⟧', '3', 'EUR\u00a01.00, stored as "1.00"', 'EUR'],
    ['+ added', '<img src=x>', '1', '', ''],
  ])
  expect(await card().locator('del').allTextContents()).toEqual(['from 1', 'bag', '2', 'EUR\u00a030.00, stored as "30.00"', 'EUR'])
})

test('another order of the same lines is said, with both places of each', async () => {
  await openPage()
  await show(page, { action: change([{ id: 1 }, { id: 2 }], [{ id: 2 }, { id: 1 }]) })
  expect(await card().locator('caption').textContent()).toBe('2 unchanged; the order changes')
  expect((await table()).slice(1)).toEqual([
    ['unchanged', '2 → 1', '2'],
    ['unchanged', '1 → 2', '1'],
  ])
})

test('a cell whose new value looks the same says how it differs', async () => {
  await openPage()
  await show(page, { action: change([{ id: 1, to: 'admin1', n: 1 }], [{ id: 1, to: 'adminl', n: 2 }]) })
  await card().getByText('look alike, differ in character 6: U+0031 → U+006C Latin').waitFor()
})

const many = (changed: number) =>
  Array.from({ length: 40 }, (_, at) => ({ sku: `MUG-${at}`, name: 'Mug, white, hand-painted', count: at === changed ? 99 : 1 }))

test('of a long list that changes the changes come first; nothing is approved before all of it has been opened and read', async () => {
  await openPage()
  await show(page, { action: change(many(-1), many(33), 'high') })
  expect((await table())[1]).toEqual(['~ changed', 'MUG-33', 'Mug, white, hand-painted', 'from 1 →  to 99'])
  await page.locator('.cs-approve[data-rest=blocked]').waitFor()
  await card().getByRole('button', { name: 'Go to hidden text' }).click()
  await page.keyboard.press('Enter')
  expect(await table()).toHaveLength(41)
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Whole list, 40 entries')
  await scrollToEnd(page)
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
})

test('a list with one long entry, the last, can be opened', async () => {
  await openPage()
  await show(page, {
    action: sampleAction({
      risk: { level: 'high', reasons: [], setBy: 'policy' },
      preview: [{ field: 'notes', newValue: ['a', 'x'.repeat(700)] }],
    }),
  })
  await card().getByRole('button', { name: '1 entry hidden, show all' }).click()
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
})

test.each(['light', 'dark'] as const)(
  'in %s colours the table passes axe, and on a phone it makes no card wider than the screen',
  async (colorScheme) => {
    await openPage({ colorScheme, viewport: { width: 320, height: 640 } })
    await show(page, { action: change([...BEFORE, ...many(1)], [...AFTER, ...many(2)]) })
    await card()
      .getByRole('button', { name: /hidden, show all/ })
      .first()
      .click()
    expect((await new AxeBuilder({ page }).include('.cs-card').analyze()).violations).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
  },
)
