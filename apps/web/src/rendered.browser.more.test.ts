import { fileURLToPath } from 'node:url'
import * as wire from '@countersign/core'
import type { Browser, Page } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plant } from './testing/hostile.ts'
import { hostileAnswers } from './testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from './testing/hostile-server.ts'
import { launchBrowser } from './testing/launch.ts'
import { openAll, type Scan, scanPage } from './testing/scan.ts'
import { surfaces } from './testing/surfaces.ts'

const planted = plant()
const answers = hostileAnswers(planted, wire)
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer(answers)
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

/** Where the pictures of this run are, for people to look at. */
const folder = fileURLToPath(new URL('../../../test-results/rendered/', import.meta.url))

/** Texts that may stand in several lines, as they were written: what people, models and tools write at length, diffs, and the policy's own text. */
const IN_LINES =
  /^(Message\..*(content|lookUps\.0\.(input|output|error))|event\.(reasoning|delta)|Action\.(agentSays|said|preview\.0\.(diff|oldValue|newValue))|Action\.votes\.0\.reason|Objective\.description|ToolDetails\.(description|change\.fields\.0\.diff)|policy\.yaml|read\.result)$/

/** A text that is missing is named before the limit of the test ends it without a word. */
const MOST_MS = 270_000

const pathsOf = (numbers: number[]): string[] => numbers.map((number) => planted.paths[number] ?? `${number}`)

/** Opens everything on a page and looks at it: again, until everything that has to be in sight has come. */
async function look(page: Page, shows: readonly string[], { message, timeout }: { message: string; timeout: number }): Promise<Scan> {
  let scan: Scan | undefined
  const missing = async () => {
    while ((await page.evaluate(openAll)) > 0) await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    scan = await page.evaluate(scanPage)
    const seen = pathsOf(scan.seen)
    return shows.filter((path) => !seen.includes(path))
  }
  await expect.poll(missing, { message: `missing on ${message}`, timeout }).toEqual([])
  if (!scan) throw new Error('nobody looked')
  return scan
}

test('on every page, at 320 px, no text of anybody else hides anything, poses as anything or breaks out of its place', async () => {
  const page = await browser.newPage({ locale: 'en-GB', timezoneId: 'UTC' })
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  page.on('dialog', (dialog) => dialog.dismiss())
  const endsMs = performance.now() + MOST_MS
  const found: Record<string, object> = {}
  const wanted: Record<string, object> = {}
  for (const [name, { at, width = 320, steps, shows }] of Object.entries(surfaces(server, answers))) {
    await page.setViewportSize({ width, height: 640 })
    if (!page.url().endsWith(server.url + at)) await page.goto(server.url + at)
    await page.locator('h1').first().waitFor()
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    await steps?.(page)
    const { problems, inLines, cut } = await look(page, shows, { message: name, timeout: Math.max(1, endsMs - performance.now()) })
    await page.screenshot({ path: `${folder}${name}.png` })
    found[name] = { problems, brokenLines: pathsOf(inLines).filter((path) => !IN_LINES.test(path)), cut: pathsOf(cut) }
    wanted[name] = { problems: [], brokenLines: [], cut: [] }
  }
  expect(found).toEqual(wanted)
  expect(server.strays).toEqual([])
})
