import * as wire from '@countersign/core'
import type { Browser, Page, Route } from '@playwright/test'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'
import { waitingActions } from '../testing/waiting-action.ts'

const {
  answers: { answer },
  actionOf,
} = waitingActions(wire)
const read = (path: string) => answer('GET', path, new URLSearchParams())?.body as object
const { principal } = read('/api/me') as { principal: wire.Principal }
const changed: Record<string, object> = {
  '/api/agents': { items: [{ name: 'desk', suggestions: ['Refund Ana'] }], nextCursor: null },
  '/api/sessions/ses_000001': { ...read('/api/sessions/ses_000001'), owner: principal },
}
const ana = { id: principal.id, name: 'Ana' }
const waiting = (id: string): wire.Action => {
  const read = { previewError: null, preview: [{ field: 'status', oldValue: 'open', newValue: 'sent' }] }
  const own = { sessionId: 'ses_long', messageId: `msg_of_${id}`, toolCallId: id, requestedBy: ana, requesters: [ana] }
  const to = { destination: 'local', credential: 'none', onBehalfOf: null }
  return actionOf(id, {
    ...own,
    ...read,
    ...to,
    agentSays: null,
    context: null,
    revision: 1,
    revised: null,
    votes: [],
    extension: undefined,
  })
}
const FIRST = waiting('first')
const SECOND = waiting('second')
const talk = Array.from({ length: 40 }, (_, seq) => {
  const message = { id: `msg_${seq}`, sessionId: 'ses_long', seq, role: 'user', kind: 'text', content: `Line ${seq}`, author: ana }
  return { ...message, createdAt: FIRST.createdAt }
})
const people = { owner: ana, participants: [] }
Object.assign(changed, {
  // A banner takes room of the conversation.
  '/api/audit/seal': { head: null, problem: null, memory: { place: 'file', since: null, from: null }, anchor: null },
  '/api/sessions/ses_long': { ...read('/api/sessions/ses_000001'), ...people, id: 'ses_long', agent: 'desk', pendingApprovals: [FIRST] },
  '/api/sessions/ses_long/messages': { items: talk, nextCursor: null },
})
let server: HostileServer
let browser: Browser
let page: Page
beforeAll(async () => {
  server = await startHostileServer({
    answer: (method, path, query) => (method === 'GET' && changed[path] ? { body: changed[path] } : answer(method, path, query)),
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  page = await browser.newPage({ locale: 'en-GB' })
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
})
afterEach(() => page.close())

/** The changes that arrive at `path`. The first one arrives, and its answer is lost; the others are answered with `json`. */
async function loseFirstAnswer(path: RegExp, json: object) {
  const arrived: { key: string | undefined; body: unknown }[] = []
  await page.route(path, async (route: Route) => {
    const request = route.request()
    if (request.method() !== 'POST') return route.fallback()
    arrived.push({ key: request.headers()['idempotency-key'], body: request.postDataJSON() })
    await (arrived.length === 1 ? route.abort('connectionreset') : route.fulfill({ status: 202, json }))
  })
  return arrived
}
const field = () => page.getByRole('textbox', { name: 'Message' })

test('a message whose answer was lost is not said to be unsent, and sent again it arrives once', async () => {
  await page.goto(`${server.url}/sessions/ses_000001`)
  const arrived = await loseFirstAnswer(/\/ses_000001\/messages/, { messageId: 'msg_1' })
  await field().fill('approve')
  await field().press('Enter')
  const alert = page.getByRole('form', { name: 'Write a message' }).getByRole('alert')
  await expect.poll(() => alert.textContent()).toMatch(/No answer came: the message may have arrived/)
  expect(await field().inputValue()).toBe('approve')
  await field().press('Enter')
  await expect.poll(() => field().inputValue()).toBe('')
  expect(arrived).toEqual([arrived[0], arrived[0]])
  expect(arrived[0]).toMatchObject({ key: expect.any(String), body: { content: 'approve' } })
  await field().fill('approve')
  await field().press('Enter')
  await expect.poll(() => arrived.length).toBe(3)
  expect(arrived[2]?.key).not.toBe(arrived[0]?.key)
})

test('the page of a new chat says nothing that a policy could make untrue', async () => {
  await page.goto(server.url)
  await page.getByRole('heading', { name: 'What should desk do?' }).waitFor()
  const text = await page.locator('main').textContent()
  expect(text).toContain("Policy and grants decide whether a tool call runs at once, waits for a person's approval or is refused.")
  expect(text).not.toMatch(/Every change waits|reads data at once/)
})

test('a chat whose beginning had no answer is begun once', async () => {
  await page.goto(server.url)
  const arrived = await loseFirstAnswer(/\/api\/sessions$/, { id: 'ses_000001' })
  const first = await loseFirstAnswer(/\/ses_000001\/messages/, { messageId: 'msg_1' })
  const suggestion = page.getByRole('button', { name: 'Refund Ana' })
  await suggestion.click()
  await page.getByText('No answer came').waitFor()
  await suggestion.click()
  await expect.poll(() => first.length).toBe(1)
  await page.getByText('No answer came').waitFor()
  await suggestion.click()
  await page.waitForURL(/\/sessions\/ses_000001$/)
  expect(arrived).toEqual([arrived[0], arrived[0]])
  expect(first).toEqual([first[0], first[0]])
})

test('a suggestion that is pressed twice begins one chat', async () => {
  const begun: Route[] = []
  const held = Promise.withResolvers<void>()
  await page.route(/\/api\/sessions$/, async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    begun.push(route)
    await held.promise
    await route.fulfill({ status: 201, json: { id: 'ses_000001' } })
  })
  await page.route(/\/ses_000001\/messages$/, (route) => route.fulfill({ status: 202, json: { messageId: 'msg_1' } }))
  await page.goto(server.url)
  await page.getByRole('button', { name: 'Refund Ana' }).dblclick()
  await expect.poll(() => begun.length).toBeGreaterThan(0)
  held.resolve()
  await page.waitForURL(/\/sessions\/ses_000001$/)
  expect(begun.length).toBe(1)
})

test('a chat that has begun late takes nobody from the page where they write by then', async () => {
  const held = Promise.withResolvers<void>()
  const posted = Promise.withResolvers<void>()
  await page.route(/\/api\/sessions$/, (route) =>
    route.request().method() === 'POST' ? route.fulfill({ status: 201, json: { id: 'ses_000001' } }) : route.fallback(),
  )
  await page.route(/\/ses_000001\/messages$/, async (route) => {
    posted.resolve()
    await held.promise
    await route.fulfill({ status: 202, json: { messageId: 'msg_1' } })
  })
  await page.route(/\/api\/actions\?/, (route) => {
    const isList = new URL(route.request().url()).searchParams.get('state') === 'proposed'
    return route.fulfill({ json: { items: isList ? [FIRST] : [], nextCursor: null } })
  })
  await page.goto(server.url)
  await field().fill('List the open orders')
  await field().press('Enter')
  await posted.promise
  await page
    .getByRole('link', { name: /^Inbox/ })
    .first()
    .click()
  await page.getByRole('button', { name: /^Decline with reason/ }).click()
  const reason = page.getByRole('textbox', { name: /^Reason/ })
  await reason.pressSequentially('wrong account,')
  const isListed = page.waitForRequest((request) => request.method() === 'GET' && new URL(request.url()).pathname === '/api/sessions')
  held.resolve()
  await isListed
  await drawn()
  await page.keyboard.type(' never pay it')
  expect(new URL(page.url()).pathname).toBe('/waiting')
  expect(await reason.inputValue()).toBe('wrong account, never pay it')
})

/** The texts of the messages that the server has taken. */
async function takeMessages(): Promise<string[]> {
  const sent: string[] = []
  await page.route(/\/ses_000001\/messages/, (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    sent.push(route.request().postDataJSON().content)
    return route.fulfill({ status: 202, json: { messageId: 'msg_1' } })
  })
  return sent
}

// WebKit ends the composition before the key that ended it arrives: by then only `keyCode` tells.
test.each([
  { browser: 'Safari', isComposing: false, keyCode: 229 },
  { browser: 'Chrome', isComposing: true, keyCode: 229 },
])('Enter that picks a word of an input method sends nothing, as $browser tells it', async ({ isComposing, keyCode }) => {
  await page.goto(`${server.url}/sessions/ses_000001`)
  const sent = await takeMessages()
  await field().fill('注文')
  await field().dispatchEvent('keydown', { key: 'Enter', code: 'Enter', bubbles: true, cancelable: true, isComposing, keyCode })
  await field().fill('注文を見る')
  await field().press('Enter')
  await expect.poll(() => field().inputValue()).toBe('')
  expect(sent).toEqual(['注文を見る'])
})

test.each(['was loaded anew', 'was left and opened again'])(
  'a message whose answer was lost arrives once, also after the page %s',
  async (how) => {
    await page.goto(server.url)
    const begun = await loseFirstAnswer(/\/api\/sessions$/, { id: 'ses_000001' })
    const first = await loseFirstAnswer(/\/ses_000001\/messages/, { messageId: 'msg_1' })
    const again = async () => {
      if (how === 'was loaded anew') return void (await page.reload())
      await page
        .getByRole('link', { name: /^Inbox/ })
        .first()
        .click()
      await page.waitForURL(/\/waiting/)
      await page.goBack()
    }
    const lost = page.getByText('No answer came')
    await field().fill('List the orders')
    for (const arrived of [begun, first]) {
      await field().press('Enter')
      await expect.poll(() => arrived.length).toBe(1)
      await lost.waitFor()
      await again()
      await expect.poll(() => field().inputValue()).toBe('List the orders')
      await lost.waitFor()
    }
    await field().press('Enter')
    await page.waitForURL(/\/sessions\/ses_000001$/)
    expect(begun).toEqual([begun[0], begun[0]])
    expect(first).toEqual([first[0], first[0]])
  },
)

test('a text that is written again after one like it had no answer is another message', async () => {
  await page.goto(`${server.url}/sessions/ses_000001`)
  const arrived = await loseFirstAnswer(/\/ses_000001\/messages/, { messageId: 'msg_1' })
  await field().fill('continue')
  await field().press('Enter')
  await page.getByText('No answer came').waitFor()
  await field().fill('')
  await field().fill('continue')
  await field().press('Enter')
  await expect.poll(() => arrived.length).toBe(2)
  expect(arrived[1]?.key).not.toBe(arrived[0]?.key)
})

test('a text that is too long for a message stays whole, and the page says so instead of sending its beginning', async () => {
  await page.goto(`${server.url}/sessions/ses_000001`)
  const sent = await takeMessages()
  await field().focus()
  await page.keyboard.insertText('x'.repeat(100_001))
  await page.getByText('100,001 characters: a message may have 100,000. Shorten it to send it.').waitFor()
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
  await field().press('Enter')
  await field().press('Backspace')
  await field().press('Enter')
  await expect.poll(() => field().inputValue()).toBe('')
  expect(sent.map(({ length }) => length)).toEqual([100_000])
})

test('a session that somebody may no longer see is not said to be deleted', async () => {
  await page.goto(`${server.url}/sessions/ses_000001`)
  await field().waitFor()
  await page.route(/\/api\/sessions\/ses_000001/, (route) =>
    route.fulfill({
      status: 404,
      contentType: 'application/problem+json',
      json: { code: 'not_found', detail: 'there is no session ses_000001' },
    }),
  )
  server.cut('/api/sessions/ses_000001/events')
  await page.getByRole('heading', { name: 'Session unavailable' }).waitFor()
  await page.getByText('This session was deleted, or you no longer have access to it.').waitFor()
})

test('a message that was begun is there again after the page was loaded anew, until it is sent', async () => {
  await page.goto(`${server.url}/sessions/ses_000001`)
  await page.route(/\/ses_000001\/messages/, (route) =>
    route.request().method() === 'POST' ? route.fulfill({ status: 202, json: { messageId: 'msg_1' } }) : route.fallback(),
  )
  await field().fill('half a sen')
  await page.reload()
  await expect.poll(() => field().inputValue()).toBe('half a sen')
  await field().press('Enter')
  await expect.poll(() => field().inputValue()).toBe('')
  await page.reload()
  await field().waitFor()
  expect(await field().inputValue()).toBe('')
})

/** Says what the page tells of the cards that were on the screen when a word is typed. */
async function openLongChat(height: number) {
  await page.setViewportSize({ width: 1280, height })
  await page.goto(`${server.url}/sessions/ses_long`)
  const sent: wire.PostMessageBody[] = []
  await page.route(/\/ses_long\/messages/, (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    sent.push(route.request().postDataJSON())
    return route.fulfill({ status: 202, json: { messageId: 'msg_1' } })
  })
  /** The cards that count, those that are on the screen since this moment too. */
  const shownNow = async (): Promise<string[]> => {
    const before = sent.length
    await field().fill('yes')
    await field().press('Enter')
    await expect.poll(() => sent.length).toBe(before + 1)
    await expect.poll(() => field().inputValue()).toBe('')
    return (sent.at(-1)?.shown ?? []).map(({ actionId }) => actionId).sort()
  }
  return shownNow
}
/** Waits until the browser has told every observer what is on the screen. */
const drawn = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))))
const cardOf = ({ description }: wire.Action) => page.getByRole('article', { name: description })

