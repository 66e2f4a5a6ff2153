import AxeBuilder from '@axe-core/playwright'
import * as wire from '@countersign/core'
import type { Browser, Page } from '@playwright/test'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'
import { requires, waitingActions } from '../testing/waiting-action.ts'

const { answers, actionOf } = waitingActions(wire)
const me = { id: 'prn_me', kind: 'person', name: 'Mia', roles: ['approver', 'finance'] } as const
const ben = { id: 'prn_ben', kind: 'person', name: 'Ben', roles: ['approver'] } as const
const sendOf = (id: string, more: object = {}): wire.Action =>
  actionOf(id, { assignment: null, createdAt: `2026-11-21T10:00:0${['one', 'two', 'three', 'four'].indexOf(id)}.000Z`, ...more })
const problem = (status: number, body: object) => ({ status, body: { code: 'illegal_transition', detail: 'It was refused.', ...body } })

let waiting: wire.Action[] = []
let snoozes: wire.Snooze[] = []
let changes: string[] = []
/** Errors that the server returns instead of making a change, by the id of the action. */
let refusals: Record<string, { status: number; body: object }> = {}
let page: Page
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({
    answer(method, path, query) {
      if (path === '/api/me') return { body: { principal: me, signIn: 'key' } }
      if (path === '/api/people') return { body: { items: [{ id: ben.id, name: ben.name }], nextCursor: null } }
      if (path === '/api/snoozes') return { body: { items: snoozes, nextCursor: null } }
      if (path === '/api/actions') {
        return { body: { items: waiting.filter(({ state }) => state === query.get('state')), nextCursor: null } }
      }
      const [, id = '', call] = /^\/api\/actions\/act_(\w+?)(?:\/(\w+))?$/.exec(path) ?? []
      const found = waiting.find((action) => action.id === `act_${id}`)
      if (!found || (call !== 'snooze' && call !== 'assign'))
        return found && call === undefined ? { body: found } : answers.answer(method, path, query)
      changes.push(`${method} ${call} ${id}`)
      const refusal = refusals[id]
      if (refusal) return refusal
      if (call === 'assign') return { body: found }
      snoozes = snoozes.filter(({ actionId }) => actionId !== found.id)
      const snooze = { actionId: found.id, until: '2099-01-01T00:00:00.000Z', createdAt: '2026-11-21T10:00:00.000Z' }
      if (method === 'POST') snoozes.push(snooze)
      return { body: method === 'POST' ? snooze : {} }
    },
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  waiting = [sendOf('one'), sendOf('two', { risk: { level: 'critical', reasons: [], setBy: 'policy' } }), sendOf('three')]
  snoozes = []
  changes = []
  refusals = {}
  // Axe wants a page of a context that was made by itself.
  const context = await browser.newContext({ viewport: { width: 1_200, height: 700 }, locale: 'en-GB' })
  page = await context.newPage()
  page.setDefaultTimeout(280_000)
})
afterEach(() => page.context().close())

async function open(search = '?view=waiting&order=oldest'): Promise<void> {
  await page.goto(`${server.url}/waiting${search}`)
  await page.getByTestId('waiting-row').first().waitFor()
}
const until = (what: () => unknown) => expect.poll(async () => what())
const bar = () => page.getByTestId('chosen-bar')
const dialog = (name: string) => page.getByRole('dialog', { name })
const outcome = () => page.getByTestId('bulk-outcome').textContent()
const chosen = () => page.locator('.inbox-row[aria-checked=true]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-row')))
const focusedRow = () => page.evaluate(() => document.activeElement?.getAttribute('data-row'))
const buttons = (name: string) =>
  dialog(name)
    .getByRole('button')
    .evaluateAll((all) => all.map((button) => button.textContent))

/** Chooses all rows by key. */
async function chooseAll(): Promise<void> {
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await until(focusedRow).toBe('act_one')
  for (const key of ['x', 'j', 'x', 'j', 'x']) await page.keyboard.press(key)
  await until(() => bar().textContent()).toContain(`${waiting.length} chosen`)
}

