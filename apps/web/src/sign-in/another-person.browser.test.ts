import * as wire from '@countersign/core'
import type { Page } from '@playwright/test'
import { expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

/** Opens a page of the console for one person. `signInAnother` signs another one in, in a second tab, who may not read grants. */
async function openForFirst(path: string, use: (page: Page, signInAnother: () => Promise<void>) => Promise<void>): Promise<void> {
  const answers = hostileAnswers(plant(), wire)
  let isSecond = false
  await using server = await startHostileServer({
    answer(method, path, query) {
      if (path === '/api/sign-out') return { body: {} }
      const answer = answers.answer(method, path, query)
      if (!isSecond || !answer) return answer
      if (path === '/api/grants') return { status: 403, body: { code: 'forbidden', detail: 'not for you' } }
      if (path !== '/api/me') return answer
      const me = answer.body as { principal: object }
      return { body: { ...me, principal: { ...me.principal, id: 'prn_second', name: 'Second' } } }
    },
  })
  const browser = await launchBrowser()
  try {
    const context = await browser.newContext()
    const page = await context.newPage()
    // The driver's own limit is 30 s: too short for a busy machine.
    page.setDefaultTimeout(280_000)
    await page.goto(`${server.url}${path}`)
    await use(page, async () => {
      isSecond = true
      const elsewhere = await context.newPage()
      await elsewhere.goto(`${server.url}/index.html`)
      await elsewhere.evaluate(() => localStorage.setItem('countersign.console', 'another secret'))
    })
  } finally {
    await browser.close()
  }
}

test('whoever signs in after somebody else sees nothing of what that person had read', () =>
  openForFirst('/grants', async (page, signInAnother) => {
    await page.getByTestId('grant').first().waitFor()
    await signInAnother()
    await page.getByText('not for you').first().waitFor()
    expect(await page.getByTestId('grant').count()).toBe(0)
  }))

test('whoever signs in after somebody else does not see the message that person had begun', () =>
  openForFirst('/', async (page, signInAnother) => {
    const message = page.getByRole('textbox', { name: 'Message' })
    await message.fill('what only the first is to know')
    await signInAnother()
    await page.getByTestId('account').filter({ hasText: 'Second' }).waitFor()
    expect(await message.inputValue()).toBe('')
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('only the first')
    await page.reload()
    await page.getByTestId('account').filter({ hasText: 'Second' }).waitFor()
    expect(await message.inputValue()).toBe('')
  }))

test('whoever signs out leaves no message behind that they had begun', () =>
  openForFirst('/', async (page) => {
    await page.getByRole('textbox', { name: 'Message' }).fill('what only the first is to know')
    await page.getByTestId('account').click()
    const reloaded = page.waitForEvent('load')
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
    await reloaded
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('only the first')
  }))

/** Opens a page of the console over plain http, where a stored secret signs in, and a server that refuses each sign-out until it is let. */
async function openSignedIn(use: (page: Page, refusals: { of: number }) => Promise<void>): Promise<void> {
  const answers = hostileAnswers(plant(), wire)
  const refusals = { of: 1 }
  await using server = await startHostileServer({
    answer(method, path, query) {
      if (path !== '/api/sign-out') return answers.answer(method, path, query)
      if (refusals.of-- > 0) return { status: 503, body: { code: 'not_ready', detail: 'this server is stopping' } }
      return { body: {} }
    },
  })
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    // The driver's own limit is 30 s: too short for a busy machine.
    page.setDefaultTimeout(280_000)
    await page.goto(`${server.url}/grants`)
    await page.evaluate(() => localStorage.setItem('countersign.console', 'a secret'))
    await page.reload()
    await page.getByTestId('account').click()
    await use(page, refusals)
  } finally {
    await browser.close()
  }
}

const secretIn = (page: Page) => page.evaluate(() => localStorage.getItem('countersign.console'))

test('whoever is refused to sign out everywhere is told so, stays signed in, and can try again', () =>
  openSignedIn(async (page) => {
    await page.getByRole('menuitem', { name: 'Sign out everywhere' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'You were not signed out' })
    await dialog.getByText('this server is stopping').waitFor()
    expect(await secretIn(page)).toBe('a secret')
    const reloaded = page.waitForEvent('load')
    await dialog.getByRole('button', { name: 'Try again' }).click()
    await reloaded
    expect(await secretIn(page)).toBeNull()
  }))

test('whoever signs out here while the server refuses is signed out in this browser, and told that the server was not', () =>
  openSignedIn(async (page) => {
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
    await page.getByRole('alert').filter({ hasText: 'signed out in this browser only' }).filter({ hasText: 'is stopping' }).waitFor()
    await page.getByRole('heading', { name: 'Sign in to Countersign' }).waitFor()
    expect(await page.getByTestId('grant').count()).toBe(0)
    expect(await secretIn(page)).toBeNull()
  }))
