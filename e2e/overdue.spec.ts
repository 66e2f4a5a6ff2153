import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import { test as base, type Page } from '@playwright/test'
import type { Action } from '../packages/core/src/index.ts'
import { startLiveBrain } from '../verification/testing/live-brain.ts'
import { startTarget, toolsOf } from '../verification/testing/target.ts'
import { setColours } from './busy.ts'
import { type Call, callWith } from './call.ts'
import { approve, cards, decide, expect, expectNoSideScroll, press, signInBrowser } from './demo.ts'
import { KEY, startServer } from './server.ts'
import { typeWord } from './typed-word.ts'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/**
 * A server whose agent calls a tool for each word that it is sent: `keyed` for one in lower case, which is overdue after a second; else
 * `unkeyed`, whose outcome is never known.
 */
interface Office {
  url: string
  call: Call
  propose(tool: 'keyed' | 'unkeyed', what: string): Promise<Action>
  action(id: string): Promise<Action>
}

const test = base.extend<{ office: Office }>({
  office: async ({ context }, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-e2e-'))
    await using target = await startTarget(({ path }) => (path === '/unkeyed' ? 'reset' : { status: 200, body: { id: 1 } }))
    const callOf = (what: string, at: number) => ({
      id: `call_${at}`,
      tool: what === what.toLowerCase() ? 'keyed' : 'unkeyed',
      input: { what },
    })
    await using brain = await startLiveBrain(({ about, results }) =>
      results > 0 ? { text: 'That is all.' } : { text: 'As you wish.', calls: about.split(' ').map(callOf) },
    )
    const rules = [{ name: 'soon', match: { tool: 'keyed' }, verdict: 'ask', remind: 'PT1S' }]
    const agents = { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'] } }
    const { url, link, end } = await startServer(folder, { agents, tools: toolsOf(target), policy: { rules } })
    await signInBrowser(context, link)
    const call = callWith(KEY, () => url)
    await use({
      url,
      call,
      propose: async (tool, what) => (await call('POST', '/api/actions', { tool, arguments: { what } })).json(),
      action: async (id) => (await call('GET', `/api/actions/${id}`)).json(),
    })
    await end()
    await rm(folder, { recursive: true })
  },
})

async function say(page: Page, office: Office, text: string): Promise<void> {
  await page.goto(office.url)
  const message = page.getByRole('textbox', { name: 'Message' })
  await message.fill(text)
  await message.press('Enter')
  await page.waitForURL(/\/sessions\//)
}

/** Writes down, from now on, what the live regions say. */
async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.getByTestId('live-regions').waitFor({ state: 'attached' })
  await page.evaluate(() => {
    const said: string[] = []
    Object.assign(window, { said })
    for (const region of document.querySelectorAll('[data-testid=live-regions] [aria-live]')) {
      new MutationObserver(() => region.textContent && said.push(region.textContent)).observe(region, {
        childList: true,
        characterData: true,
        subtree: true,
      })
    }
  })
  return () => page.evaluate(() => (window as unknown as { said: string[] }).said)
}

const marks = (page: Page) => page.getByText(/^Overdue: undecided for \d+ (s|min)$/)
const row = (page: Page) => page.getByTestId('session-item').getByTestId('session-status')

/** Looks at the page in both themes and on a phone: pictures for people, and axe. */
async function look(page: Page, name: string): Promise<void> {
  const size = page.viewportSize()
  for (const colorScheme of ['light', 'dark'] as const) {
    await setColours(page, colorScheme)
    await page.screenshot({ path: `test-results/overdue/${name}-${colorScheme}.png` })
    const { violations } = await new AxeBuilder({ page }).withTags(WCAG).analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)).toEqual([])
  }
  await page.setViewportSize({ width: 390, height: 844 })
  await expectNoSideScroll(page)
  await page.screenshot({ path: `test-results/overdue/${name}-390.png` })
  if (size) await page.setViewportSize(size)
  await setColours(page, 'light')
}

