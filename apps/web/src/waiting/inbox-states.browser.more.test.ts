import * as wire from '@countersign/core'
import { expect, test } from 'vitest'
import { sampleAction } from '../../../../packages/client/src/testing/log-server.ts'
import { openInboxPage, until } from '../testing/inbox-page.ts'
import { withoutTimers } from '../testing/timers.ts'
import { requires } from '../testing/waiting-action.ts'

const inbox = openInboxPage(wire)
const { actionOf, open, rows, focused, card, cardIsReady } = inbox
/** How often decided actions are read again. */
const EVERY_MS = 15_000

test('the only action keeps its row and its card after somebody else decided it, until the person lets it go', async () => {
  inbox.waiting = [actionOf('only')]
  await open()
  await inbox.page.locator('[data-row=act_only]').click()
  inbox.decline('act_only')
  await inbox.page.locator('[data-row=act_only][data-decided=true]').waitFor()
  // The stream has forgotten it once an update is offered.
  await until(() => inbox.page.getByTestId('waiting-fresh').allTextContents()).toEqual(['1 update'])
  expect(await rows()).toEqual(['only'])
  expect(await card().textContent()).toContain('Send only')
  await inbox.page.getByRole('searchbox', { name: 'Search actions' }).focus()
  await inbox.page.mouse.move(5, 5)
  expect(await rows()).toEqual(['only'])
  await inbox.page.getByTestId('waiting-fresh').click()
  await inbox.page.getByTestId('waiting-empty').waitFor()
  inbox.propose(actionOf('next'))
  await until(rows).toEqual(['next'])
})

test('the server is asked for what was decided, with the whole search', async () => {
  inbox.decided = [actionOf('done', { state: 'declined', createdAt: '2026-11-21T08:00:00.000Z' })]
  await open(`?view=decided&q=${encodeURIComponent('"a b" done tool:send agent:desk risk:medium by:"Ada L" older:2h')}`)
  const asked = inbox.queries.find((query) => query.has('verdict'))
  expect(Object.fromEntries(asked ?? [])).toEqual({
    state: 'approved,executing,succeeded,failed,declined,expired,cancelled',
    verdict: 'ask',
    q: 'done',
    toolText: 'send',
    agentText: 'desk',
    risk: 'medium',
    requester: 'Ada L',
    createdBefore: expect.stringMatching(/Z$/),
    limit: '50',
  })
})

test('where more wait than are listed, what is this person’s and what a search finds is there all the same', async () => {
  inbox.older = [actionOf('old', { createdAt: '2026-10-01T10:00:00.000Z' })]
  const others = { ...requires, roles: ['finance'] }
  inbox.waiting.push(...Array.from({ length: 1_100 }, (_, at) => sampleAction({ id: `act_other${at}`, requires: others })))
  await open()
  await until(rows).toEqual(['old', 'one', 'two', 'three'])
  expect(inbox.queries.some((query) => query.get('mine') === 'true' && query.get('state') === 'proposed')).toBe(true)
  // The focus in the list holds the row: otherwise it is gone 5 s after the decision, which a slow machine may not see.
  await inbox.page.locator('[data-row=act_old]').click()
  inbox.decline('act_old')
  await inbox.page.locator('[data-row=act_old][data-decided=true]').waitFor()
})

test('a list that cannot be read says so, and is read again on request', async () => {
  inbox.decided = [actionOf('done', { state: 'declined' })]
  inbox.failing = true
  // It would be read again without the request, and the button would be gone.
  await withoutTimers(inbox.page, EVERY_MS)
  await open('?view=decided')
  await inbox.page.getByText('It broke.').waitFor()
  inbox.failing = false
  await inbox.page.getByRole('button', { name: 'Try again' }).click()
  await until(rows).toEqual(['done'])
  expect(await inbox.page.getByText('It broke.').count()).toBe(0)
})

