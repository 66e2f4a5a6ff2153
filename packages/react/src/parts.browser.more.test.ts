import type { BrowserContextOptions } from '@playwright/test'
import { expect, test } from 'vitest'
import { sampleAction } from './testing/actions.ts'
import { cardParts, openDetails, showAtOnce, untilReady } from './testing/browser.ts'
import { holdScripts, openPage, page, prepareCardPages } from './testing/card-page.ts'

prepareCardPages()

const { calls, card, approve, decline } = cardParts(() => page)
const heightPx = async () => (await card().boundingBox())?.height

/** Opens a page whose part behind Details is held back until it fails or is let through. */
async function holdBack(options?: BrowserContextOptions) {
  await openPage(options)
  return holdScripts(/\/more-.*\.js/)
}

const ACTIONS = {
  'one changed field': sampleAction(),
  'high risk': sampleAction({ risk: { level: 'high', reasons: ['moves money'], setBy: 'policy' } }),
  'a list of lines': sampleAction({ preview: [{ field: 'lines', newValue: [{ sku: 'A', count: 1 }] }] }),
}

test.each(Object.entries(ACTIONS).flatMap(([what, action]) => [320, 900].map((width) => ({ what, action, width }))))(
  'a card with $what, $width px wide, is as high before the part behind Details came as after',
  async ({ action, width }) => {
    const part = await holdBack({ viewport: { width, height: 640 } })
    await showAtOnce(page, { action })
    await untilReady(page)
    const before = await heightPx()
    await part.load()
    await card().locator('.cs-raw').waitFor({ state: 'attached' })
    await page.locator('.cs-approve[aria-disabled=false]').waitFor()
    expect(await heightPx()).toBe(before)
  },
)

test('on a phone the buttons of a card that is on the screen as a whole stay where they are when its parts come', async () => {
  await openPage({ viewport: { width: 390, height: 844 }, hasTouch: true })
  // The times need a part for values besides.
  const parts = await holdScripts(/-.*\.js$/)
  await showAtOnce(page, {
    action: sampleAction({ preview: [{ field: 'due', oldValue: '2026-03-04T10:00:00Z', newValue: '2026-03-05T10:00:00Z' }] }),
  })
  await untilReady(page)
  const shown = await decline().elementHandle()
  await parts.load()
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
  expect(await shown?.evaluate((button) => button.isConnected)).toBe(true)
})

test('on a phone, a part that moves the last change off the screen takes the buttons away until it was seen there', async () => {
  // High enough for the texts as they are shown plain, and too low for them as a diff.
  await openPage({ viewport: { width: 390, height: 2_400 }, hasTouch: true })
  const parts = await holdScripts(/-.*\.js$/)
  const lines = (word: string) => Array.from({ length: 200 }, (_, at) => `${word} ${at}`).join('\n')
  await showAtOnce(page, { action: sampleAction({ preview: [{ field: 'text', oldValue: lines('old'), newValue: lines('new') }] }) })
  await untilReady(page)
  await parts.load()
  await card().getByRole('button', { name: 'Show what is not seen yet' }).waitFor()
  expect(await decline().count()).toBe(0)
  // Not by the button: the browser driver scrolls to it, which already shows what was not seen, and the button goes.
  // Again until then: each part that comes moves the end of the card.
  await expect
    .poll(async () => {
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
      return decline().count()
    })
    .toBe(1)
})

test.each(Object.entries(ACTIONS))('with %s, nothing is approved before the part behind Details came; Decline works', async (_, action) => {
  await holdBack()
  await showAtOnce(page, { action })
  await untilReady(page)
  await page.locator('.cs-approve[data-rest=blocked]').waitFor()
  await approve().dispatchEvent('click')
  await card().focus()
  for (const key of ['a', 'Enter', 'Control+Enter', 'Control+Enter']) await page.keyboard.press(key)
  expect(await calls()).toEqual([])
  await decline().click()
  expect((await calls()).map(({ verdict }) => verdict)).toEqual(['decline'])
})

test('where the part behind Details could not be loaded, the card says so; Try again loads it, and high risk asks for its second step', async () => {
  const part = await holdBack()
  await showAtOnce(page, { action: ACTIONS['high risk'] })
  await part.fail()
  const tryAgain = card().getByRole('button', { name: 'Try again' })
  await tryAgain.waitFor()
  await openDetails(page)
  expect(await card().locator('.cs-more').textContent()).toContain('A part of this card could not be loaded. Reload the page.')
  await untilReady(page)
  await approve().dispatchEvent('click')
  expect(await page.getByRole('alertdialog').count()).toBe(0)
  await tryAgain.click()
  await card().locator('.cs-raw').waitFor()
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
  await approve().click()
  await page.getByRole('alertdialog').waitFor()
  expect(await calls()).toEqual([])
})
