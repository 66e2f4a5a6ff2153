import { AxeBuilder } from '@axe-core/playwright'
import * as wire from '@countersign/core'
import type { Browser, Page } from '@playwright/test'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

const SINCE = '2026-11-22T10:00:00.000Z'
const CHANGE = {
  hash: 'b'.repeat(64),
  fields: [{ field: 'the tool’s description', oldValue: 'Writes a note', newValue: 'Writes a note, and sends it' }],
}
const tool = (name: string, more: object = {}) => ({
  ...{ name, modelName: name.replace('.', '_'), group: name.split('.')[0], kind: 'mcp', description: `Does ${name}`, effect: 'write' },
  ...{ executor: 'server', idempotent: false, destination: 'https://notes.example', inputSchema: { type: 'object' } },
  risk: { level: 'medium', reason: 'changes data', isGuess: true },
  ...more,
})
const TOOLS = [
  tool('shop.refund', {
    kind: 'routes',
    usual: { verdict: 'allow', rule: 'small refunds run', mayDiffer: 2 },
    lastCall: { id: 'act_1', state: 'declined', createdAt: SINCE },
  }),
  tool('notes.write', { caution: 'The MCP server notes says something else', usual: { verdict: 'ask', rule: null, mayDiffer: 0 } }),
]

const answers = hostileAnswers(plant(), wire)
let accepted: string[] = []
let isAway = false
let fails = false
let isEmpty = false
let mayReadPolicy = true
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({
    answer(method, path, query) {
      const change = accepted.length === 0 ? CHANGE : null
      if (path === '/api/me') {
        const principal = { id: 'prn_ann', kind: 'person', name: 'Ann', roles: ['admin', 'approver'] }
        return { body: { principal, signIn: 'key' } }
      }
      if (path === '/api/hold') return { body: { held: false, why: null, since: null, epoch: 1, open: null } }
      if (path === '/api/audit/seal')
        return { body: { problem: null, head: null, memory: { place: 'file', since: null, from: null }, anchor: null } }
      if (path === '/api/tools' && fails)
        return { status: 500, body: { status: 500, code: 'internal', title: 'Broken', detail: 'It broke.' } }
      if (path === '/api/tools')
        return { body: { items: isEmpty ? [] : TOOLS.map((one) => (mayReadPolicy ? one : { ...one, usual: undefined })) } }
      if (path === '/api/tools/notes.write/accept') {
        accepted.push(path)
        return { body: { accepted: 'notes.write' } }
      }
      if (path === '/api/tools/notes.write') {
        const policy = {
          version: 3,
          default: 'ask',
          rules: [
            { rule: 'notes run', verdict: 'allow', always: true },
            { rule: 'large ones', verdict: 'ask', always: false, when: 'size(args.text) > 100' },
          ],
        }
        return {
          body: {
            ...tool('notes.write'),
            ...(change && { caution: 'It changed' }),
            change,
            policy,
            usual: { verdict: 'allow', rule: 'notes run', mayDiffer: 1 },
          },
        }
      }
      if (path === '/api/sources') {
        const away = { since: SINCE, why: 'The MCP server notes exited' }
        return { body: { items: [{ group: 'notes', kind: 'mcp', tools: 2, away: isAway ? away : null }] } }
      }
      if (path === '/api/actions') return { body: { items: [], nextCursor: null } }
      return answers.answer(method, path, query)
    },
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})
beforeEach(() => {
  accepted = []
  isAway = false
  fails = false
  isEmpty = false
  mayReadPolicy = true
})

async function openPage(path: string, { width = 1100, dark = false } = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 700 }, locale: 'en-GB', colorScheme: dark ? 'dark' : 'light' })
  const page = await context.newPage()
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  await page.goto(server.url + path)
  await page.locator('h1').first().waitFor()
  await page.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' })
  return page
}

const violations = async (page: Page) =>
  (await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']).analyze()).violations.map(({ id, nodes }) => ({
    id,
    at: nodes.map(({ target }) => target.join(' ')),
  }))

