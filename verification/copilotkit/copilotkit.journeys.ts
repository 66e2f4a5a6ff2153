import { expect, type Page } from '@playwright/test'
import { CALL, chatTest, sendTogether } from '../../e2e/chat.ts'
import { approve, cards, ready } from '../../e2e/demo.ts'
import { startFrontEnd } from '../../examples/copilotkit/app/front-end.mjs'

const test = chatTest(startFrontEnd)

async function send(page: Page, text: string): Promise<void> {
  await page.getByTestId('copilot-chat-textarea').fill(text)
  await page.keyboard.press('Enter')
}

/** The card of an interrupt. */
const card = (page: Page) => page.getByRole('region', { name: 'Do x' })
const button = (page: Page, name: string) => card(page).getByRole('button', { name })
/** A call with its result, as CopilotKit draws it. */
const call = (page: Page) => page.locator('[data-call]')
const calls = (page: Page) => call(page).evaluateAll((all) => all.map((one) => [...one.children].map(({ textContent }) => textContent)))
const X = JSON.stringify(CALL.arguments, null, 2)

/** Nothing waits on the page, and it shows one call with this result and the answer to it, each once. */
async function expectDone(page: Page, result = '{"id":4}', answer = 'Done.', given = X): Promise<void> {
  await expect(page.getByText(answer, { exact: true })).toHaveCount(1)
  await expect(card(page)).toHaveCount(0)
  await expect.poll(() => calls(page)).toEqual([['keyed', given, result]])
}

test('a page that was just opened says nothing wrong, loads nothing from elsewhere and begins no session', async ({ page, chat }) => {
  const complaints: string[] = []
  const elsewhere: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('request', (request) => !request.url().startsWith(chat.page) && elsewhere.push(request.url()))
  const connected = page.waitForResponse((response) => response.url().endsWith('/connect'))
  await page.reload()
  expect(await (await connected).text()).toContain('"outcome":{"type":"success"}')
  await send(page, 'Do x')
  await expect(button(page, 'Approve')).toBeVisible()
  expect({ complaints, elsewhere }).toEqual({ complaints: [], elsewhere: [] })
})

test.describe('a read', () => {
  test.use({ script: { steps: [{ calls: [{ tool: 'look', arguments: { what: 'x' } }] }, { text: 'It is there.' }] } })
  test('a read runs by itself, and the page shows its result and asks nobody', async ({ page, chat }) => {
    await send(page, 'Look at x')
    await expect(page.getByText('It is there.')).toHaveCount(1)
    await expect.poll(() => calls(page)).toEqual([['look', X, '{"id":4}']])
    await expect(button(page, 'Approve')).toHaveCount(0)
    expect(await chat.actions()).toMatchObject([{ tool: 'look', state: 'succeeded', votes: [] }])
  })
})

test('a write is asked about, approved on the page it runs once, and its result and the answer appear', async ({ page, chat }) => {
  await send(page, 'Do x')
  await expect(card(page)).toBeVisible()
  expect(chat.target.writes).toEqual([])
  await button(page, 'Approve').click()
  await expectDone(page)
  expect(chat.target.writes).toMatchObject([{ body: { what: 'x' } }])
  expect(await chat.actions()).toMatchObject([{ state: 'succeeded', attempt: 1, votes: [{ by: { name: 'Ana' }, verdict: 'approve' }] }])
})

test('declined with a reason: nothing runs, and the reason reaches the model', async ({ page, chat }) => {
  await send(page, 'Do x')
  await card(page).getByLabel('Reason').fill('not today')
  await button(page, 'Decline').click()
  await expect(page.getByText('Done.', { exact: true })).toHaveCount(1)
  await expect(call(page)).toContainText('They said: not today')
  const [action] = await chat.actions()
  expect(action).toMatchObject({ state: 'declined' })
  const told = (await chat.messages(action?.sessionId ?? '')).find(({ role }) => role === 'tool')
  expect(told?.content).toContain('not today')
  expect(chat.target.writes).toEqual([])
})

test('what was edited on the page is what runs', async ({ page, chat }) => {
  await send(page, 'Do x')
  await card(page).getByLabel('Arguments').fill('{"what":"better"}')
  await button(page, 'Approve').click()
  await expect(page.getByText('Done.', { exact: true })).toHaveCount(1)
  await expect(call(page)).toContainText('"id":4')
  expect(chat.target.writes.map(({ body }) => body)).toEqual([{ what: 'better' }])
})

test.describe('expired', () => {
  test.use({
    policy: { rules: [{ name: 'soon', match: { effect: 'write' }, verdict: 'ask', expires: 'PT3S' }] },
    script: { steps: [{ calls: [CALL] }, { text: 'I see.' }] },
  })
  test('what nobody decided in time does not run, and the page says so after a reload', async ({ page, chat }) => {
    await send(page, 'Do x')
    await expect.poll(async () => (await chat.actions())[0]?.state).toBe('expired')
    await page.reload()
    await expect(page.getByText('I see.')).toHaveCount(1)
    await expect(call(page)).toContainText('Nobody decided about this in time')
    await expect(card(page)).toHaveCount(0)
    expect(chat.target.writes).toEqual([])
  })
})

