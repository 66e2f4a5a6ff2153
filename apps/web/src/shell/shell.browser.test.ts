import * as wire from '@countersign/core'
import type { Browser, Page } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drawn } from '../testing/drawn.ts'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

const answers = hostileAnswers(plant(), wire)
/** How many pages of a search hold nothing before one does. */
let emptyPages = 0
let searched = new Set<number>()
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({
    answer(method, path, query) {
      if (path === '/api/actions' && query.get('state') === 'outcome_unknown') {
        return { body: { items: [{ ...answers.newAction, id: 'act_unknown', state: 'outcome_unknown' }], nextCursor: null } }
      }
      if (path === '/api/sessions' && query.get('q')) {
        const at = Number(query.get('cursor') ?? 0)
        searched.add(at)
        if (at < emptyPages) return { body: { items: [], nextCursor: String(at + 1) } }
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

async function openPage(path: string, width: number): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 844 }, locale: 'en-GB' })
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  await page.goto(server.url + path)
  await page.locator('h1').first().waitFor()
  return page
}

test.for([320, 390])('at %i px the menu button says how much waits, and the icons of the bar stand on one line', async (width) => {
  const page = await openPage('/', width)
  const button = page.getByTestId('open-sidebar')
  await button.locator('.badge').waitFor()
  // All at one moment: the count grows while the list is being read.
  const { count, label, box, icon, title } = await button.evaluate((button) => {
    const badge = button.querySelector('.badge')
    return {
      count: badge?.textContent,
      label: button.getAttribute('aria-label'),
      box: badge?.getBoundingClientRect().toJSON(),
      icon: button.querySelector('svg')?.getBoundingClientRect().toJSON(),
      title: document.querySelector('h1')?.getBoundingClientRect().toJSON(),
    }
  })
  expect(Number(count)).toBeGreaterThan(0)
  expect(label).toBe(`Open menu, ${count} waiting for you`)
  expect(box.x).toBeGreaterThanOrEqual(0)
  expect(box.y).toBeGreaterThanOrEqual(0)
  expect(box.x + box.width).toBeLessThanOrEqual(title.x)
  // Most of the icon stays in sight.
  expect(box.y + box.height).toBeLessThan(icon.y + icon.height / 3)
  const middles = await page.locator('.top-bar .icon-button:visible, .top-bar .account').evaluateAll((nodes) =>
    nodes.map((node) => {
      const { top, height } = node.getBoundingClientRect()
      return Math.round(top + height / 2)
    }),
  )
  expect(Math.max(...middles) - Math.min(...middles)).toBeLessThanOrEqual(1)
  await button.click()
  await page.getByTestId('waiting-link').waitFor()
  await page.close()
})

/** Opens a page whose answer at this address comes once it is released. */
async function openWaiting(path: string, address: string): Promise<{ page: Page; release: () => void }> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 844 } })
  page.setDefaultTimeout(280_000)
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    await promise
    await route.continue()
  })
  await page.goto(server.url + path)
  return { page, release: resolve }
}

test('a button of the bar can be pressed while the agents of a new chat come: it stays the same one', async () => {
  const { page, release } = await openWaiting('/', '**/api/agents')
  const button = await page.getByTestId('account').elementHandle()
  release()
  await page.getByTestId('agent-name').waitFor()
  expect(await button?.evaluate((node) => node.isConnected)).toBe(true)
  await page.close()
})

test('a button of the bar can be pressed while a chat loads: it stays the same one, and the loaded chat’s heading gets the focus', async () => {
  const { page, release } = await openWaiting('/sessions/ses_000001', '**/api/sessions/ses_000001')
  await page.getByRole('heading', { level: 1, name: 'Loading…' }).waitFor()
  const button = await page.getByTestId('account').elementHandle()
  release()
  await page.getByTestId('agent-name').waitFor()
  expect(await button?.evaluate((node) => node.isConnected)).toBe(true)
  await page.locator('h1:focus').waitFor()
  await page.close()
})

test('a menu that was opened with the keyboard while a chat loads keeps the focus', async () => {
  const { page, release } = await openWaiting('/sessions/ses_000001', '**/api/sessions/ses_000001')
  await page.getByTestId('account').press('Enter')
  await page.getByRole('menu').waitFor()
  release()
  await page.getByTestId('agent-name').waitFor()
  await page.keyboard.press('End')
  await page.locator('[role=menuitem]:focus', { hasText: 'Sign out everywhere' }).waitFor()
  await page.close()
})

test('who comes to a new chat without an agent, or whose agents do not load, is on its heading', async () => {
  for (const answer of [{ json: { items: [] } }, { status: 403, json: { code: 'forbidden', detail: 'not for you' } }]) {
    const page = await openPage('/tools', 1_280)
    await page.route('**/api/agents', (route) => route.fulfill(answer))
    await page.getByRole('link', { name: 'New chat' }).click()
    await page.locator('main .empty').waitFor()
    await page.locator('h1:focus').waitFor()
    await page.close()
  }
})

