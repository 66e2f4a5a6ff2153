import * as wire from '@countersign/core'
import type { Browser, Page } from '@playwright/test'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { plant } from './testing/hostile.ts'
import { hostileAnswers } from './testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from './testing/hostile-server.ts'
import { launchBrowser } from './testing/launch.ts'

const MARKS = /\/marks-.*\.js$/
const LIST = /\/api\/actions\?state=proposed(?!.*delegated)/
let server: HostileServer
let browser: Browser
let page: Page
beforeAll(async () => {
  server = await startHostileServer(hostileAnswers(plant(), wire))
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 1_200, height: 700 }, locale: 'en-GB' })
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
})
afterEach(() => page.close())

const open = () => page.goto(`${server.url}/waiting`)
const drawn = () => page.locator('#root').innerHTML()

test('the page at the address loads while the server is still asked who is signed in', async () => {
  const me = Promise.withResolvers<void>()
  await page.route('**/api/me', async (route) => {
    await me.promise
    await route.continue()
  })
  const loaded = page.waitForResponse(/\/waiting-page-.*\.js$/)
  await open()
  await loaded
  me.resolve()
  await page.getByTestId('waiting-row').first().waitFor()
})

test('nothing that would have to be replaced is drawn before the marks are there, and the server is asked meanwhile who is signed in', async () => {
  const marks = Promise.withResolvers<void>()
  await page.route(MARKS, async (route) => {
    await marks.promise
    await route.continue()
  })
  const asked = page.waitForResponse('**/api/me')
  await open()
  await asked
  expect(await drawn()).toBe('')
  marks.resolve()
  await page.getByTestId('waiting-row').first().waitFor()
})

test('without the marks the console says that it could not be shown, and shows nothing else', async () => {
  await page.route(MARKS, (route) => route.abort())
  await open()
  expect(await page.getByRole('alert').textContent()).toContain('could not be shown')
  expect(await page.locator('nav').count()).toBe(0)
  await page.unroute(MARKS)
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByTestId('waiting-row').first().waitFor()
})

test('who is signed in, what waits, the marks and the page are all asked for before there is anything to draw them with', async () => {
  await page.addInitScript(() => localStorage.setItem('countersign.console', 'a secret'))
  const drawing = Promise.withResolvers<void>()
  await page.route(/\/draw-.*\.js$/, async (route) => {
    await drawing.promise
    await route.continue()
  })
  const asked = [/\/api\/me$/, /\/api\/events$/, LIST, MARKS, /\/waiting-page-.*\.js$/]
  const answers = asked.map((address) => page.waitForResponse(address))
  await open()
  await Promise.all(answers)
  expect(await drawn()).toBe('')
  const again: string[] = []
  page.on('request', (request) => asked.some((address) => address.test(request.url())) && again.push(request.url()))
  drawing.resolve()
  await page.getByTestId('waiting-row').first().waitFor()
  expect(again).toEqual([])
})

test('a browser without a sign-in asks for nothing that it may not read', async () => {
  await page.route('**/api/me', (route) => route.fulfill({ json: { principal: null, signIn: 'key' } }))
  const asked: string[] = []
  page.on('request', (request) => request.url().includes('/api/') && asked.push(new URL(request.url()).pathname))
  await open()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(asked).toEqual(['/api/me'])
})

test('the inbox that was opened for one person is not the one of whoever signs in after them', async () => {
  await page.addInitScript(() => localStorage.setItem('countersign.console', 'a secret'))
  const { principal } = await (await fetch(`${server.url}/api/me`)).json()
  // The first inbox is asked for before anybody else signs in: closed earlier, it would ask for nothing.
  const begun = page.waitForRequest(LIST)
  await page.route('**/api/sign-in/oidc/finish', async (route) => {
    await begun
    await route.fulfill({ json: { principal: { ...principal, id: 'prn_another' }, signIn: 'oidc', returnTo: '/waiting' } })
  })
  const listed: string[] = []
  page.on('request', (request) => LIST.test(request.url()) && listed.push(page.url()))
  await page.goto(`${server.url}/sign-in/callback?code=1`)
  await page.getByTestId('waiting-row').first().waitFor()
  expect(listed.map((url) => new URL(url).pathname)).toEqual(['/sign-in/callback', '/waiting'])
})
