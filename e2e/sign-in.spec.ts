import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base, expect, type Page } from '@playwright/test'
import { freePort } from '../verification/testing/free-port.ts'
import { startSignInService, type TestSignInService } from '../verification/testing/sign-in-service.ts'
import { startServer } from './server.ts'

/** A server whose people sign in with the certified provider, on this machine. */
const test = base.extend<{ house: { url: string; provider: TestSignInService } }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that a fixture needs from this pattern.
  house: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-e2e-'))
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const provider = await startSignInService(`${url}/sign-in/callback`, `${url}/`)
    const { issuer, clientId, clientSecret } = provider
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a configuration file names a variable.
    const oidc = { issuer, clientId, clientSecret: '${OIDC_SECRET}', roles: { 'cs-approvers': 'approver' } }
    const options = { flags: ['--port', String(port)], environment: { OIDC_SECRET: clientSecret } }
    const server = await startServer(folder, { signIn: { oidc } }, options)
    await use({ url, provider })
    await server.end()
    await provider[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  },
})

/** How a request of the console's own page is answered. */
const statusOf = (page: Page, path: string): Promise<number> =>
  page.evaluate(async (wanted) => {
    const secret = localStorage.getItem('countersign.console')
    return (await fetch(wanted, { headers: secret === null ? {} : { 'countersign-console': secret } })).status
  }, path)

test('people sign in with the provider: a role from a group; out again; and somebody without a role finds nothing to do', async ({
  page,
  house: { url, provider },
}) => {
  const menu = page.getByRole('menu')
  const signIn = page.getByTestId('sign-in-service')

  provider.person = { sub: 'ada-1', name: 'Ada Lovelace', groups: ['cs-approvers', 'finance'] }
  await page.goto(`${url}/waiting`)
  await signIn.click()
  // Back at the page that was asked for, and nothing of the answer in the address.
  await expect(page.getByRole('heading', { name: 'Inbox', level: 1 })).toBeVisible()
  expect(page.url()).toBe(`${url}/waiting`)
  await page.getByTestId('account').click()
  for (const text of ['Ada Lovelace', 'approver', 'finance']) await expect(menu).toContainText(text)
  await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
  // The provider asks whether its own session is to end, too.
  await page.getByRole('button', { name: /yes, sign me out/i }).click()
  await expect(signIn).toBeVisible()
  expect(await statusOf(page, '/api/sessions')).toBe(401)
  expect(await page.context().cookies(url)).toEqual([])

  provider.person = { sub: 'bob-1', name: 'Bob', groups: [] }
  await signIn.click()
  await page.getByTestId('account').click()
  for (const text of ['Bob', 'no roles']) await expect(menu).toContainText(text)
  await menu.press('Escape')
  await expect(menu).toHaveCount(0)
  for (const name of ['Policy', 'Grants', 'Delegations', 'Record', 'People', 'Keys'])
    await expect(page.getByRole('link', { name })).toHaveCount(0)
  expect(await statusOf(page, '/api/policy')).toBe(403)
})
