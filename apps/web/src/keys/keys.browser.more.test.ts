import * as wire from '@countersign/core'
import type { Browser } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

const { answer } = hostileAnswers(plant(), wire)
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({ answer })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

test('on a phone, no choice of the form for a key is cut', async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 }, locale: 'en-GB' })
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  await page.goto(`${server.url}/keys`)
  await page.getByText('Make a key').first().click()
  await page.getByLabel('Good').waitFor()
  const cut = await page.locator('form select').evaluateAll((all) =>
    all.flatMap((select) => {
      const given = select.getBoundingClientRect().width
      // Widens the select to its longest option.
      Object.assign((select as HTMLSelectElement).style, { width: 'max-content', justifySelf: 'start' })
      return select.getBoundingClientRect().width > given ? [select.parentElement?.textContent] : []
    }),
  )
  expect(cut).toEqual([])
})

test('on a phone, a key that was made comes into view with the focus, for it is shown only once; closed, the focus is at the list', async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 }, locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  const made = answer('POST', '/api/keys', new URLSearchParams())?.body as wire.CreatedKey
  await page.route('**/api/keys', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 201, json: { ...made, principal: { ...made.principal, name: 'Ana' }, key: 'cs_secret' } })
      : route.fallback(),
  )
  await page.goto(`${server.url}/keys`)
  await page.getByText('Make a key').first().click()
  await page.getByLabel('Name', { exact: true }).fill('Ana')
  await page.getByRole('button', { name: 'Make a key' }).click()
  const text = page.getByTestId('key-text')
  await text.waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-testid'))).toBe('made-key')
  const box = await text.boundingBox()
  expect(box?.y).toBeGreaterThanOrEqual(0)
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(844)
  await page.getByRole('button', { name: 'I have it' }).click()
  await text.waitFor({ state: 'detached' })
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Keys')
  await page.close()
})

test('a role may have spaces: roles are separated by commas alone, and the page says which ones the new key has', async () => {
  const page = await browser.newPage({ locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  const made = answer('POST', '/api/keys', new URLSearchParams())?.body as wire.CreatedKey
  const sent: wire.CreateKeyBody[] = []
  await page.route('**/api/keys', (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    const body: wire.CreateKeyBody = route.request().postDataJSON()
    sent.push(body)
    return route.fulfill({ status: 201, json: { ...made, principal: { ...made.principal, name: body.name, roles: body.roles } } })
  })
  await page.goto(`${server.url}/keys`)
  await page.getByText('Make a key').first().click()
  await page.getByLabel('Name', { exact: true }).fill('Ana')
  await page.getByLabel('Roles').fill(' Finance Team, approver emea ,,legal,')
  await page.getByRole('button', { name: 'Make a key' }).click()
  const shown = page.getByTestId('made-key')
  await shown.waitFor()
  expect(sent.map(({ roles }) => roles)).toEqual([['Finance Team', 'approver emea', 'legal']])
  expect(await shown.textContent()).toContain('It carries the roles Finance Team, approver emea, legal.')
  await page.close()
})

test('a key that was made for some roles is listed with those that its person still has', async () => {
  const page = await browser.newPage({ locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  const listed = answer('GET', '/api/keys', new URLSearchParams())?.body as wire.KeyList
  const [held] = listed.items
  const key = (id: string, roles: string[] | null, has: string[]) => ({
    ...held,
    ...{ id, name: id, roles, principal: { ...held?.principal, roles: has } },
  })
  const items = [key('lost', ['admin'], ['viewer']), key('half', ['admin', 'viewer'], ['viewer']), key('all', null, ['approver', 'viewer'])]
  await page.route('**/api/keys?*', (route) => route.fulfill({ json: { items, nextCursor: null } }))
  await page.route('**/api/keys', (route) => route.fulfill({ json: { items, nextCursor: null } }))
  await page.goto(`${server.url}/keys`)
  await page.getByTestId('key').first().waitFor()
  const rows = await page.getByTestId('key').locator('.row-head .muted').allInnerTexts()
  expect(rows.map((text) => text.split(' · ')[1])).toEqual(['no roles', 'role viewer', 'roles approver, viewer'])
  await page.close()
})

test('a key to accept says with which roles its holder would act, also one behind many others', async () => {
  const page = await browser.newPage({ locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  const listed = answer('GET', '/api/keys/own', new URLSearchParams())?.body as wire.KeyList
  const [own] = listed.items
  const key = (id: string, roles: string[] | null, scopes: wire.KeyScope[] | null) => ({
    ...own,
    ...{ id, name: id, roles, scopes, principal: { ...own?.principal, roles: ['approver', 'legal'] } },
  })
  const pages = [
    { items: [{ ...key('accepted', null, null), acceptedAt: own?.createdAt }], nextCursor: 'more' },
    {
      items: [key('one', ['approver'], null), key('two', ['approver', 'gone'], ['decide']), key('none', ['gone'], null)],
      nextCursor: 'last',
    },
    { items: [key('all', null, null), key('read', null, [])], nextCursor: null },
  ]
  await page.route('**/api/keys/own*', (route) => {
    const cursor = new URL(route.request().url()).searchParams.get('cursor')
    return route.fulfill({ json: pages[cursor === 'more' ? 1 : cursor === 'last' ? 2 : 0] })
  })
  await page.goto(`${server.url}/consoles`)
  await expect.poll(() => page.getByTestId('unaccepted-key').count()).toBe(5)
  const rows = await page.getByTestId('unaccepted-key').locator('.muted').allInnerTexts()
  expect(rows.map((text) => text.split(' · ')[1])).toEqual([
    'for all that you may, with the role approver',
    'only to read, decide, with the role approver',
    'for all that you may, with no roles',
    'for all that you may',
    'only to read',
  ])
  await page.close()
})