test('a typed word counts for the cards that were on the screen, not for one that waits further down', async () => {
  const shownNow = await openLongChat(720)
  await cardOf(FIRST).waitFor()
  await expect.poll(shownNow).toEqual([FIRST.id])
  await page.getByText('Line 0', { exact: true }).scrollIntoViewIfNeeded()
  server.push('/api/sessions/ses_long/events', 'action_proposed', { proposal: SECOND })
  await cardOf(SECOND).waitFor()
  await page.getByTestId('new-messages').waitFor()
  await drawn()
  expect(await shownNow()).toEqual([FIRST.id])
  await cardOf(SECOND).scrollIntoViewIfNeeded()
  await expect.poll(shownNow).toEqual([FIRST.id, SECOND.id])
})

test('a typed word whose answer was lost is sent with the same cards after the page was loaded anew', async () => {
  await page.setViewportSize({ width: 1280, height: 720 })
  await page.goto(`${server.url}/sessions/ses_long`)
  const arrived = await loseFirstAnswer(/\/ses_long\/messages/, { messageId: 'msg_1' })
  await cardOf(FIRST).waitFor()
  await drawn()
  await field().fill('yes')
  await field().press('Enter')
  await page.getByText('No answer came').waitFor()
  await page.setViewportSize({ width: 1280, height: 420 })
  await page.reload()
  await cardOf(FIRST).waitFor()
  await field().press('Enter')
  await expect.poll(() => arrived.length).toBe(2)
  expect(arrived).toEqual([arrived[0], arrived[0]])
  expect(arrived[0]?.body).toHaveProperty('shown')
})

test('a typed word does not count for a card whose beginning was never on the screen', async () => {
  const shownNow = await openLongChat(420)
  await cardOf(FIRST).waitFor()
  await drawn()
  expect(await shownNow()).toEqual([])
  await cardOf(FIRST).evaluate((card) => card.scrollIntoView({ block: 'start' }))
  await expect.poll(shownNow).toEqual([FIRST.id])
})

test('a card that grows once it was read through counts again from its end on, as one does whose buttons come then', async () => {
  const shownNow = await openLongChat(420)
  const growTo = (pixels: number) => cardOf(FIRST).evaluate((card, height) => card.style.setProperty('min-height', `${height}px`), pixels)
  const scrollTo = (block: 'start' | 'end') => cardOf(FIRST).evaluate((card, block) => card.scrollIntoView({ block }), block)
  await cardOf(FIRST).waitFor()
  await growTo(900)
  await drawn()
  await scrollTo('start')
  await drawn()
  await scrollTo('end')
  await expect.poll(shownNow).toEqual([FIRST.id])
  await growTo(940)
  await drawn()
  await scrollTo('end')
  await expect.poll(shownNow).toEqual([FIRST.id])
})
