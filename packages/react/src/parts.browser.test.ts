import type { Page } from '@playwright/test'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { sampleAction } from './testing/actions.ts'
import { type CardBrowser, cardParts, openDetails, showAtOnce, startCardBrowser, untilReady } from './testing/browser.ts'

let cards: CardBrowser
let page: Page
beforeAll(async () => {
  cards = await startCardBrowser()
})
afterAll(() => cards[Symbol.asyncDispose]())
afterEach(() => page?.context().close())

const { calls, card, approve, decline } = cardParts(() => page)
const heightPx = async () => (await card().boundingBox())?.height

/** Opens a page whose part behind Details is held back until it is let through or fails: the first time, then it loads. */
async function holdBack(options?: Parameters<CardBrowser['open']>[0]) {
  page = await cards.open(options)
  const asked = Promise.withResolvers<void>()
  let answer = Promise.withResolvers<'fail' | 'load'>()
  await page.route(/\/more-.*\.js/, async (route) => {
    asked.resolve()
    return (await answer.promise) === 'fail' ? route.abort() : route.continue()
  })
  return async (as: 'fail' | 'load') => {
    // The card asks for it once it is up.
    await asked.promise
    answer.resolve(as)
    answer = Promise.withResolvers()
    answer.resolve('load')
  }
}

const ACTIONS = {
  'one changed field': sampleAction(),
  'high risk': sampleAction({ risk: { level: 'high', reasons: ['moves money'], setBy: 'policy' } }),
  'a list of lines': sampleAction({ preview: [{ field: 'lines', newValue: [{ sku: 'A', count: 1 }] }] }),
}

test.each(Object.entries(ACTIONS).flatMap(([what, action]) => [320, 900].map((width) => ({ what, action, width }))))(
  'a card with $what, $width px wide, is as high before the part behind Details came as after',
  async ({ action, width }) => {
    const answer = await holdBack({ viewport: { width, height: 640 } })
    await showAtOnce(page, { action })
    await untilReady(page)
    const before = await heightPx()
    await answer('load')
    await card().locator('.cs-raw').waitFor({ state: 'attached' })
    await page.locator('.cs-approve[aria-disabled=false]').waitFor()
    expect(await heightPx()).toBe(before)
  },
)

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
  const answer = await holdBack()
  await showAtOnce(page, { action: ACTIONS['high risk'] })
  await answer('fail')
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