test('tools that changed come first, and are found by name, words and source; the address keeps the search', async () => {
  const page = await openPage('/tools')
  const names = page.getByTestId('tool').getByRole('rowheader').getByRole('link')
  expect(await names.allTextContents()).toEqual(['notes.write', 'shop.refund'])
  await page.getByText('2 tools, 1 changed').waitFor()
  await page.getByRole('searchbox', { name: 'Find by name or words' }).fill('routes refund')
  await page.getByTestId('tool').nth(1).waitFor({ state: 'detached' })
  expect(await names.allTextContents()).toEqual(['shop.refund'])
  await page.reload()
  await page.getByTestId('tool').first().waitFor()
  expect(await names.allTextContents()).toEqual(['shop.refund'])
  await page.getByRole('combobox', { name: 'Source' }).selectOption('notes')
  await page.getByText('No tool matches').waitFor()
  await page.close()
})

test('each tool has the rule that meets it and its last call, on a phone below its name; who may not read the policy sees no rule', async () => {
  for (const width of [1280, 390]) {
    const page = await openPage('/tools', { width })
    const refund = page.getByTestId('tool').filter({ hasText: 'shop.refund' })
    expect(await refund.getByRole('link', { name: 'small refunds run' }).getAttribute('href')).toBe('/policy?rule=small+refunds+run')
    expect(await refund.textContent()).toContain('+ 2 with a condition')
    expect(await refund.getByRole('link', { name: /^Declined, / }).getAttribute('href')).toBe('/actions/act_1')
    const notes = await page.getByTestId('tool').filter({ hasText: 'notes.write' }).textContent()
    expect(notes).toMatch(/Ask No rule matches.*none lately/)
    const [name, rule] = await Promise.all([refund.getByRole('rowheader'), refund.getByText('Allow')].map((part) => part.boundingBox()))
    expect([width, (rule?.y ?? 0) > (name?.y ?? 0) + 24]).toEqual([width, width === 390])
    await page.context().close()
  }
  mayReadPolicy = false
  const page = await openPage('/tools')
  await page.getByTestId('tool').first().waitFor()
  expect(await page.getByRole('columnheader').allTextContents()).toEqual(['Tool', 'Source', 'Last call'])
  await page.context().close()
})

test('a change is read as a diff, accepted after a confirmation by keys alone, and gone from the page', async () => {
  const page = await openPage('/tools/notes.write')
  const change = page.getByTestId('tool-change')
  expect(await change.locator('del').textContent()).toContain('Writes a note')
  expect(await change.locator('ins').textContent()).toContain('Writes a note, and sends it')
  await page.getByText('Until the change is accepted').waitFor()
  await page.getByRole('button', { name: 'Accept the change' }).press('Enter')
  const dialog = page.getByRole('alertdialog', { name: 'Accept this change?' })
  await dialog.waitFor()
  // The focus is on Cancel: Enter held too long accepts nothing.
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  expect(accepted).toEqual([])
  await page.getByRole('button', { name: 'Accept the change' }).press('Enter')
  await dialog.getByRole('button', { name: 'Accept', exact: true }).press('Enter')
  await change.waitFor({ state: 'detached' })
  expect(accepted).toHaveLength(1)
  await page.getByText('Calls run without asking: “notes run”. One rule with a condition may decide otherwise.').waitFor()
  await page.close()
})

test('every page says which source is away, since when and what that means, and stops when it is back', async () => {
  isAway = true
  const page = await openPage('/tools')
  const banner = page.getByTestId('source-away')
  await banner.waitFor()
  expect(await banner.textContent()).toMatch(/notes is away since .*its calls fail before anything is sent.*exited.*Its 2 tools/)
  await page.goto(`${server.url}/grants`)
  await banner.waitFor()
  isAway = false
  await banner.waitFor({ state: 'detached' })
  await page.close()
})

test('without tools the page says how to add one; an error says what failed and is tried again', async () => {
  isEmpty = true
  const page = await openPage('/tools')
  await page.getByText('No tools yet').waitFor()
  isEmpty = false
  fails = true
  await page.reload()
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor()
  fails = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByTestId('tool').nth(1).waitFor()
  await page.close()
})

test.for([false, true])('axe finds nothing on the pages of tools and in the area of access, dark: %s; 320 px are enough', async (dark) => {
  isAway = true
  for (const path of ['/tools', '/tools/notes.write', '/grants']) {
    const page = await openPage(path, { width: 320, dark })
    await page.getByTestId('source-away').waitFor()
    expect({ path, found: await violations(page) }).toEqual({ path, found: [] })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
    await page.context().close()
  }
})