test('S snoozes all chosen rows, whatever their risk: each by a request of its own, and the focus returns to the list', async () => {
  await open()
  await chooseAll()
  await page.keyboard.press('s')
  await until(() =>
    dialog('Snooze 3 actions')
      .getByRole('button', { name: /^15 minutes/ })
      .evaluate((button) => button === document.activeElement),
  ).toBe(true)
  expect((await new AxeBuilder({ page }).include('[role=dialog]').analyze()).violations).toEqual([])
  await page.keyboard.press('Enter')
  await until(outcome).toMatch(/^3 actions snoozed until \d\d?:\d\d/)
  expect(changes.toSorted()).toEqual(['POST snooze one', 'POST snooze three', 'POST snooze two'])
  expect(await chosen()).toEqual([])
  await until(focusedRow).toBe('act_three')
  await until(() => page.locator('[data-row=act_two]').textContent()).toContain('Snoozed until')
})

test('what would expire before the time is left out, is named with the reason, and stays chosen', async () => {
  waiting[1] = sendOf('two', { expiresAt: new Date(Date.now() + 30 * 60_000).toISOString() })
  await open()
  await chooseAll()
  await page.keyboard.press('s')
  const hour = dialog('Snooze 3 actions').getByRole('button', { name: /^1 hour/ })
  await until(() => hour.textContent()).toContain('2 of 3')
  await hour.click()
  await until(outcome).toMatch(/^2 actions snoozed until .*1 action not snoozed:Send two: It expires too soon for that\./)
  expect(changes.toSorted()).toEqual(['POST snooze one', 'POST snooze three'])
  expect(await chosen()).toEqual(['act_two'])
  // The next choice is for what is left.
  await page.getByRole('button', { name: 'Clear' }).click()
  await until(focusedRow).toBe('act_three')
})

test('chosen rows that are snoozed go back to the inbox together', async () => {
  snoozes = waiting
    .slice(0, 2)
    .map(({ id }) => ({ actionId: id, until: '2099-01-01T00:00:00.000Z', createdAt: '2026-11-21T10:00:00.000Z' }))
  await open()
  await chooseAll()
  await page.keyboard.press('s')
  await dialog('Snooze 3 actions').getByRole('button', { name: 'Back to the inbox now' }).click()
  await until(outcome).toMatch(/^2 actions back in the inbox\./)
  expect(changes.toSorted()).toEqual(['DELETE snooze one', 'DELETE snooze two'])
})

test('M assigns all chosen rows; what a colleague assigned meanwhile is not overwritten, is told, and stays chosen', async () => {
  waiting[2] = sendOf('three', { requires: { ...requires, roles: ['approver', 'finance'] } })
  refusals.two = problem(409, { action: { ...waiting[1], assignment: { role: 'finance', by: ben, at: '2026-11-21T10:00:00.000Z' } } })
  const bodies: unknown[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/assign')) bodies.push(request.postDataJSON())
  })
  await open()
  await chooseAll()
  await page.keyboard.press('m')
  await dialog('Assign 3 actions').getByRole('button', { name: 'Ben' }).waitFor()
  expect(await buttons('Assign 3 actions')).toEqual(['I’m on it', 'The role approver', 'The role finance1 of 3', 'Ben', 'Cancel'])
  expect((await new AxeBuilder({ page }).include('[role=dialog]').analyze()).violations).toEqual([])
  await dialog('Assign 3 actions').getByRole('button', { name: 'Ben' }).click()
  await until(outcome).toMatch(/^2 actions assigned to Ben\. 1 action not assigned:Send two: Assigned to finance meanwhile, by Ben\./)
  expect(bodies).toEqual(Array(3).fill({ to: { person: 'prn_ben' }, was: null }))
  expect(await chosen()).toEqual(['act_two'])
  await until(() => page.locator('[data-row=act_two]').textContent()).toContain('Assigned to finance')
  await until(focusedRow).toBe('act_three')
})

