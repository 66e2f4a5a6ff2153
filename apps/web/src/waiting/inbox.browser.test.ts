import * as wire from '@countersign/core'
import type { Browser, Page } from '@playwright/test'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { sampleAction } from '../../../../packages/client/src/testing/log-server.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'
import { untilReady } from '../testing/press.ts'
import { requires, waitingActions } from '../testing/waiting-action.ts'

const { answers, actionOf } = waitingActions(wire)
let waiting: wire.Action[] = []
let decided: wire.Action[] = []
let older: wire.Action[] = []
let failing = false
let hasAgents = true
let queries: URLSearchParams[] = []
let decisions: string[] = []
let page: Page
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({
    answer(method, path, query) {
      if (path === '/api/me')
        return { body: { principal: { id: 'prn_me', kind: 'person', name: 'Mia', roles: ['approver'] }, signIn: 'key' } }
      if (path === '/api/agents' && !hasAgents) return { body: { items: [], nextCursor: null } }
      if (path === '/api/actions') {
        queries.push(query)
        const state = query.get('state') ?? ''
        if (state === '' && query.get('limit') === '1') return { body: { items: [...waiting, ...decided].slice(0, 1), nextCursor: null } }
        if (failing && state.includes('approved')) return { status: 500, body: { code: 'internal', detail: 'It broke.' } }
        if (query.get('mine') || query.get('q')) return { body: { items: older, nextCursor: null } }
        const items = state.includes('approved') ? decided : waiting.filter((action) => action.state === state)
        const [begin, end] = [Number(query.get('cursor') ?? 0), Number(query.get('cursor') ?? 0) + Number(query.get('limit'))]
        return { body: { items: items.slice(begin, end), nextCursor: end < items.length ? String(end) : null } }
      }
      const [, id, call] = /^\/api\/actions\/(act_\w+?)(?:\/(\w+))?$/.exec(path) ?? []
      const found = [...waiting, ...decided].find((action) => action.id === id)
      if (method === 'POST' && call === 'decision' && found) {
        decisions.push(found.id)
        return { body: { ...found, state: 'succeeded', updatedAt: '2099-01-01T00:00:00.000Z' } }
      }
      if (method === 'GET' && found && call === undefined) return { body: found }
      return answers.answer(method, path, query)
    },
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  waiting = ['one', 'two', 'three'].map((id, at) => actionOf(id, { createdAt: `2026-11-21T10:00:0${at}.000Z` }))
  decided = []
  older = []
  failing = false
  hasAgents = true
  queries = []
  decisions = []
  page = await browser.newPage({ viewport: { width: 1_200, height: 700 }, locale: 'en-GB' })
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
})
afterEach(() => page.close())

async function open(search = ''): Promise<void> {
  await page.goto(`${server.url}/waiting${search}`)
  await page.locator('[data-testid=waiting-row], [data-testid=waiting-empty], [role=alert]').first().waitFor()
}
const rows = () => page.getByTestId('waiting-row').evaluateAll((all) => all.map((row) => row.getAttribute('data-row')?.slice(4)))
const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-row')?.slice(4))
const until = (what: () => Promise<unknown>) => expect.poll(what)
const card = () => page.getByTestId('approval-card')
const cardIsReady = () => untilReady(card().getByRole('button', { name: /^Approve/ }))

test('the rows are a list box: one has the focus, arrows, Home and End move it, and it says where it stands', async () => {
  await open()
  await page.keyboard.press('j')
  await until(focused).toBe('two')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  expect(await focused()).toBe('three')
  await page.keyboard.press('Home')
  expect(await focused()).toBe('one')
  await page.keyboard.press('End')
  await page.keyboard.press('k')
  expect(await focused()).toBe('two')
  const selected = page.locator('.inbox-row[aria-selected=true]')
  expect(await selected.getAttribute('data-row')).toBe('act_two')
  expect([await selected.getAttribute('aria-posinset'), await selected.getAttribute('aria-setsize')]).toEqual(['2', '3'])
  expect(await page.locator('.inbox-row[tabindex="0"]').count()).toBe(1)
  await until(() => card().textContent()).toContain('Send two')
})

