import type { Action } from '@countersign/client'
import type { BrowserContextOptions } from '@playwright/test'
import { expect, test } from 'vitest'
import { sampleAction } from '../testing/actions.ts'
import { cardParts, openDetails, scrollToEnd, seeAll, show, showAtOnce, untilReady } from '../testing/browser.ts'
import { holdScripts, openPage, page, prepareCardPages } from '../testing/card-page.ts'

prepareCardPages()

const { calls, card, approve, decline, tryToApprove } = cardParts(() => page)
const tryAgain = () => card().getByRole('button', { name: 'Try again' })
/** What assistive technology reads with the button. */
const why = async () =>
  card()
    .locator(`[id="${await approve().getAttribute('aria-describedby')}"]`)
    .textContent()

const LONG = `--- a/long.md\n+++ b/long.md\n@@ -1,1000 +1,1000 @@\n${Array.from({ length: 1_000 }, (_, at) => `-line ${at}\n+Line ${at}`).join('\n')}\n`
/** Each of them changes what only the marked diff shows, or is no text. */
const DIFFS = {
  'of 2,000 lines': LONG,
  'of a binary file': 'diff --git a/logo.png b/logo.png\nBinary files a/logo.png and b/logo.png differ\n',
  'of a renamed file': 'diff --git a/one b/two\nsimilarity index 100%\nrename from one\nrename to two\n',
  'of characters that cannot be seen': '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+one\u200B\u202E\n',
  'of a space at the end of a line': '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+one \n',
}
const withDiff = (diff: string): Action => sampleAction({ preview: [{ field: 'x', diff }] })
const LONG_VALUE = 'The refund of order ORD-100 goes to the card that paid for it. '
const withWords = sampleAction({ preview: [{ field: 'text', oldValue: `${LONG_VALUE}modern`, newValue: `${LONG_VALUE}modem` }] })

/** Opens a page whose part for diffs is held back until it fails or is let through. */
async function holdBack(options?: BrowserContextOptions) {
  await openPage(options)
  return holdScripts(/\/diff-.*\.js/)
}

test('while the diff is loading, no approval is sent, Approve says why, and Decline works', async () => {
  await holdBack()
  await showAtOnce(page, { action: withDiff(DIFFS['of a space at the end of a line']) })
  await card().getByText('Loading the diff…').waitFor()
  await untilReady(page)
  await page.locator('.cs-approve[data-rest=blocked][aria-disabled=true]').waitFor()
  expect(await why()).toBe('A part of this card is still loading.')
  await tryToApprove()
  expect(await calls()).toEqual([])
  await decline().click()
  expect((await calls()).map(({ verdict }) => verdict)).toEqual(['decline'])
})

test.each(Object.entries(DIFFS))(
  'where the diff %s could not be loaded, it stands plain and whole and no approval is sent; Decline works',
  async (_, diff) => {
    const part = await holdBack()
    await showAtOnce(page, { action: withDiff(diff) })
    await part.fail()
    await tryAgain().waitFor()
    await untilReady(page)
    const plain = card().locator('.cs-changes pre')
    expect(await plain.textContent()).toBe(diff.replace('\u200B', '⟦U+200B⟧').replace('\u202E', '⟦U+202E⟧'))
    await plain.focus()
    await scrollToEnd(page)
    await page.locator('.cs-approve[data-rest=blocked]').waitFor()
    expect(await why()).toBe('A part of this card could not be loaded. Reload the page.')
    await tryToApprove()
    expect(await calls()).toEqual([])
    await decline().click()
    expect((await calls()).map(({ verdict }) => verdict)).toEqual(['decline'])
  },
)

test('where the marks on changed words could not be loaded, two values that differ in them cannot be approved', async () => {
  const part = await holdBack()
  await showAtOnce(page, { action: withWords })
  await part.fail()
  await tryAgain().waitFor()
  await untilReady(page)
  await tryToApprove()
  expect(await calls()).toEqual([])
})

test('after a failure, Try again loads the diff, the focus stays on the card, and the action can be approved', async () => {
  const part = await holdBack()
  await showAtOnce(page, { action: withDiff(DIFFS['of a space at the end of a line']) })
  await part.fail()
  await tryAgain().waitFor()
  await tryAgain().focus()
  await page.keyboard.press('Enter')
  await card().locator('.cs-hunk').waitFor()
  expect(await card().evaluate((element) => element === document.activeElement)).toBe(true)
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
  expect(await card().locator('.cs-hunk .cs-space').count()).toBe(1)
  await approve().click()
  expect((await calls()).map(({ verdict }) => verdict)).toEqual(['approve'])
  expect(part.asked()).toBe(2)
})

test('on a phone, a diff that came after the rest of its card has to be seen before the buttons come', async () => {
  const part = await holdBack({ viewport: { width: 320, height: 640 } })
  await showAtOnce(page, { action: withDiff(LONG.slice(0, 5_000)) })
  await card().getByText('Loading the diff…').waitFor()
  await page.locator('.cs-refuse').waitFor()
  await part.load()
  await card().locator('.cs-hunk').first().waitFor()
  await card().getByRole('button', { name: 'Show what is not seen yet' }).waitFor()
  expect(await approve().count()).toBe(0)
  await seeAll(page)
  await approve().waitFor()
})

test('a card without a diff asks for no part of it', async () => {
  const part = await holdBack()
  await show(page, { action: sampleAction() })
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
  await openDetails(page)
  expect(part.asked()).toBe(0)
})