test('the name of the inbox stays on one line beside what is overdue and unknown', async () => {
  const page = await openPage('/', 1280)
  await page.getByTestId('waiting-alarms').waitFor()
  const height = async (name: string) => (await page.getByRole('link', { name }).first().boundingBox())?.height
  expect(await height('Inbox')).toBe(await height('Policy'))
  await page.close()
})

test('the tab is called as the page is, after what needs this person', async () => {
  const page = await openPage('/tools', 1_280)
  const titled = async () => {
    const [title, heading] = [await page.title(), await page.locator('h1').first().textContent()]
    return title.replace(/^\(\d+.*?\) /, '') === `${heading} – Countersign`
  }
  await expect.poll(titled).toBe(true)
  await page.getByRole('navigation').getByRole('link', { name: 'Dashboard' }).click()
  await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor()
  await expect.poll(titled).toBe(true)
  await expect.poll(() => page.title()).toMatch(/^\(\d+, .*1 outcome unknown\) Dashboard – Countersign$/)
})

test('a search that finds nothing at first goes on by itself until it finds something', async () => {
  emptyPages = 3
  searched = new Set()
  const page = await openPage('/?sessions=lamp', 1280)
  await page.getByTestId('session-item').first().waitFor()
  expect([...searched]).toEqual([0, 1, 2, 3])
  await page.close()
})

test('a search that finds nothing in the newest 10,000 sessions stops, says so, and goes on when it is told to', async () => {
  emptyPages = 5
  searched = new Set()
  const page = await openPage('/?sessions=lamp', 1280)
  await page.getByText('There are older ones to search.').waitFor()
  expect(searched.size).toBe(5)
  await page.getByRole('button', { name: 'Search older sessions' }).click()
  await page.getByTestId('session-item').first().waitFor()
  expect([...searched]).toEqual([0, 1, 2, 3, 4, 5])
  await page.close()
})

test('older sessions that somebody asked for come, although an approval arrives meanwhile', async () => {
  emptyPages = 5
  const page = await openPage('/?sessions=lamp', 1280)
  await page.getByText('There are older ones to search.').waitFor()
  const arrived = Promise.withResolvers<void>()
  await page.route(/\/api\/sessions\?.*cursor=5/, async (route) => {
    await arrived.promise
    // Without effect where the page has given the request up.
    await route.continue().catch(() => undefined)
  })
  const asked = page.waitForRequest(/\/api\/sessions\?.*cursor=5/)
  await page.getByRole('button', { name: 'Search older sessions' }).click()
  await asked
  const count = page.getByTestId('waiting-count')
  const before = await count.textContent()
  server.push('/api/events', 'action_proposed', { proposal: { ...answers.newAction, id: 'act_arrived' } })
  await expect.poll(() => count.textContent()).not.toBe(before)
  await drawn(page)
  arrived.resolve()
  await page.getByTestId('session-item').first().waitFor()
  await page.close()
})

test('a letter that is typed while the address takes the search so far stays in the field', async () => {
  emptyPages = 0
  const page = await openPage('/', 1280)
  const field = page.getByRole('searchbox', { name: 'Search sessions' })
  await field.waitFor()
  await field.evaluate((field: HTMLInputElement) => {
    const { replaceState } = history
    // Between the new address and the page that is drawn with it.
    history.replaceState = (...how) => {
      history.replaceState = replaceState
      history.replaceState(...how)
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, 'lamp')
      field.dispatchEvent(new Event('input', { bubbles: true }))
    }
  })
  await field.fill('lam')
  await page.waitForURL(/\?sessions=lamp$/)
  expect(await field.inputValue()).toBe('lamp')
  await page.close()
})

test('who searches the sessions from a new chat stays in the search and keeps the agent; another new chat begins anew', async () => {
  emptyPages = 0
  const page = await browser.newPage({ viewport: { width: 1280, height: 844 } })
  page.setDefaultTimeout(280_000)
  const items = ['reader', 'payer'].map((name) => ({ name, suggestions: [] }))
  await page.route('**/api/agents', (route) => route.fulfill({ json: { items } }))
  await page.goto(server.url)
  const picker = page.getByTestId('agent-picker')
  await picker.selectOption('payer')
  await page.getByRole('searchbox', { name: 'Search sessions' }).fill('lamp')
  await page.waitForURL(/\?sessions=lamp$/)
  await page.getByRole('combobox', { name: 'Status of sessions' }).focus()
  await page.getByRole('combobox', { name: 'Status of sessions' }).selectOption('completed')
  await page.waitForURL(/sessions=lamp&/)
  await drawn(page)
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Status of sessions')
  expect(await picker.inputValue()).toBe('payer')
  await page.getByRole('link', { name: 'New chat' }).click()
  await expect.poll(() => picker.inputValue()).toBe('reader')
  await page.locator('textarea:focus').waitFor()
  await page.close()
})