test('nothing in the list moves while the focus is in it; what is new waits behind a pill, what is decided stays and says so', async () => {
  await open()
  await page.keyboard.press('j')
  const before = await page.locator('[data-row=act_two]').boundingBox()
  const urgent = actionOf('urgent', { expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
  server.push('/api/events', 'action_proposed', { proposal: urgent })
  await page.getByTestId('waiting-fresh').waitFor()
  const gone = { proposalId: 'act_one', state: 'declined', revision: answers.newAction.revision, updatedAt: '2099-01-01T00:00:00.000Z' }
  waiting = waiting.map((action) => (action.id === 'act_one' ? { ...action, state: 'declined', updatedAt: gone.updatedAt } : action))
  server.push('/api/events', 'action_update', gone)
  await page.locator('[data-row=act_one][data-decided=true]').waitFor()
  await until(() => page.getByTestId('waiting-summary').textContent()).toBe('3 waiting')
  expect(await rows()).toEqual(['one', 'two', 'three'])
  expect(await page.locator('[data-row=act_two]').boundingBox()).toEqual(before)
  expect(await focused()).toBe('two')
  expect(await page.getByTestId('waiting-fresh').textContent()).toBe('1 new')
  await page.getByTestId('waiting-fresh').click()
  await until(rows).toEqual(['urgent', 'two', 'three'])
  expect(await focused()).toBe('urgent')
})

test('the only action keeps its row and its card after somebody else decided it, until the person lets it go', async () => {
  waiting = [actionOf('only')]
  await open()
  await page.locator('[data-row=act_only]').click()
  const gone = { proposalId: 'act_only', state: 'declined', revision: answers.newAction.revision, updatedAt: '2099-01-01T00:00:00.000Z' }
  waiting = waiting.map((action) => ({ ...action, state: 'declined', updatedAt: gone.updatedAt }))
  server.push('/api/events', 'action_update', gone)
  await page.locator('[data-row=act_only][data-decided=true]').waitFor()
  // The stream has forgotten it once an update is offered.
  await until(() => page.getByTestId('waiting-fresh').allTextContents()).toEqual(['1 update'])
  expect(await rows()).toEqual(['only'])
  expect(await card().textContent()).toContain('Send only')
  await page.getByRole('searchbox', { name: 'Search actions' }).focus()
  await page.mouse.move(5, 5)
  expect(await rows()).toEqual(['only'])
  await page.getByTestId('waiting-fresh').click()
  await page.getByTestId('waiting-empty').waitFor()
  server.push('/api/events', 'action_proposed', { proposal: actionOf('next') })
  await until(rows).toEqual(['next'])
})

test('keys act from anywhere on the page but never in a field, and not at all once they are switched off', async () => {
  await open()
  await page.getByRole('link', { name: 'Policy' }).focus()
  await page.keyboard.press('j')
  await until(focused).toBe('two')
  await page.keyboard.press('/')
  const field = page.getByRole('searchbox', { name: 'Search actions' })
  await page.keyboard.type('jkade?/')
  expect(await field.inputValue()).toBe('jkade?/')
  await page.getByText('Nothing matches this search').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.keyboard.press('Escape')
  await until(() => field.inputValue()).toBe('')
  await until(rows).toEqual(['one', 'two', 'three'])
  await page.keyboard.press('Escape')
  await until(focused).toBe('one')
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  // A dialog has the keys for itself.
  await page.keyboard.press('j')
  await page.getByRole('button', { name: 'Switch off' }).click()
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.locator('[data-row=act_two]').click()
  for (const key of ['j', 'k', 'a', 'd', 'e', '/']) await page.keyboard.press(key)
  expect(await focused()).toBe('two')
  expect(await card().textContent()).not.toContain('Press Enter')
  // What everybody expects of a list stays.
  await page.keyboard.press('ArrowDown')
  expect(await focused()).toBe('three')
  expect(decisions).toEqual([])
})

test('A arms the card that is shown, by the rules of the card: it rests while it is new, and A alone approves nothing', async () => {
  await open()
  await cardIsReady()
  // One right after the other: the card of the second row has only just come.
  await Promise.all(['j', 'a'].map((key) => page.keyboard.press(key)))
  await until(() => card().textContent()).toContain('Ignored')
  await cardIsReady()
  await page.keyboard.press('a')
  await until(() => card().textContent()).toContain('Press Enter to approve: Send two')
  expect(decisions).toEqual([])
  await page.keyboard.press('Enter')
  await until(() => Promise.resolve(decisions)).toEqual(['act_two'])
  await until(focused).toBe('three')
})

test('an action of high risk asks for its second step, by key too', async () => {
  waiting = [actionOf('risky', { risk: { level: 'high', reasons: [], setBy: 'policy' } })]
  await open()
  await cardIsReady()
  await page.keyboard.press('a')
  await until(() => card().textContent()).toContain('Press Enter to approve')
  await page.keyboard.press('Enter')
  await page.getByRole('alertdialog').waitFor()
  for (const key of ['a', 'j', 'e']) await page.keyboard.press(key)
  expect(await page.getByRole('alertdialog').count()).toBe(1)
  expect(decisions).toEqual([])
})

test('each view counts what it holds, live', async () => {
  waiting = [
    actionOf('plain'),
    actionOf('late', { overdue: true }),
    actionOf('finance', { requires: { ...requires, roles: ['finance'] } }),
    actionOf('lost', { state: 'outcome_unknown' }),
  ]
  await open()
  const counts = async () =>
    Object.fromEntries(
      await Promise.all(
        ['mine', 'waiting', 'overdue', 'unknown'].map(async (view) => [view, await page.getByTestId(`count-${view}`).textContent()]),
      ),
    )
  await until(counts).toEqual({ mine: '3', waiting: '4', overdue: '1', unknown: '1' })
  expect(await page.getByTestId('waiting-count').textContent()).toBe('3 for you')
  expect(await page.title()).toBe('(3, 1 overdue, 1 outcome unknown) Countersign')
  server.push('/api/events', 'action_proposed', { proposal: actionOf('fresh') })
  await until(counts).toEqual({ mine: '4', waiting: '5', overdue: '1', unknown: '1' })
  for (const [name, found] of [
    ['Overdue', ['late']],
    ['Unknown outcome', ['lost']],
  ] as const) {
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name }).click()
    await until(rows).toEqual(found)
  }
})