test('an inbox that is empty because all is decided gives no advice for beginners', async () => {
  inbox.waiting = []
  inbox.decided = [actionOf('done', { state: 'succeeded' })]
  const asked = inbox.page.waitForResponse((answer) => new URL(answer.url()).search === '?limit=1')
  await open()
  await asked
  expect(await inbox.page.getByTestId('waiting-empty').textContent()).toContain('Nothing for you to decide')
  expect(await inbox.page.getByRole('list', { name: 'Next steps' }).count()).toBe(0)
})

test('an empty inbox says what to do next, with commands to copy; one that is empty for this person leads to what others decide', async () => {
  inbox.waiting = []
  await open()
  expect(await inbox.page.getByTestId('waiting-empty').textContent()).toContain('Nothing for you to decide')
  expect(await inbox.page.getByRole('link', { name: 'Start a chat' }).getAttribute('href')).toBe('/')
  inbox.hasAgents = false
  await open()
  await inbox.page.locator('.next-steps li').nth(2).waitFor()
  const commands = await inbox.page.getByRole('list', { name: 'Next steps' }).locator('code').allTextContents()
  expect(commands).toEqual(['npx countersign demo', 'npx countersign init', expect.stringContaining(`${inbox.server.url}/api/actions`)])
  expect(await inbox.page.locator('.next-steps button').allTextContents()).toEqual(['Copy', 'Copy', 'Copy'])
  inbox.propose(actionOf('finance', { requires: { ...requires, roles: ['finance'] } }))
  await inbox.page.getByRole('link', { name: 'See all 1 that wait' }).click()
  await until(rows).toEqual(['finance'])
})

test('without a network the page says so and sends no decision', async () => {
  await open()
  await cardIsReady()
  await inbox.page.context().setOffline(true)
  await inbox.page.getByTestId('connection').waitFor()
  await inbox.page.keyboard.press('a')
  await inbox.page.keyboard.press('Enter')
  await until(() => card().textContent()).toContain('Offline. Decisions are paused.')
  expect(inbox.decisions).toEqual([])
})

test('who is given a role, or loses one, while the inbox is open is offered what they may decide now, without a reload', async () => {
  inbox.waiting.push(actionOf('finance', { requires: { ...requires, roles: ['finance'] } }))
  await open()
  expect(await rows()).toEqual(['one', 'two', 'three'])
  inbox.roles = ['finance']
  // The server ends the stream of a reader whose rights change.
  inbox.server.cut('/api/events')
  await until(rows).toEqual(['finance'])
  await cardIsReady()
  expect(await card().textContent()).toContain('Send finance')
})

test.for([
  { key: 'm', button: 'I’m on it', call: 'assign' },
  { key: 's', button: /^1 hour/, call: 'snooze' },
])('the late answer to $call whose dialog was cancelled does not close the next dialog', async ({ key, button, call }) => {
  await open()
  await cardIsReady()
  const held = Promise.withResolvers<void>()
  await inbox.page.route(`**/api/actions/act_one/${call}`, async (route) => {
    await held.promise
    const json = call === 'assign' ? { ...inbox.waiting[0], updatedAt: '2098-01-01T00:00:00.000Z' } : {}
    await route.fulfill({ json })
  })
  const dialog = inbox.page.getByRole('dialog')
  await inbox.page.keyboard.press('j')
  await inbox.page.keyboard.press('k')
  await until(focused).toBe('one')
  await inbox.page.keyboard.press(key)
  await dialog.getByRole('button', { name: button }).click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await inbox.page.keyboard.press('j')
  await until(focused).toBe('two')
  await inbox.page.keyboard.press('m')
  const field = dialog.getByRole('searchbox', { name: 'Find a person' })
  await field.fill('Ben')
  // The page reads the snoozes again when it has the answer.
  const came = inbox.page.waitForResponse(call === 'assign' ? /act_one\/assign$/ : /\/api\/snoozes/)
  held.resolve()
  await came
  await inbox.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
  expect(await field.inputValue()).toBe('Ben')
})
