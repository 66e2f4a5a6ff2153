// `npm run docs:console-pictures`: takes the pictures of the console, after a week with several agents. Those of before are older than this script.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { launchBrowser } from '../../apps/web/src/testing/launch.ts'
import { signInWithKey } from '../../verification/testing/sign-in.ts'
import { openOffice } from './console/office.ts'
import { paint } from './console/paint.ts'
import { setClock } from './console/past.ts'
import { screensOf } from './console/screens.ts'
import { playWeek, WEEK_MS } from './console/week.ts'

const PICTURES = fileURLToPath(new URL('../../docs/public/console/', import.meta.url))
const MAX_BYTES = 60_000

/** Takes a page as WebP without loss, in its most frequent colours. */
async function pictureOf(page: Page): Promise<Buffer> {
  const png = (await page.screenshot({ animations: 'disabled' })).toString('base64')
  for (const colours of [256, 64, 32, 16]) {
    const picture = Buffer.from(await painter.evaluate(paint, { png, colours }), 'base64')
    if (picture.length <= MAX_BYTES) return picture
  }
  throw new Error(`${page.url()} takes more than ${MAX_BYTES} bytes`)
}

await using office = await openOffice(WEEK_MS)
await playWeek(office)
setClock(0)
const { url } = office.server
const proof = await signInWithKey(url, office.people.ana.key)
await using browser = await launchBrowser()
const painter = await browser.newPage()
const origins = [{ origin: url, localStorage: [{ name: 'countersign.console', value: proof['countersign-console'] }] }]
// Three in the afternoon, whenever they are taken.
const ahead = Math.min(14, 15 - new Date().getUTCHours())
const context = await browser.newContext({
  ...{ storageState: { cookies: [], origins }, locale: 'en-GB', timezoneId: `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}` },
  ...{ colorScheme: 'light', reducedMotion: 'reduce' },
})
mkdirSync(PICTURES, { recursive: true })
for (const { name, at, shows, isPhone, steps } of await screensOf(office)) {
  const page = await context.newPage()
  await page.setViewportSize(isPhone ? { width: 390, height: 844 } : { width: 1280, height: 800 })
  await page.goto(url + at)
  await page.getByTestId(shows).first().waitFor()
  await steps?.(page)
  await page.mouse.move(0, 0)
  await page.waitForFunction(() => !document.querySelector('.skeleton'))
  await page.evaluate(() => document.fonts.ready)
  const picture = await pictureOf(page)
  writeFileSync(join(PICTURES, `${name}.webp`), picture)
  console.log(`${name}: ${picture.length} bytes`)
  await page.close()
}
