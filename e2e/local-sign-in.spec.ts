import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import { expect, type Page, test } from '@playwright/test'
import { fromAnotherPort, sendFrom, startNeighbour } from '../verification/testing/neighbour.ts'
import { setColours } from './busy.ts'
import { expectNoSideScroll } from './demo.ts'
import { startServer } from './server.ts'

/** A console to sign in at, and one link for it. */
async function withServer(work: (server: { url: string; link: string }) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-e2e-'))
  const { url, link, end } = await startServer(folder, {})
  try {
    await work({ url, link })
  } finally {
    await end()
    await rm(folder, { recursive: true })
  }
}

const isIn = (page: Page) => expect(page.getByTestId('account')).toBeVisible()

test('without a link the console says how to get one; a link signs in once, in whatever page it is opened', async ({ browser }) => {
  await withServer(async ({ url, link }) => {
    const mine = await browser.newContext()
    const page = await mine.newPage()
    await page.goto(`${url}/waiting`)
    await expect(page.getByTestId('sign-in-link')).toContainText('run countersign sign-in on the machine of this server')
    for (const colorScheme of ['light', 'dark'] as const) {
      await setColours(page, colorScheme)
      const { violations } = await new AxeBuilder({ page }).analyze()
      expect(violations.map(({ id }) => id)).toEqual([])
    }
    await page.setViewportSize({ width: 320, height: 700 })
    await expectNoSideScroll(page)
    await page.setViewportSize({ width: 1280, height: 800 })

    // A second tab that waits at the same page is let in with it.
    const waiting = await mine.newPage()
    await waiting.goto(url)
    await waiting.getByTestId('sign-in-link').waitFor()
    // So is a third one, which has asked who is signed in and hears the answer of before only later.
    const slow = await mine.newPage()
    const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await slow.route('**/api/me', async (route) => {
      const response = await route.fetch()
      asked.resolve()
      await released.promise
      await route.fulfill({ response })
    })
    await slow.goto(url)
    await asked.promise
    // The address of the open page changes, and nothing else: pasted into its address bar.
    await page.evaluate((hash) => location.assign(hash), new URL(link).hash)
    await isIn(page)
    await isIn(waiting)
    released.resolve()
    await isIn(slow)
    expect(page.url()).toBe(`${url}/waiting`)
    expect(await mine.cookies()).toEqual([])
    await page.reload()
    await isIn(page)

    const other = await browser.newContext()
    const late = await other.newPage()
    await late.goto(link)
    await expect(late.getByRole('alert')).toContainText('this sign-in link was used already')
    await expect(late.getByTestId('sign-in-link')).toBeVisible()
    expect(late.url()).toBe(`${url}/`)
    await page.goto(`${url}/record?kind=sign_in_refused`)
    await expect(page.getByTestId('record-row')).toHaveCount(1)
    await expect(page.getByTestId('record-row')).toContainText('Sign-in refused')

    await page.getByTestId('account').click()
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
    await page.getByTestId('sign-in-link').waitFor()
    await waiting.getByTestId('sign-in-link').waitFor()
    await Promise.all([mine.close(), other.close()])
  })
})

test('a server on another port of the same host is sent nothing of the console’s sign-in, and can do nothing with it', async ({
  browser,
}) => {
  await using neighbour = await startNeighbour()
  await withServer(async ({ url, link }) => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(link)
    await isIn(page)
    const secret = await page.evaluate(() => localStorage.getItem('countersign.console'))
    expect(secret).toMatch(/^[\w-]{43}$/)

    const { port, seen } = neighbour
    const beside = await context.newPage()
    for (const host of ['localhost', new URL(url).hostname]) await beside.goto(`http://${host}:${port}/`)
    expect(await beside.evaluate(() => [document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage)])).toEqual([
      '',
      '{}',
      '{}',
    ])
    // A page of the console leads there too, with what a browser sends by itself.
    await page.evaluate(
      (address) => fetch(address, { mode: 'no-cors', credentials: 'include' }).catch(() => undefined),
      `http://localhost:${port}/`,
    )
    expect(seen.length).toBeGreaterThanOrEqual(2)
    for (const { headers, url: asked } of seen) {
      expect(headers.cookie).toBeUndefined()
      expect(JSON.stringify([headers, asked])).not.toContain(secret)
    }

    // From there the console's server knows nobody.
    const answers = await sendFrom(beside, url, fromAnotherPort('act_none'))
    expect(answers).toEqual(answers.map(() => 'unreadable'))
    await context.close()
  })
})
