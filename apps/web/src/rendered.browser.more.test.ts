import { fileURLToPath } from 'node:url'
import * as wire from '@countersign/core'
import type { Browser } from '@playwright/test'
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
  /^(Message\..*(content|lookUps\.0\.(input|output|error))|event\.(reasoning|delta)|Action\.(agentSays|said|preview\.0\.diff)|Action\.votes\.0\.reason|Objective\.description|ToolDetails\.(description|change\.fields\.0\.diff)|policy\.yaml|read\.result)$/

test('on every page, at 320 px, no text of anybody else hides anything, poses as anything or breaks out of its place', async () => {
  const page = await browser.newPage({ locale: 'en-GB', timezoneId: 'UTC' })
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  page.on('dialog', (dialog) => dialog.dismiss())
  const found: Record<string, object> = {}
  const wanted: Record<string, object> = {}
  for (const [name, { at, width = 320, steps, shows }] of Object.entries(surfaces(server, answers))) {
    await page.setViewportSize({ width, height: 640 })
    if (!page.url().endsWith(server.url + at)) await page.goto(server.url + at)
    await page.locator('h1').first().waitFor()
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    await steps?.(page)
    while ((await page.evaluate(openAll)) > 0) await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    await page.screenshot({ path: `${folder}${name}.png` })
    const { problems, seen, inLines, cut }: Scan = await page.evaluate(scanPage)
    const paths = (numbers: number[]) => numbers.map((number) => planted.paths[number] ?? `${number}`)
    found[name] = {
      problems,
      missing: shows.filter((path) => !paths(seen).includes(path)),
      brokenLines: paths(inLines).filter((path) => !IN_LINES.test(path)),
      cut: paths(cut),
    }
    wanted[name] = { problems: [], missing: [], brokenLines: [], cut: [] }
  }
  expect(found).toEqual(wanted)
  expect(server.strays).toEqual([])
})
