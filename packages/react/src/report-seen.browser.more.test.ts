import { expect, test } from 'vitest'
import { sampleAction } from './testing/actions.ts'
import { cardParts, show, stopClock, untilReady } from './testing/browser.ts'
import { openPage, page, prepareCardPages } from './testing/card-page.ts'

prepareCardPages()

const { card, approve, calls } = cardParts(() => page)
const seen = async () => (await calls()).filter(({ verdict }) => verdict === 'seen').map(({ note }) => note)
const setVisible = (state: 'visible' | 'hidden') =>
  page.evaluate((visibility) => {
    Object.defineProperty(document, 'visibilityState', { value: visibility, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, state)
/** Loads the part that reports before a test stops the clock, because then it would not load. */
async function openLoaded(): Promise<void> {
  await openPage()
  await show(page, { action: sampleAction({ id: 'act_before', revision: 9 }), withSeen: true })
  await expect.poll(seen).toEqual(['9'])
}
/** Shows a card that reports, and waits until the browser has told the report whether the card is on the screen: from then on a second counts. */
async function showWatched(action: ReturnType<typeof sampleAction>): Promise<void> {
  const watched = await page.evaluateHandle(() => {
    const told = Promise.withResolvers<void>()
    const Native = IntersectionObserver
    window.IntersectionObserver = class extends Native {
      constructor(tell: IntersectionObserverCallback, options?: IntersectionObserverInit) {
        super((entries, observer) => {
          tell(entries, observer)
          if (entries.some(({ target }) => target.matches('article'))) told.resolve()
        }, options)
      }
    }
    return told
  })
  await show(page, { action, withSeen: true })
  await watched.evaluate(({ promise }) => promise)
}
/** Taller than the screen. */
const LONG = Array.from({ length: 90 }, (_, at) => ({ field: `field ${at}`, oldValue: `old ${at}`, newValue: `new ${at}` }))

test('a card says once for each revision that it was seen, and not for a card that waits for nobody', async () => {
  await openPage()
  await show(page, { action: sampleAction(), withSeen: true })
  await expect.poll(seen).toEqual(['1'])
  await show(page, { action: sampleAction({ updatedAt: '2026-11-22T10:59:00.000Z' }), withSeen: true })
  await show(page, { action: sampleAction({ revision: 2, digest: 'sha256:two' }), withSeen: true })
  await expect.poll(seen).toEqual(['1', '2'])
  await show(page, { action: sampleAction({ id: 'act_other', state: 'approved' }), withSeen: true })
  await show(page, { action: sampleAction({ id: 'act_last', revision: 3, digest: 'sha256:three' }), withSeen: true })
  await expect.poll(seen).toEqual(['1', '2', '3'])
})

test('a hidden page never says so', async () => {
  await openLoaded()
  await setVisible('hidden')
  await showWatched(sampleAction())
  await stopClock(page)
  await page.clock.runFor(60_000)
  expect(await seen()).toEqual(['9'])
  await setVisible('visible')
  await page.clock.runFor(60_000)
  await expect.poll(seen).toEqual(['9', '1'])
})

test('a card whose changes were not on the screen to their end was not seen', async () => {
  await openLoaded()
  await show(page, { action: sampleAction({ preview: LONG }), withSeen: true })
  await stopClock(page)
  await page.clock.runFor(60_000)
  expect(await seen()).toEqual(['9'])
  await page.clock.resume()
  await page.locator('.cs-seen-end').scrollIntoViewIfNeeded()
  await expect.poll(seen).toEqual(['9', '1'])
})

test('a report that is refused leaves the decision as it is, and says nothing', async () => {
  await openPage()
  await page.evaluate(() => {
    window.cardPage.reply = { kind: 'refuse', error: { code: 'rate_limited', message: 'too many requests' } }
  })
  await show(page, { action: sampleAction(), withSeen: true })
  await expect.poll(seen).toEqual(['1'])
  await untilReady(page)
  expect(await card().textContent()).not.toContain('too many requests')
  await page.evaluate(() => {
    window.cardPage.reply = { kind: 'take' }
  })
  await approve().click()
  await expect.poll(async () => (await calls()).at(-1)).toMatchObject({ verdict: 'approve' })
})