test('what a colleague assigned meanwhile is told in the dialog, and can be assigned from there all the same', async () => {
  const assignment = { role: 'finance', by: ben, at: '2026-11-21T10:01:00.000Z' }
  refusals.one = problem(409, { action: { ...waiting[0], assignment } })
  const bodies: unknown[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/assign')) bodies.push(request.postDataJSON())
  })
  await open()
  await page.locator('[data-row=act_one]').click()
  await page.keyboard.press('m')
  const toBen = dialog('Assign').getByRole('button', { name: 'Ben' })
  await toBen.click()
  await dialog('Assign').getByText('Assigned to finance').waitFor()
  refusals = {}
  await toBen.click()
  await dialog('Assign').waitFor({ state: 'detached' })
  expect(bodies).toEqual([null, { role: 'finance' }].map((was) => ({ to: { person: ben.id }, was })))
})

test('a role is assigned only what it may decide about', async () => {
  waiting[2] = sendOf('three', { requires: { ...requires, roles: ['finance'] } })
  await open()
  await chooseAll()
  await page.keyboard.press('m')
  await dialog('Assign 3 actions').getByRole('button', { name: 'The role finance' }).click()
  await until(outcome).toContain('1 action assigned to finance. 2 actions not assigned:Send one, Send two: The role finance may not decide')
  expect(changes).toEqual(['POST assign three'])
  expect(await chosen()).toEqual(['act_one', 'act_two'])
})

test('without a network the page says so, sends no more than it has begun, and keeps the rows chosen', async () => {
  waiting.push(...Array.from({ length: 30 }, (_, at) => sendOf(`more${at}`, { createdAt: '2026-11-22T10:00:00.000Z' })))
  await open()
  await page.keyboard.press('x')
  await page.getByRole('button', { name: 'Choose all 33' }).click()
  await until(focusedRow).toBe('act_one')
  await page.keyboard.press('m')
  await dialog('Assign 33 actions').getByRole('button', { name: 'Ben' }).waitFor()
  let tried = 0
  page.on('requestfailed', (request) => {
    if (request.url().endsWith('/assign')) tried++
  })
  await page.context().setOffline(true)
  await dialog('Assign 33 actions').getByRole('button', { name: 'I’m on it' }).click()
  await until(outcome).toMatch(
    /^33 actions not assigned:.* and 5 more: No answer came: it may be done all the same\..* and 22 more: The server cannot be reached\./,
  )
  await until(() => bar().textContent()).toContain('Offline, decisions paused')
  // As many as are under way at a time.
  await until(() => tried).toBe(8)
  await page.context().setOffline(false)
  await until(() => bar().textContent()).toContain('33 chosen')
  expect(changes).toEqual([])
  await page.getByRole('button', { name: 'Close' }).click()
  await until(focusedRow).toBe('act_one')
})