test('a reload while it waits brings the card again, once; one after it was decided elsewhere brings the outcome', async ({
  page,
  chat,
}) => {
  await send(page, 'Do x')
  await expect(button(page, 'Approve')).toBeVisible()
  await page.reload()
  await expect(button(page, 'Approve')).toHaveCount(1)
  await expect.poll(() => calls(page)).toEqual([['keyed', X]])
  const [action] = await chat.actions()
  if (!action) throw new Error('nothing waits')
  expect(await chat.decide(action, { verdict: 'approve' })).toBe(200)
  await expect.poll(async () => (await chat.actions())[0]?.state).toBe('succeeded')
  await page.reload()
  await expectDone(page)
  expect(chat.target.writes).toHaveLength(1)
})

test('a server that is killed while the page waits goes on as if nothing had been: approved on the open page it runs once', async ({
  page,
  chat,
}) => {
  await send(page, 'Do x')
  await expect(button(page, 'Approve')).toBeVisible()
  await chat.kill()
  await chat.start()
  await button(page, 'Approve').click()
  await expectDone(page)
  expect(chat.target.writes).toHaveLength(1)
})

test('an approval that a killed server did not take runs nothing, and is asked for again after a reload', async ({ page, chat }) => {
  const errors: string[] = []
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  await send(page, 'Do x')
  await expect(button(page, 'Approve')).toBeVisible()
  await chat.kill()
  await button(page, 'Approve').click()
  await expect.poll(() => errors.join('\n')).toContain('agent_run_error_event')
  await chat.start()
  await page.reload()
  expect(chat.target.writes).toEqual([])
  await button(page, 'Approve').click()
  await expectDone(page)
  expect(chat.target.writes).toHaveLength(1)
})

test('a message that is written while a card waits is not sent by CopilotKit, and the card stays: approved, it runs once', async ({
  page,
  chat,
}) => {
  const errors: string[] = []
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  await send(page, 'Do x')
  await expect(button(page, 'Approve')).toBeVisible()
  await send(page, 'And y')
  await expect.poll(() => errors.join('\n')).toContain('not addressed by resume')
  await button(page, 'Approve').click()
  await expectDone(page)
  await expect(page.getByText('And y')).toHaveCount(0)
  const [action] = await chat.actions()
  expect((await chat.messages(action?.sessionId ?? '')).filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
    'Do x',
  ])
  expect(chat.target.writes).toHaveLength(1)
})

test('approved twice, by a double click, in two tabs, and on the page and in the inbox: it runs once', async ({ page, context, chat }) => {
  await send(page, 'Do x')
  await expect(button(page, 'Approve')).toBeVisible()
  // A duplicated tab has the same conversation.
  const opened = page.waitForEvent('popup')
  await page.evaluate(() => void window.open(location.href))
  const tab = await opened
  await expect(button(tab, 'Approve')).toBeVisible()
  const [action] = await chat.actions()
  const inbox = await context.newPage()
  await inbox.goto(`${chat.url}/actions/${action?.id}`)
  await ready(cards(inbox))
  await sendTogether([page, tab, inbox])
  await Promise.all([button(page, 'Approve').dblclick(), button(tab, 'Approve').click(), approve(cards(inbox))])
  for (const one of [page, tab]) await expectDone(one)
  expect(await chat.actions()).toMatchObject([{ state: 'succeeded', attempt: 1 }])
  expect(chat.target.writes).toHaveLength(1)
})

test('approved in the inbox, and later on the page that was left open: it ran once, and the page shows the result', async ({
  page,
  chat,
}) => {
  await send(page, 'Do x')
  await expect(button(page, 'Approve')).toBeVisible()
  const [action] = await chat.actions()
  if (!action) throw new Error('nothing waits')
  expect(await chat.decide(action, { verdict: 'approve' })).toBe(200)
  await expect.poll(async () => (await chat.actions())[0]?.state).toBe('succeeded')
  await button(page, 'Approve').click()
  await expectDone(page)
  expect(chat.target.writes).toHaveLength(1)
})

test('a page of another origin cannot approve with the key of the person who is signed in', async ({ page, chat }) => {
  await send(page, 'Do x')
  await expect(button(page, 'Approve')).toBeVisible()
  const [action] = await chat.actions()
  const resume = [{ interruptId: action?.id, status: 'resolved', payload: { approved: true } }]
  const threadId = await page.evaluate(() => sessionStorage.threadId)
  const body = JSON.stringify({ threadId, runId: 'r', messages: [], tools: [], context: [], state: {}, forwardedProps: {}, resume })
  const origin = 'http://other.example'
  const post = (type: string, method = 'POST') =>
    fetch(`${chat.page}/api/copilotkit/agent/planner/run`, {
      method,
      headers: { origin, 'content-type': type, 'access-control-request-method': 'POST' },
      ...(method === 'POST' && { body }),
    })
  expect((await post('text/plain')).status).toBe(415)
  expect((await post('application/json', 'OPTIONS')).headers.get('access-control-allow-origin')).toBeNull()
  expect(await chat.actions()).toMatchObject([{ state: 'proposed' }])
  expect(chat.target.writes).toEqual([])
})