test('the server is asked for what was decided, with the whole search', async () => {
  decided = [actionOf('done', { state: 'declined', createdAt: '2026-11-21T08:00:00.000Z' })]
  await open(`?view=decided&q=${encodeURIComponent('"a b" done tool:send agent:desk risk:medium by:"Ada L" older:2h')}`)
  const asked = queries.find((query) => query.has('verdict'))
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
  older = [actionOf('old', { createdAt: '2026-10-01T10:00:00.000Z' })]
  const others = { ...requires, roles: ['finance'] }
  waiting.push(...Array.from({ length: 1_100 }, (_, at) => sampleAction({ id: `act_other${at}`, requires: others })))
  await open()
  await until(rows).toEqual(['old', 'one', 'two', 'three'])
  expect(queries.some((query) => query.get('mine') === 'true' && query.get('state') === 'proposed')).toBe(true)
  const gone = { proposalId: 'act_old', state: 'declined', revision: answers.newAction.revision, updatedAt: '2099-01-01T00:00:00.000Z' }
  server.push('/api/events', 'action_update', gone)
  await page.locator('[data-row=act_old][data-decided=true]').waitFor()
})

test('a list that cannot be read says so, and is read again on request', async () => {
  decided = [actionOf('done', { state: 'declined' })]
  failing = true
  await open('?view=decided')
  await page.getByText('It broke.').waitFor()
  failing = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await until(rows).toEqual(['done'])
  expect(await page.getByText('It broke.').count()).toBe(0)
})

test('an inbox that is empty because all is decided gives no advice for beginners', async () => {
  waiting = []
  decided = [actionOf('done', { state: 'succeeded' })]
  const asked = page.waitForResponse((answer) => new URL(answer.url()).search === '?limit=1')
  await open()
  await asked
  expect(await page.getByTestId('waiting-empty').textContent()).toContain('Nothing for you to decide')
  expect(await page.getByRole('list', { name: 'Next steps' }).count()).toBe(0)
})

test('an empty inbox says what to do next, with commands to copy; one that is empty for this person leads to what others decide', async () => {
  waiting = []
  await open()
  expect(await page.getByTestId('waiting-empty').textContent()).toContain('Nothing for you to decide')
  expect(await page.getByRole('link', { name: 'Start a chat' }).getAttribute('href')).toBe('/')
  hasAgents = false
  await open()
  await page.locator('.next-steps li').nth(2).waitFor()
  const commands = await page.getByRole('list', { name: 'Next steps' }).locator('code').allTextContents()
  expect(commands).toEqual(['npx countersign demo', 'npx countersign init', expect.stringContaining(`${server.url}/api/actions`)])
  expect(await page.locator('.next-steps button').allTextContents()).toEqual(['Copy', 'Copy', 'Copy'])
  server.push('/api/events', 'action_proposed', { proposal: actionOf('finance', { requires: { ...requires, roles: ['finance'] } }) })
  await page.getByRole('link', { name: 'See all 1 that wait' }).click()
  await until(rows).toEqual(['finance'])
})

test('without a network the page says so and sends no decision', async () => {
  await open()
  await cardIsReady()
  await page.context().setOffline(true)
  await page.getByTestId('connection').waitFor()
  await page.keyboard.press('a')
  await page.keyboard.press('Enter')
  await until(() => card().textContent()).toContain('Offline. Decisions are paused.')
  expect(decisions).toEqual([])
})