test('what nobody decides is marked in chat, list, badge, title and session, at once and after a reload, until it is decided', async ({
  page,
  office,
}) => {
  // What waits already when the inbox is read is not announced: it has been read, and nothing waits.
  await page.goto(`${office.url}/waiting`)
  await expect(page.getByTestId('waiting-empty')).toBeVisible()
  await page.getByRole('link', { name: 'New chat' }).click()
  const said = await listen(page)
  const announced = async () => (await said()).filter((text) => text.startsWith('Approval overdue: Do letter'))
  const message = page.getByRole('textbox', { name: 'Message' })
  await message.fill('letter')
  await message.press('Enter')
  await expect(marks(page)).toHaveCount(1)
  await expect(page).toHaveTitle(/^\(1, 1 overdue\) /)
  const expectMarked = async () => {
    await expect(page.getByTestId('waiting-count')).toHaveText('1 for you')
    await expect(page.getByTestId('waiting-alarms')).toHaveText('1 overdue')
    await expect(row(page)).toHaveText('Waiting, 1 overdue')
  }
  await expectMarked()
  await expect(page.getByRole('banner').getByTestId('session-status')).toHaveText('Waiting for approval, 1 overdue')
  // Once, and nothing of it again in the time that the card counts on.
  await expect.poll(announced).toHaveLength(1)
  await expect(marks(page)).toHaveText(/for (([6-9]|\d\d) s|\d+ min)/)
  expect(await announced()).toHaveLength(1)
  await marks(page).scrollIntoViewIfNeeded()
  await look(page, 'chat')

  await page.reload()
  await expect(marks(page)).toHaveCount(1)
  await expectMarked()

  const fresh = await office.propose('unkeyed', 'Fresh')
  await page.goto(`${office.url}/waiting`)
  await expect(page.getByTestId('waiting-summary')).toHaveText('2 waiting, 1 overdue')
  await expect(page.getByTestId('waiting-row').first()).toContainText(/Overdue \d+ (s|min)/)
  await expect(marks(page)).toHaveCount(1)
  await expect(page.getByTestId('count-overdue')).toHaveText('1')
  await expect(page.getByTestId('waiting-row').nth(1)).toHaveAttribute('data-row', fresh.id)
  await expect(page).toHaveTitle(/^\(2, 1 overdue\) /)
  await look(page, 'waiting')

  await approve(cards(page).first())
  await expect(marks(page)).toHaveCount(0)
  await expect(page).toHaveTitle(/^\(1\) /)
  await expect(page.getByTestId('waiting-alarms')).toHaveCount(0)
  await expect(row(page)).toHaveText('Done')
})

test('a page that missed the reminder shows the mark once it is connected again, and rows under the pointer stay where they are', async ({
  page,
  context,
  office,
}) => {
  const first = await office.propose('unkeyed', 'First')
  await page.goto(`${office.url}/waiting`)
  await cards(page).first().waitFor()
  await context.setOffline(true)
  const missed = await office.propose('keyed', 'missed')
  await expect.poll(async () => (await office.action(missed.id)).overdue).toBe(true)
  await context.setOffline(false)
  await expect(marks(page)).toHaveCount(1)
  await expect(page.getByTestId('waiting-row').first()).toHaveAttribute('data-row', missed.id)
  // What it says of the connection stands above the rows, and goes.
  await expect(page.getByTestId('connection')).toHaveCount(0)

  // A row that becomes overdue under the pointer is marked at once. The list is sorted again after the pointer leaves.
  const third = await office.propose('unkeyed', 'Third')
  await expect(page.getByTestId('waiting-row')).toHaveCount(3)
  await page.getByTestId('waiting-row').first().hover()
  const rows = () => page.getByTestId('waiting-row').evaluateAll((all) => all.map((one) => one.getAttribute('data-row')))
  const boxes = () => page.getByTestId('waiting-row').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
  const [order, places] = [await rows(), await boxes()]
  expect(order).toEqual([missed.id, first.id, third.id])
  const late = await office.propose('keyed', 'late')
  await expect(page.getByTestId('waiting-alarms')).toHaveText('2 overdue')
  expect((await rows()).slice(0, 3)).toEqual(order)
  expect((await boxes()).slice(0, 3)).toEqual(places)
  await page.mouse.move(5, 5)
  await expect.poll(rows).toEqual([missed.id, late.id, first.id, third.id])
})