test('a run can be stopped: what was sent is said, the rest stays chosen', async () => {
  await open()
  await chooseAll()
  const held: (() => Promise<void>)[] = []
  await page.route('**/act_two/snooze', (route) => void held.push(() => route.continue()))
  await page.keyboard.press('s')
  // The dialog is loaded when it is asked for; until then Enter opens the row.
  await until(() => page.evaluate(() => document.activeElement?.textContent)).toMatch(/^15 minutes/)
  await page.keyboard.press('Enter')
  await until(() => dialog('Snooze 3 actions').getByRole('progressbar').getAttribute('value')).toBe('2')
  expect(await buttons('Snooze 3 actions')).toEqual(['Stop'])
  await page.keyboard.press('Escape')
  expect(await dialog('Snooze 3 actions').count()).toBe(1)
  await until(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Stop')
  await page.keyboard.press('Enter')
  await until(outcome).toMatch(/^2 actions snoozed until .*1 action not snoozed:Send two: No answer came: it may be done all the same\./)
  expect(await chosen()).toEqual(['act_two'])
})

test('A and D with a choice open its preview, which leaves out what is critical and decides nothing; without a network neither does', async () => {
  await open()
  await chooseAll()
  const sent: string[] = []
  // A card that stays on the screen for a second says so to the server; that is no decision.
  page.on('request', (request) => request.method() === 'POST' && !request.url().endsWith('/seen') && sent.push(request.url()))
  for (const [key, name] of [
    ['a', 'Approve 2 actions of 3'],
    ['d', 'Decline 2 actions of 3'],
  ] as const) {
    await page.keyboard.press(key)
    await dialog(name).locator('.bulk-left li').waitFor()
    await until(() =>
      dialog(name)
        .getByRole('button', { name: 'Cancel' })
        .evaluate((button) => button === document.activeElement),
    ).toBe(true)
    await page.keyboard.press('Enter')
    await dialog(name).waitFor({ state: 'detached' })
  }
  await until(() => bar().textContent()).toContain('3 chosen')
  await page.context().setOffline(true)
  await until(() => bar().textContent()).toContain('Offline, decisions paused')
  for (const key of ['a', 'd']) await page.keyboard.press(key)
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await page.locator('.inbox-pane').textContent()).not.toContain('Press Enter')
  expect(sent).toEqual([])
})

test('the first row that is chosen offers all that are alike', async () => {
  waiting.push(sendOf('four'))
  await open()
  const alike = page.getByRole('button', { name: 'Choose 3 alike' }).and(bar().getByRole('button'))
  await page.keyboard.press('x')
  await alike.click()
  await until(chosen).toEqual(['act_one', 'act_three', 'act_four'])
  await until(() => alike.count()).toBe(0)
})

test('the palette offers both for what is chosen, and neither when nothing is', async () => {
  const field = () => page.getByRole('combobox', { name: 'Go to a page' })
  const found = (text: string) => page.getByRole('listbox', { name: 'Found' }).getByRole('option').filter({ hasText: text })
  await open()
  await page.keyboard.press('Control+k')
  await field().fill('snooze')
  await found('Snoozed actions').waitFor()
  // Of this page, only the button of the open action.
  await until(() => found('This page').allTextContents()).toEqual(['Snooze…On this page'])
  await page.keyboard.press('Escape')
  await field().waitFor({ state: 'detached' })
  await chooseAll()
  await page.keyboard.press('Control+k')
  await field().fill('assign 3')
  await until(() => found('This page').allTextContents()).toEqual(['Assign 3 actionsThis page'])
  await page.keyboard.press('Enter')
  await dialog('Assign 3 actions').waitFor()
  await page.keyboard.press('Escape')
  await until(focusedRow).toBe('act_three')
})

test('the buttons of the selected action stay about it alone while others are chosen', async () => {
  await open()
  await page.keyboard.press('x')
  await page.locator('[data-row=act_two]').click()
  await page.getByTestId('snooze').click()
  await until(() => dialog('Snooze').textContent()).toContain('Send two')
})

