import { AxeBuilder } from '@axe-core/playwright'
import * as wire from '@countersign/core'
import type { Browser, Page } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'
import { pressUntil } from '../testing/press-until.ts'

const STEPS = 1_000
const answers = hostileAnswers(plant(), wire)
const T0 = Date.parse('2026-11-24T10:00:00.000Z')

/** A model call of a step. */
const entry = (step: number) => ({
  message: {
    ...{ id: `msg_${step}`, sessionId: 'ses_long', runId: 'run_1', role: 'assistant', kind: 'text', model: 'gpt', seq: step },
    ...{ content: `Step number ${step}`, createdAt: new Date(T0 + step * 1_000).toISOString() },
  },
  call: {
    model: 'gpt',
    step,
    inputTokens: 100 * step,
    cachedInputTokens: 0,
    outputTokens: 5,
    estimated: false,
    fellBack: null,
    cost: null,
  },
})

let stored = STEPS
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({
    answer(method, path, query) {
      if (path === '/api/hold') return { body: { held: false, why: null, since: null, epoch: 1, open: null } }
      if (path === '/api/audit/seal')
        return { body: { head: null, problem: null, memory: { place: 'file', since: null, from: null }, anchor: null } }
      if (path === '/api/sessions/ses_long') {
        const at = new Date(T0).toISOString()
        const session = { id: 'ses_long', agent: 'desk', title: 'A long run', status: 'active', owner: { id: 'prn_me', name: 'Ana' } }
        return {
          body: { ...session, participants: [], pendingApprovals: [], unknownOutcomes: 0, lastSeq: stored, createdAt: at, updatedAt: at },
        }
      }
      if (path === '/api/sessions/ses_long/timeline') {
        const before = Number(query.get('cursor') ?? stored + 1)
        const first = Math.max(1, before - Number(query.get('limit')))
        const items = Array.from({ length: before - first }, (_, at) => entry(before - 1 - at))
        return { body: { items, nextCursor: first > 1 ? String(first) : null } }
      }
      return answers.answer(method, path, query)
    },
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

async function openPage(width: number, nowMs?: number): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 700 }, locale: 'en-GB' })
  const page = await context.newPage()
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  if (nowMs !== undefined) await page.clock.setFixedTime(nowMs)
  await page.goto(`${server.url}/sessions/ses_long/timeline`)
  await page.getByTestId('timeline-count').getByText('1,000 lines').waitFor()
  return page
}

test('of a thousand steps only those in sight are drawn, and new ones come in at the end without moving the others', async () => {
  stored = STEPS
  const page = await openPage(1_100)
  const rows = page.getByTestId('timeline-row')
  await rows.getByText(/Step number 1$/).waitFor()
  expect(await rows.count()).toBeLessThan(60)
  const box = page.locator('.timeline-box')
  await box.focus()
  await pressUntil(page, 'End', async () => (await rows.getByText(/Step number 1000$/).count()) > 0)
  expect(await rows.count()).toBeLessThan(60)
  expect(await rows.filter({ hasText: 'Step number 1000' }).textContent()).toContain('100,000 tokens in')
  await pressUntil(page, 'Home', () => box.evaluate(({ scrollTop }) => scrollTop === 0))
  await rows.getByText(/Step number 1$/).waitFor()
  const before = await rows.first().boundingBox()
  stored = STEPS + 1
  await page.getByTestId('timeline-count').getByText('1,001 lines').waitFor()
  expect(await rows.first().boundingBox()).toEqual(before)
  await page.close()
})

test('a line that came while the timeline was open stays, however many come after it and however many at once', async () => {
  stored = 10
  const page = await browser.newPage({ viewport: { width: 1_100, height: 700 }, locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  await page.goto(`${server.url}/sessions/ses_long/timeline`)
  const count = page.getByTestId('timeline-count')
  await count.getByText('10 lines').waitFor()
  for (const lines of [40, 80, 120, 300]) {
    stored = lines
    await expect.poll(() => count.textContent()).toBe(`${lines} lines`)
  }
  await page.close()
})

test('what happened on another day says which, in the timeline and in the story of an action', async () => {
  stored = STEPS
  const page = await openPage(1_100, T0 + 3_600_000)
  const time = page.getByTestId('timeline-row').first().locator('time')
  expect(await time.textContent(), 'today').toMatch(/^\d+:/)
  await page.clock.setFixedTime(T0 + 3 * 86_400_000)
  await page.reload()
  expect(await time.textContent()).toMatch(/^24 Nov, \d+:/)
  expect(await time.evaluate((shown) => shown.scrollWidth - shown.clientWidth), 'whole').toBeLessThanOrEqual(0)
  await page.goto(`${server.url}/actions/act_000011`)
  expect(await page.getByTestId('story-step').first().locator('time').textContent()).toMatch(/^21 Nov, \d+:/)
  await page.close()
})

test('at 320 px the timeline does not scroll sideways, and axe finds nothing on it', async () => {
  stored = STEPS
  const page = await openPage(320)
  await page.getByTestId('timeline-row').first().waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
  const { violations } = await new AxeBuilder({ page }).analyze()
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
  await page.close()
})
