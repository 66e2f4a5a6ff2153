import * as wire from '@countersign/core'
import type { Browser, Page } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

const { answer } = hostileAnswers(plant(), wire)
const [key] = (answer('GET', '/api/keys', new URLSearchParams())?.body as { items: object[] } | undefined)?.items ?? []
const keys = ['Ana', 'Ben'].map((name) => ({ ...key, id: `key_${name}`, name, revokedAt: null }))
let revoked: string[] = []
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({
    answer(method, path, query) {
      if (method === 'DELETE') revoked.push(path)
      if (method === 'GET' && path === '/api/keys') return { body: { items: keys, nextCursor: null } }
      return answer(method, path, query)
    },
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

async function openKeys(): Promise<Page> {
  revoked = []
  const page = await browser.newPage({ locale: 'en-GB' })
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  await page.goto(`${server.url}/keys`)
  return page
}

/** Opens the question whether a key is to be revoked. */
async function ask(page: Page, name: string) {
  await page
    .getByRole('listitem')
    .filter({ hasText: name })
    .getByRole('button', { name: /^Revoke/ })
    .click()
  const dialog = page.getByRole('alertdialog', { name: `Revoke the key of ${name}?` })
  await dialog.waitFor()
  return dialog
}

test('the late answer to a change whose dialog was cancelled does not close the next dialog', async () => {
  const page = await openKeys()
  const held = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  await page.route('**/api/keys/key_Ana', async (route) => {
    await held.promise
    await route.fulfill({ json: { ...keys[0], revokedAt: '2026-11-28T10:00:00.000Z' } })
    done.resolve()
  })
  const first = await ask(page, 'Ana')
  await first.getByRole('button', { name: 'Revoke' }).click()
  await first.getByRole('button', { name: 'Cancel' }).click()
  const second = await ask(page, 'Ben')
  // The page reads the list again when it has the answer.
  const read = page.waitForResponse((response) => response.url().includes('/api/keys?') || response.url().endsWith('/api/keys'))
  held.resolve()
  await done.promise
  await read
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
  expect(await second.isVisible()).toBe(true)
  await page.close()
})

test('a change without a network fails at once, and is not made later', async () => {
  const page = await openKeys()
  const dialog = await ask(page, 'Ana')
  await page.context().setOffline(true)
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.context().setOffline(false)
  // What waits for the network is sent before this.
  await page.evaluate(async () => {
    await new Promise((later) => setTimeout(later))
    await fetch('/api/keys')
  })
  expect(revoked).toEqual([])
  await page.close()
})

test('a change that takes away the button that led to it leaves the focus where that was, not at the start of the document', async () => {
  const page = await openKeys()
  let left: { name: string; revokedAt: string | null }[] = keys
  await page.route(/\/api\/keys(\?|$)/, (route) => route.fulfill({ json: { items: left, nextCursor: null } }))
  await page.route('**/api/keys/key_*', (route) => route.fulfill({ json: keys[0] }))
  const focused = () =>
    page.evaluate(() => {
      const at = document.activeElement
      return at?.matches('li, ul') ? (at.getAttribute('aria-label') ?? at.querySelector('strong')?.textContent) : at?.tagName
    })
  for (const name of ['Ana', 'Ben']) {
    const dialog = await ask(page, name)
    // Revoked, the first one stays and has no button any more; the second one leaves the list.
    left =
      name === 'Ana' ? left.map((key) => (key.name === name ? { ...key, revokedAt: '2026-11-28T10:00:00.000Z' } : key)) : left.slice(0, 1)
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(focused).toBe(name === 'Ana' ? 'Ana' : 'Keys')
  }
  await page.close()
})

test('who cancelled the deletion of a session and is elsewhere when its answer comes stays there', async () => {
  revoked = []
  const page = await browser.newPage({ locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  const held = Promise.withResolvers<void>()
  const read = (path: string) => answer('GET', path, new URLSearchParams())?.body as object
  const { principal } = read('/api/me') as { principal: wire.Principal }
  await page.route('**/api/sessions/ses_000001', async (route) => {
    if (route.request().method() !== 'DELETE')
      return await route.fulfill({ json: { ...read('/api/sessions/ses_000001'), owner: principal } })
    await held.promise
    await route.fulfill({ status: 204 })
  })
  await page.goto(`${server.url}/sessions/ses_000001`)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  const dialog = page.getByRole('alertdialog')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Policy', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Policy' }).waitFor()
  // The page reads the list of sessions again when it has the answer.
  const listed = page.waitForResponse(/\/api\/sessions\?/)
  held.resolve()
  await listed
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
  expect(new URL(page.url()).pathname).toBe('/policy')
  await page.close()
})
