import * as wire from '@countersign/core'
import type { Browser, Page, Route } from '@playwright/test'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

const { answer } = hostileAnswers(plant(), wire)
const read = (path: string) => answer('GET', path, new URLSearchParams())?.body as object
const { principal } = read('/api/me') as { principal: wire.Principal }
const changed: Record<string, object> = {
  '/api/agents': { items: [{ name: 'desk', suggestions: ['Refund Ana'] }], nextCursor: null },
  '/api/sessions/ses_000001': { ...read('/api/sessions/ses_000001'), owner: principal },
}
let server: HostileServer
let browser: Browser
let page: Page
beforeAll(async () => {
  server = await startHostileServer({
    answer: (method, path, query) => (method === 'GET' && changed[path] ? { body: changed[path] } : answer(method, path, query)),
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  page = await browser.newPage({ locale: 'en-GB' })
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
})
afterEach(() => page.close())

/** The changes that arrive at `path`. The first one arrives, and its answer is lost; the others are answered with `json`. */
async function loseFirstAnswer(path: RegExp, json: object) {
  const arrived: { key: string | undefined; body: unknown }[] = []
  await page.route(path, async (route: Route) => {
    const request = route.request()
    if (request.method() !== 'POST') return route.fallback()
    arrived.push({ key: request.headers()['idempotency-key'], body: request.postDataJSON() })
    await (arrived.length === 1 ? route.abort('connectionreset') : route.fulfill({ status: 202, json }))
  })
  return arrived
}
const field = () => page.getByRole('textbox', { name: 'Message' })

test('a message whose answer was lost is not said to be unsent, and sent again it arrives once', async () => {
  await page.goto(`${server.url}/sessions/ses_000001`)
  const arrived = await loseFirstAnswer(/\/ses_000001\/messages/, { messageId: 'msg_1' })
  await field().fill('approve')
  await field().press('Enter')
  const alert = page.getByRole('form', { name: 'Write a message' }).getByRole('alert')
  await expect.poll(() => alert.textContent()).toMatch(/No answer came: the message may have arrived/)
  expect(await field().inputValue()).toBe('approve')
  await field().press('Enter')
  await expect.poll(() => field().inputValue()).toBe('')
  expect(arrived).toEqual([arrived[0], arrived[0]])
  expect(arrived[0]).toMatchObject({ key: expect.any(String), body: { content: 'approve' } })
  await field().fill('approve')
  await field().press('Enter')
  await expect.poll(() => arrived.length).toBe(3)
  expect(arrived[2]?.key).not.toBe(arrived[0]?.key)
})

test('a chat whose beginning had no answer is begun once', async () => {
  await page.goto(server.url)
  const arrived = await loseFirstAnswer(/\/api\/sessions$/, { id: 'ses_000001' })
  const first = await loseFirstAnswer(/\/ses_000001\/messages/, { messageId: 'msg_1' })
  const suggestion = page.getByRole('button', { name: 'Refund Ana' })
  await suggestion.click()
  await page.getByText('No answer came').waitFor()
  await suggestion.click()
  await expect.poll(() => first.length).toBe(1)
  await page.getByText('No answer came').waitFor()
  await suggestion.click()
  await page.waitForURL(/\/sessions\/ses_000001$/)
  expect(arrived).toEqual([arrived[0], arrived[0]])
  expect(first).toEqual([first[0], first[0]])
})

test('a suggestion that is pressed twice begins one chat', async () => {
  const begun: Route[] = []
  const held = Promise.withResolvers<void>()
  await page.route(/\/api\/sessions$/, async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    begun.push(route)
    await held.promise
    await route.fulfill({ status: 201, json: { id: 'ses_000001' } })
  })
  await page.route(/\/ses_000001\/messages$/, (route) => route.fulfill({ status: 202, json: { messageId: 'msg_1' } }))
  await page.goto(server.url)
  await page.getByRole('button', { name: 'Refund Ana' }).dblclick()
  await expect.poll(() => begun.length).toBeGreaterThan(0)
  held.resolve()
  await page.waitForURL(/\/sessions\/ses_000001$/)
  expect(begun.length).toBe(1)
})

test('a message that was begun is there again after the page was loaded anew, until it is sent', async () => {
  await page.goto(`${server.url}/sessions/ses_000001`)
  await page.route(/\/ses_000001\/messages/, (route) =>
    route.request().method() === 'POST' ? route.fulfill({ status: 202, json: { messageId: 'msg_1' } }) : route.fallback(),
  )
  await field().fill('half a sen')
  await page.reload()
  await expect.poll(() => field().inputValue()).toBe('half a sen')
  await field().press('Enter')
  await expect.poll(() => field().inputValue()).toBe('')
  await page.reload()
  await field().waitFor()
  expect(await field().inputValue()).toBe('')
})