test('an unknown outcome counts in badge and title, and its session says so, until a person says what came of it', async ({
  page,
  office,
}) => {
  await say(page, office, 'Letter')
  await approve(cards(page))
  await expect(cards(page)).toHaveAttribute('data-state', 'outcome_unknown')
  await expect(page).toHaveTitle(/^\(1, 1 outcome unknown\) /)
  await expect(page.getByTestId('waiting-count')).toHaveText('1 for you')
  await expect(page.getByTestId('waiting-alarms')).toHaveText('1 unknown')
  await expect(page.getByRole('banner').getByTestId('session-status')).toHaveText('Done, 1 outcome unknown')
  await expect(row(page)).toHaveText('Done, 1 unknown')
  await look(page, 'unknown-chat')
  const [session] = (await (await office.call('GET', '/api/sessions')).json()).items
  expect(session).toMatchObject({ status: 'completed', unknownOutcomes: 1 })

  await page.goto(`${office.url}/waiting`)
  await expect(page.getByTestId('waiting-summary')).toHaveText('1 waiting, 1 of unknown outcome')
  await expect(row(page)).toHaveText('Done, 1 unknown')
  await look(page, 'unknown-waiting')
  await press(cards(page).getByRole('button', { name: 'Mark done' }))
  await page.getByLabel(/What did you see/).fill('It is in the tray.')
  await press(cards(page).getByRole('button', { name: 'Mark done' }))
  await expect(cards(page)).toHaveAttribute('data-state', 'succeeded')
  await expect(page).toHaveTitle(/^[^(]+ – Countersign$/)
  await expect(page.getByTestId('waiting-count')).toHaveCount(0)
  await expect(row(page)).not.toContainText('unknown')
})

test('each word that the chat offers decides the action that it names, with several waiting and with one', async ({ page, office }) => {
  // A word counts for the cards that were on the screen: here all of them are.
  await page.setViewportSize({ width: 1280, height: 2_400 })
  const banner = page.getByTestId('waiting-banner')
  /** Types what the banner offers at this place, and answers it. */
  const typeOffered = async (at: 0 | 1): Promise<string> => {
    const words = (await banner.locator('strong').nth(at).textContent()) ?? ''
    const before = (await banner.textContent()) ?? ''
    await typeWord(page, words, async () => (await banner.filter({ hasText: before }).count()) === 0)
    return words
  }
  for (const [at, state] of [
    [0, 'succeeded'],
    [1, 'declined'],
  ] as const) {
    await say(page, office, 'one two three')
    await expect(cards(page)).toHaveCount(3)
    const names = cards(page).locator('.cs-tail > :first-child')
    await expect(names).toHaveCount(3)
    const ids = await names.allTextContents()
    await expect(banner).toContainText(`3 approvals waiting: type approve ${ids[0]} or decline ${ids[0]}, or use the cards.`)
    expect(await typeOffered(at)).toBe(`${at === 0 ? 'approve' : 'decline'} ${ids[0]}`)
    await expect(banner).toContainText(`2 approvals waiting: type approve ${ids[1]} or decline ${ids[1]}, or use the cards.`)
    await expect(cards(page).nth(0)).toHaveAttribute('data-state', state)
    await expect(cards(page).nth(1)).toHaveAttribute('data-state', 'proposed')
    if (at === 0) await look(page, 'hint')
    await decide(cards(page).nth(1).getByRole('button', { name: 'Decline', exact: true }))
    await expect(banner).toContainText('1 approval waiting: type approve or decline, or use the card.')
    expect(await typeOffered(at)).toBe(at === 0 ? 'approve' : 'decline')
    await expect(cards(page).nth(2)).toHaveAttribute('data-state', state)
    await expect(banner).toHaveCount(0)
  }
})
