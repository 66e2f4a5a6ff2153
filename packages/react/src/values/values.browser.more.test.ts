import AxeBuilder from '@axe-core/playwright'
import { expect, test } from 'vitest'
import { sampleAction } from '../testing/actions.ts'
import { show } from '../testing/browser.ts'
import { openPage, page, prepareCardPages } from '../testing/card-page.ts'

prepareCardPages()

const card = () => page.getByTestId('approval-card')
const texts = (selector: string) => card().locator(selector).allTextContents()

const PAYMENT = sampleAction({
  preview: [
    { field: 'order.amount', oldValue: '900.00', newValue: '1240.50' },
    { field: 'order.currency', oldValue: 'EUR', newValue: 'EUR' },
    { field: 'due', oldValue: '2026-11-28', newValue: '2026-12-01T22:30:00Z' },
    { field: 'customerId', newValue: 20_261_128 },
    { field: 'lines', newValue: [{ sku: 4711, priceCents: 124_050, currency: 'USD', count: 12_000 }] },
    { field: 'days', newValue: ['2026-12-24', 'never'] },
    { field: 'limit', oldValue: 900, newValue: 1240, currency: 'EUR' },
  ],
})

test('dates and money are written as the reader writes them, each beside the value that is stored; ids and codes stay as they are', async () => {
  await openPage({ locale: 'de-DE', timezoneId: 'Europe/Berlin' })
  await show(page, { action: PAYMENT })
  const [amount, currency, due, id, , , limit] = await texts('.cs-changes > ul > li')
  expect(amount).toBe('order.amountfrom 900,00\u00a0EUR, stored as "900.00" →  to 1.240,50\u00a0EUR, stored as "1240.50"')
  expect(currency).toBe('order.currencyEUR')
  expect(due).toBe('duefrom Sa., 28. Nov. 2026, stored as 2026-11-28 →  to 01.12.2026, 23:30:00 MEZ, stored as 2026-12-01T22:30:00Z')
  expect(id).toBe('customerIdsets 20261128')
  expect(limit).toBe('limitfrom 900,00\u00a0EUR, stored as 900 →  to 1.240,00\u00a0EUR, stored as 1240 (+340)')
  expect(await texts('.cs-lines td')).toEqual(['4711', '1.240,50\u00a0USD, stored as 124050', 'USD', '12.000, stored as 12000'])
  expect(await texts('.cs-item')).toEqual(['Do., 24. Dez. 2026, stored as 2026-12-24', 'never'])
  expect(await card().locator('time[datetime="2026-12-01T22:30:00Z"]').count()).toBe(1)
})

test.each(['light', 'dark'] as const)(
  'in %s colours, readings pass axe, and on a phone they make no card wider than the screen',
  async (colorScheme) => {
    await openPage({ colorScheme, viewport: { width: 320, height: 640 }, locale: 'fa-IR' })
    await show(page, { action: PAYMENT })
    await card().locator('.cs-exact').first().waitFor()
    expect((await new AxeBuilder({ page }).include('.cs-card').analyze()).violations).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
  },
)

/** Texts that say themselves what a reading says: an agent writes them to make a value look like another. */
const FORGED = [
  'EUR 1,240.50',
  'EUR\u00a01,240.50, stored as "12.40"',
  '28 Nov 2026, 13:30:00 GMT',
  '12\u202e05.04',
  '１240.50',
  '2026-11-28\u200b',
]

test('a text that is written like a reading gets none: only the card writes the line with the stored value', async () => {
  await openPage()
  const preview = [
    ...FORGED.map((newValue) => ({ field: 'amount', newValue })),
    { field: 'lines', newValue: FORGED.map((amount) => ({ amount, currency: 'EUR' })) },
  ]
  await show(page, { action: sampleAction({ preview: [...preview, { field: 'tags', newValue: FORGED }] }) })
  await card().locator('.cs-lines').waitFor()
  expect(await card().locator('.cs-exact').count()).toBe(0)
  for (const text of await texts('ins')) expect(text).not.toMatch(/[\u200b\u202e]/)
})

test('two values that read the same stay two: the stored values say what changes', async () => {
  await openPage()
  const preview = [{ field: 'at', oldValue: '2026-11-28T13:30:00.000Z', newValue: '2026-11-28T14:30:00.900+01:00' }]
  await show(page, { action: sampleAction({ preview }) })
  await expect.poll(() => texts('.cs-exact')).toEqual(['2026-11-28T13:30:00.000Z', '2026-11-28T14:30:00.900+01:00'])
})
