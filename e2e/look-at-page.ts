import AxeBuilder from '@axe-core/playwright'
import type { CDPSession, Page } from '@playwright/test'
import { setColours } from './busy.ts'
import { lostColours, motions, sameLooks } from './page-colours.ts'
import { goThrough } from './page-keyboard.ts'
import { coveredControls, cutTexts, longLines, overlappingTexts, sideScroll, windowScroll } from './page-layout.ts'
import { lookAtNames } from './page-names.ts'

export interface Screen {
  name: string
  width: number
  height: number
  deviceScaleFactor?: number
  /** Looked at in every way, the others for their layout. */
  isWhole?: boolean
  /** Gone through with Tab: what stays in its place covers most here. */
  isWalked?: boolean
  /** With the space that a reader may put between lines, words and letters. */
  isSpaced?: boolean
}

/** The last two are a page of 1280 px at 200 % and at 400 %. */
export const SCREENS: readonly Screen[] = [
  { name: '1280 px', width: 1280, height: 800, isWhole: true },
  { name: '320 px', width: 320, height: 640, isWhole: true },
  { name: '320 px, spaced', width: 320, height: 640, isSpaced: true },
  { name: '390 px', width: 390, height: 844 },
  { name: '2560 px', width: 2560, height: 1440 },
  { name: '200 %', width: 640, height: 400, deviceScaleFactor: 2, isWalked: true },
  { name: '400 %', width: 320, height: 256, deviceScaleFactor: 4, isWalked: true },
]
/** As wide as a line may be before the eye loses the next one. */
const MOST_CHARACTERS = 110
/** WCAG 1.4.12. */
const SPACING = `* {
  line-height: 1.5 !important;
  letter-spacing: 0.12em !important;
  word-spacing: 0.16em !important;
}
p { margin-block-end: 2em !important; }`

/** Looks at the open page on each of these screens and in both themes, and names its faults by where they are. */
export async function lookAtPage(page: Page, screens: readonly Screen[] = SCREENS): Promise<Record<string, string[]>> {
  const cdp = await page.context().newCDPSession(page)
  const found: Record<string, string[]> = {}
  for (const screen of screens) {
    const { name, width, height, deviceScaleFactor = 1 } = screen
    await page.setViewportSize({ width, height })
    if (deviceScaleFactor !== 1) await cdp.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor, mobile: false })
    await page.evaluate(adoptStyle, screen.isSpaced ? SPACING : '')
    await untilDrawn(page)
    const problems = [
      ...(await lookAtLayout(page)),
      ...(screen.isWhole ? await lookAtAll(page, cdp) : []),
      ...(screen.isWalked ? await goThrough(page) : []),
    ]
    if (problems.length > 0) found[name] = problems
  }
  await cdp.detach()
  return found
}

/** In the page, whose content policy takes no style of somebody else in its markup: has it drawn with this style on top. */
function adoptStyle(style: string): void {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(style)
  document.adoptedStyleSheets = style === '' ? [] : [sheet]
}

/** Resolves when all that a page reads is there, and has been laid out. */
export async function untilDrawn(page: Page): Promise<void> {
  await page.waitForFunction(() => !document.querySelector('[aria-busy=true], .skeleton'))
  // An open menu follows its button a moment after the window has another size.
  await page.waitForFunction(() =>
    [...document.querySelectorAll('[role=menu]')].every((menu) => {
      const { left, right } = menu.getBoundingClientRect()
      return left >= 0 && right <= innerWidth
    }),
  )
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve)))),
  )
}

async function lookAtLayout(page: Page): Promise<string[]> {
  return [
    ...(await page.evaluate(sideScroll)),
    ...(await page.evaluate(windowScroll)),
    ...(await page.evaluate(cutTexts)),
    ...(await page.evaluate(coveredControls)),
    ...(await page.evaluate(overlappingTexts)),
    ...(await page.evaluate(longLines, MOST_CHARACTERS)),
  ]
}

async function lookAtAll(page: Page, cdp: CDPSession): Promise<string[]> {
  const found = [...(await violations(page)), ...(await lookAtNames(cdp)), ...(await page.evaluate(motions)), ...(await goThrough(page))]
  await setColours(page, 'dark')
  found.push(...(await violations(page, ['color-contrast'])).map((what) => `dark: ${what}`))
  await setColours(page, 'light')
  await page.evaluate(lostColours)
  await page.emulateMedia({ forcedColors: 'active' })
  found.push(...(await page.evaluate(lostColours)), ...(await page.evaluate(sameLooks)))
  // How the focus looks depends on no width.
  if ((page.viewportSize()?.width ?? 0) > 900) found.push(...(await goThrough(page)))
  await page.emulateMedia({ forcedColors: 'none' })
  return found
}

/**
 * Returns the violations that axe finds.
 * @param rules The rules to check. Default: all of them.
 */
async function violations(page: Page, rules?: string[]): Promise<string[]> {
  // Legacy mode takes half as long: the other one opens a page for each check, which only pages with frames need.
  // By default axe does not check that targets are at least 24 px wide and high.
  const axe = new AxeBuilder({ page })
    .setLegacyMode(true)
    .options({ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })
  if (rules) axe.withRules(rules)
  // A menu stands outside the landmarks while it is open, and hides them.
  else if (await page.getByRole('menu').isVisible()) axe.disableRules(['region'])
  const { violations } = await axe.analyze()
  return violations.map(({ id, nodes }) => `axe ${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
