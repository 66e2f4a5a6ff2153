import { type Browser, type BrowserContextOptions, test as base, expect, type Page } from '@playwright/test'
import { openOffice } from '../scripts/docs/console/office.ts'
import { setClock } from '../scripts/docs/console/past.ts'
import { playWeek, WEEK_MS } from '../scripts/docs/console/week.ts'
import { signInWithKey } from '../verification/testing/sign-in.ts'
import { CONSOLE_PAGES, type Places, placesOf } from './console-pages.ts'
import { lookAtPage, SCREENS, untilDrawn } from './look-at-page.ts'
import { sideScroll } from './page-layout.ts'

/** Where the sidebar is a drawer. */
const NARROW = SCREENS.filter(({ width }) => width < 900)

interface Console {
  url: string
  places: Places
  /** A page of who is signed in, and one of who is not. */
  page: Page
  signedOut: Page
}

const openPage = async (browser: Browser, options: BrowserContextOptions): Promise<Page> =>
  (await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', reducedMotion: 'reduce', ...options })).newPage()

/** One server with a week behind it, and one browser, for all tests. */
const test = base.extend<object, { console: Console }>({
  console: [
    async ({ browser }, use) => {
      await using office = await openOffice(WEEK_MS)
      await playWeek(office)
      setClock(0)
      const { url } = office.server
      const proof = await signInWithKey(url, office.people.ana.key)
      const origins = [{ origin: url, localStorage: [{ name: 'countersign.console', value: proof['countersign-console'] }] }]
      const page = await openPage(browser, { storageState: { cookies: [], origins } })
      const signedOut = await openPage(browser, {})
      await use({ url, places: await placesOf(office), page, signedOut })
      for (const one of [page, signedOut]) await one.context().close()
    },
    { scope: 'worker' },
  ],
})
// In one process: each of several would play the week anew.
test.describe.configure({ mode: 'default' })

for (const [name, { at, steps, isForeign = false, isSignedOut = false, isNarrow = false }] of Object.entries(CONSOLE_PAGES)) {
  test(`${name}: fits every screen, and works by keyboard, by a screen reader, with forced colours and with less motion`, async ({
    console: { url, places, page: signedIn, signedOut },
  }) => {
    const page = isSignedOut ? signedOut : signedIn
    await page.setViewportSize({ width: isNarrow ? 320 : 1280, height: 800 })
    await page.goto(url + (typeof at === 'string' ? at : at(places)))
    await page.locator('h1, h2').first().waitFor()
    await untilDrawn(page)
    await steps?.(page)
    if (isForeign) expect(await foreignFaults(page)).toEqual({})
    else expect(await lookAtPage(page, isNarrow ? NARROW : SCREENS)).toEqual({})
  })
}

/** The faults in the width of a page that is not ours. */
async function foreignFaults(page: Page): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const { name, width, height } of SCREENS) {
    await page.setViewportSize({ width, height })
    await untilDrawn(page)
    const problems = await page.evaluate(sideScroll)
    if (problems.length > 0) found[name] = problems
  }
  return found
}