test('a list that is empty afterwards still says what came of it, and the heading has the focus', async () => {
  await page.setViewportSize({ width: 390, height: 780 })
  await open('?view=mine')
  await page.getByTestId('choose').first().dispatchEvent('click')
  await page.getByRole('button', { name: 'Choose all 3' }).click()
  await page.getByRole('button', { name: 'Snooze…' }).click()
  await dialog('Snooze 3 actions')
    .getByRole('button', { name: /^1 day/ })
    .click()
  await until(outcome).toMatch(/^3 actions snoozed/)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  // The snoozed rows go at once, or keep their place until the pill is pressed, which may come later than the outcome.
  await until(async () => {
    await page.getByTestId('waiting-fresh').evaluateAll((pills) => {
      for (const pill of pills) (pill as HTMLElement).click()
    })
    return page.getByTestId('waiting-empty').count()
  }).toBe(1)
  expect(await outcome()).toMatch(/^3 actions snoozed/)
  await page.getByRole('button', { name: 'Close' }).click()
  await until(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
})

test.each([900, 1_200, 1_440])(
  'at %d px every button for what is chosen stands below the list, none beside or over another',
  async (width) => {
    await page.setViewportSize({ width, height: 700 })
    waiting = Array.from({ length: 4 }, (_, at) => sendOf(['one', 'two', 'three', 'four'][at] ?? ''))
    await open()
    await page.getByTestId('waiting-row').first().press('x')
    const buttons = bar().getByRole('button')
    await until(() => buttons.count()).toBe(6)
    const list = await page.locator('.inbox-list').boundingBox()
    const boxes = await Promise.all((await buttons.all()).map((button) => button.boundingBox()))
    for (const [at, box] of boxes.entries()) {
      if (!box || !list) throw new Error('it is not on the page')
      expect(box.x).toBeGreaterThanOrEqual(list.x)
      expect(box.x + box.width).toBeLessThanOrEqual(list.x + list.width)
      const next = boxes[at + 1]
      if (next && Math.abs(next.y - box.y) < box.height) expect(next.x).toBeGreaterThanOrEqual(box.x + box.width)
    }
  },
)

test('before actions are approved together, every value that differs between them is shown, however many there are', async () => {
  const names = Array.from({ length: 9 }, (_, at) => `part${at + 1}`)
  const valuesOf = (of: string) => names.map((name) => `${of} of ${name}`)
  const ids = ['one', 'two', 'three']
  waiting = ids.map((id) =>
    sendOf(id, {
      arguments: Object.fromEntries(names.map((name, at) => [name, valuesOf(id)[at]])),
      risk: { level: 'medium', reasons: [], setBy: 'policy' },
    }),
  )
  await open()
  await chooseAll()
  await bar().getByRole('button', { name: 'Approve…' }).click()
  const table = dialog('Approve 3 actions').getByRole('table')
  await table.waitFor()
  expect(await table.getByRole('columnheader').allTextContents()).toEqual(['Action', ...names])
  const rows = await table
    .locator('tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)))
  expect(rows).toEqual(ids.map(valuesOf))
  // The last of them is as wide as a word, and can be brought into sight.
  const last = table.getByRole('cell', { name: 'three of part9' })
  await last.scrollIntoViewIfNeeded()
  const { left, right, width } = await last.evaluate((cell) => cell.getBoundingClientRect().toJSON())
  const shown = await dialog('Approve 3 actions')
    .getByRole('region', { name: 'What is decided' })
    .evaluate((lists) => lists.getBoundingClientRect().toJSON())
  expect([left >= shown.left, right <= shown.right + 1, width > 50]).toEqual([true, true, true])
})

test('before actions are approved together, an odd one is shown with all its arguments, and what others have in common is shown once', async () => {
  const risk = { level: 'medium', reasons: [], setBy: 'policy' }
  waiting = [
    sendOf('one', { risk, arguments: { to: 'Ana', amount: 5 } }),
    sendOf('two', { risk, arguments: { to: 'Ben', amount: 5 } }),
    sendOf('three', { risk, tool: 'desk.call', description: 'Call desk.call with 2 arguments', arguments: { all: true, note: 'true' } }),
  ]
  await open()
  await chooseAll()
  await bar().getByRole('button', { name: 'Approve…' }).click()
  const same = dialog('Approve 3 actions').getByTestId('bulk-same')
  await same.first().waitFor()
  const rows = await same.evaluateAll((all) =>
    all.map((body) => [...body.querySelectorAll('tr')].map((row) => [...row.children].map((cell) => cell.textContent))),
  )
  expect(rows).toEqual([
    [['The same in each'], ['amount', '5']],
    [
      ['all', 'true'],
      ['note', '"true"'],
    ],
  ])
})
