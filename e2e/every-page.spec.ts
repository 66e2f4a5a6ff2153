import AxeBuilder from '@axe-core/playwright'
import { type Browser, type BrowserContextOptions, test as base, type CDPSession, expect, type Page } from '@playwright/test'
import { openOffice } from '../scripts/docs/console/office.ts'
import { setClock } from '../scripts/docs/console/past.ts'
import { playWeek, WEEK_MS } from '../scripts/docs/console/week.ts'
import { signInWithKey } from '../verification/testing/sign-in.ts'
import { CONSOLE_PAGES, type Places, placesOf } from './console-pages.ts'
import { lostColours, motions, sameLooks } from './page-colours.ts'
import { goThrough } from './page-keyboard.ts'
import { coveredControls, cutTexts, longLines, overlappingTexts, sideScroll } from './page-layout.ts'
import { lookAtNames } from './page-names.ts'

/** The last of them is a page of 1280 px at 200 %. Those with `isWhole` are looked at in every way, the others for their layout. */
const SCREENS = [
  { name: '1280 px', width: 1280, height: 800, isWhole: true },
  { name: '320 px', width: 320, height: 640, isWhole: true },
  { name: '390 px', width: 390, height: 844 },
  { name: '2560 px', width: 2560, height: 1440 },
  { name: '200 %', width: 640, height: 400, deviceScaleFactor: 2 },
]
/** As wide as a line may be before the eye loses the next one. */
const MOST_CHARACTERS = 110

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

for (const [name, { at, steps, isForeign = false, isSignedOut = false }] of Object.entries(CONSOLE_PAGES)) {
  test(`${name}: fits every screen, and works by keyboard, by a screen reader, with forced colours and with less motion`, async ({
    console: { url, places, page: signedIn, signedOut },
  }) => {
    const page = isSignedOut ? signedOut : signedIn
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(url + (typeof at === 'string' ? at : at(places)))
    await page.locator('h1, h2').first().waitFor()
    await untilDrawn(page)
    await steps?.(page)
    const cdp = await page.context().newCDPSession(page)
    const found: Record<string, string[]> = {}
    for (const { name, width, height, deviceScaleFactor = 1, isWhole = false } of SCREENS) {
      await page.setViewportSize({ width, height })
      if (deviceScaleFactor !== 1) await cdp.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor, mobile: false })
      await untilDrawn(page)
      const problems = await page.evaluate(sideScroll)
      if (!isForeign) problems.push(...(await lookAtLayout(page)), ...(isWhole ? await lookAtAll(page, cdp) : []))
      if (problems.length > 0) found[name] = problems
    }
    if (!isForeign) {
      await page.emulateMedia({ colorScheme: 'dark' })
      const dark = await violations(page, ['color-contrast'])
      if (dark.length > 0) found['the dark theme'] = dark
      await page.emulateMedia({ colorScheme: 'light' })
    }
    await cdp.detach()
    expect(found).toEqual({})
  })
}

/** Resolves when all that a page reads is there, and has been laid out. */
async function untilDrawn(page: Page): Promise<void> {
  await page.waitForFunction(() => !document.querySelector('[aria-busy=true], .skeleton'))
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve)))),
  )
}

async function lookAtLayout(page: Page): Promise<string[]> {
  return [
    ...(await page.evaluate(cutTexts)),
    ...(await page.evaluate(coveredControls)),
    ...(await page.evaluate(overlappingTexts)),
    ...(await page.evaluate(longLines, MOST_CHARACTERS)),
  ]
}

async function lookAtAll(page: Page, cdp: CDPSession): Promise<string[]> {
  const found = [...(await violations(page)), ...(await lookAtNames(cdp)), ...(await page.evaluate(motions)), ...(await goThrough(page))]
  await page.evaluate(lostColours)
  await page.emulateMedia({ forcedColors: 'active' })
  found.push(...(await page.evaluate(lostColours)), ...(await page.evaluate(sameLooks)), ...(await goThrough(page)))
  await page.emulateMedia({ forcedColors: 'none' })
  return found
}

/** What axe finds, by all its rules or by these. The other mode opens a page for each look, which takes twice as long and is for pages with frames. */
async function violations(page: Page, rules?: string[]): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ['violations'] })
  if (rules) axe.withRules(rules)
  // A menu stands outside the landmarks while it is open, and hides them.
  else if (await page.getByRole('menu').isVisible()) axe.disableRules(['region'])
  const { violations } = await axe.analyze()
  return violations.map(({ id, nodes }) => `axe ${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
