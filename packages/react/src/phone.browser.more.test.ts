import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { sampleAction } from './testing/actions.ts'
import { cardParts, openDetails, show } from './testing/browser.ts'
import { openPage, page, prepareCardPages } from './testing/card-page.ts'

prepareCardPages()

const { card, approve, decline, calls } = cardParts(() => page)
const folder = fileURLToPath(new URL('../../../test-results/cards/', import.meta.url))

const SIZES = [
  { width: 320, height: 640 },
  { width: 390, height: 844 },
  { width: 899, height: 700 },
]
/** More changes than any of these screens shows at once. */
const LONG = sampleAction({
  preview: Array.from({ length: 60 }, (_, at) => ({ field: `field ${at}`, oldValue: `old ${at}`, newValue: `new ${at}` })),
})
const SUGGESTION = { refusal: null, exact: { matched: 3, of: 30 }, rule: { when: 'args.newStatus == "processing"', matched: 14, of: 30 } }
const showUnseen = () => card().getByRole('button', { name: 'Show what is not seen yet' })
const isOnScreen = (selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect()
      return bottom > 0 && top < innerHeight
    })
/** As a chat opens: at its end, with the headline far above. */
const showFromItsEnd = async (shown: Parameters<typeof show>[1]) => {
  await page.evaluate(() => window.cardPage.setAbovePx(3_000))
  await show(page, shown ?? {})
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
}
const untilPressable = () => page.locator('.cs-approve[aria-disabled=false]').waitFor()

test.each(SIZES)(
  'on $width × $height the buttons come once the headline and all changes have been on the screen, and then stay there',
  async (viewport) => {
    await openPage({ viewport, hasTouch: true })
    await showFromItsEnd({ action: LONG, suggestion: SUGGESTION })
    await showUnseen().waitFor()
    expect(await isOnScreen('.cs-title')).toBe(false)
    await openDetails(page)
    const later = card().getByText('Don’t ask again')
    expect([await approve().count(), await decline().count(), await later.count()]).toEqual([0, 0, 0])
    await showUnseen().click()
    await untilPressable()
    expect(await isOnScreen('.cs-title')).toBe(true)
    await later.waitFor()
    // Now from any place of the card.
    const bar = await card().locator('.cs-decide').boundingBox()
    expect((bar?.y ?? 0) + (bar?.height ?? 0)).toBeCloseTo(viewport.height, 0)
    await page.screenshot({ path: join(folder, `phone-bar-${viewport.width}.png`) })
    await approve().click()
    expect(await calls()).toHaveLength(1)
  },
)

test('from the top of a long card on a phone, nothing can be decided before the last change was on the screen', async () => {
  await openPage({ viewport: { width: 390, height: 844 }, hasTouch: true })
  await show(page, { action: LONG })
  await card().locator('.cs-title').waitFor()
  await page.locator('.cs-changes li').nth(30).scrollIntoViewIfNeeded()
  expect(await approve().count()).toBe(0)
  await page.locator('.cs-changes li').last().scrollIntoViewIfNeeded()
  await page.evaluate(() => scrollBy(0, 200))
  await untilPressable()
  // Another revision is not what was seen.
  await page.evaluate(() => scrollTo(0, 0))
  await show(page, { action: { ...LONG, revision: 2, digest: 'sha256:other' } })
  await showUnseen().waitFor()
  expect(await approve().count()).toBe(0)
})

test('the bar on a phone covers nothing that has the focus, and no button of an open reason', async () => {
  await openPage({ viewport: { width: 320, height: 640 }, hasTouch: true })
  await showFromItsEnd({ action: LONG, agentSays: 'The customer asked for it.', runHref: '/runs/1', withEditor: true })
  await showUnseen().click()
  await untilPressable()
  await card().focus()
  const covered: string[] = []
  for (let step = 0; step < 12; step++) {
    await page.keyboard.press('Tab')
    covered.push(
      ...(await page.evaluate(() => {
        const focused = document.activeElement
        const bar = document.querySelector('.cs-decide')?.getBoundingClientRect()
        if (!focused?.closest('.cs-card') || focused.matches('.cs-card') || focused.closest('.cs-decide') || bar === undefined) return []
        const { top, bottom } = focused.getBoundingClientRect()
        return bottom > bar.top + 1 && top < bar.bottom ? [focused.outerHTML.slice(0, 80)] : []
      })),
    )
  }
  expect(covered).toEqual([])
  await card().getByRole('button', { name: 'Decline with reason' }).click()
  await page.getByLabel(/^Reason/).waitFor()
  expect(
    await card()
      .locator('.cs-decide')
      .evaluate((row) => getComputedStyle(row).position),
  ).toBe('static')
})

test('a wide screen needs no such bar', async () => {
  await openPage()
  await show(page, { action: LONG })
  await untilPressable()
  expect(
    await card()
      .locator('.cs-decide')
      .evaluate((row) => getComputedStyle(row).position),
  ).toBe('static')
})
