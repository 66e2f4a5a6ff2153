import { expect, type Page } from '@playwright/test'
import { CALL, chatTest, sendTogether } from '../../e2e/chat.ts'
import { approve, cards, ready } from '../../e2e/demo.ts'
import { startFrontEnd } from '../../examples/assistant-ui/app/front-end.mjs'

const test = chatTest(startFrontEnd)
const call = (page: Page) => page.locator('section')
const button = (page: Page, name: string) => call(page).getByRole('button', { name, exact: true })
const send = async (page: Page, text: string) => {
  await page.getByLabel('Message').fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}

/** Nothing waits on the page, and it shows one call with its result and the answer to it, each once. */
async function expectDone(page: Page, answer = 'Done.'): Promise<void> {
  await expect(page.getByText(answer, { exact: true })).toHaveCount(1)
  await expect(button(page, 'Allow')).toHaveCount(0)
  await expect(call(page)).toHaveCount(1)
  await expect(call(page)).toContainText('"id": 4')
  await expect(page.locator('p[role=alert]')).toHaveCount(0)
}

test.describe('a read', () => {
  test.use({ script: { steps: [{ calls: [{ tool: 'look', arguments: { what: 'x' } }] }, { text: 'It is there.' }] } })
  test('a read runs by itself, and the page shows its result and asks nobody', async ({ page, chat }) => {
    await send(page, 'Look at x')
    await expectDone(page, 'It is there.')
    expect(await chat.actions()).toMatchObject([{ tool: 'look', state: 'succeeded', votes: [] }])
  })
})

test('a write is asked about on the page, runs once when approved there, and is answered', async ({ page, chat }) => {
  const complaints: string[] = []
  const elsewhere: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('request', (request) => request.url().startsWith(chat.page) || elsewhere.push(request.url()))
  await page.reload()
  await send(page, 'Do x')
  await expect(button(page, 'Allow')).toHaveCount(1)
  expect(chat.target.writes).toEqual([])
  await button(page, 'Allow').click()
  await expectDone(page)
  expect(chat.target.writes).toMatchObject([{ body: { what: 'x' } }])
  expect(await chat.actions()).toMatchObject([{ state: 'succeeded', attempt: 1, votes: [{ by: { name: 'Ana' }, verdict: 'approve' }] }])
  expect({ complaints, elsewhere }).toEqual({ complaints: [], elsewhere: [] })
})

test('declined with a reason: nothing runs, and the reason reaches the model', async ({ page, chat }) => {
  await send(page, 'Do x')
  await call(page).getByLabel('Reason').fill('not today')
  await button(page, 'Deny').click()
  await expect(page.getByText('Done.', { exact: true })).toHaveCount(1)
  await expect(call(page)).toContainText('not today')
  const [action] = await chat.actions()
  expect(action).toMatchObject({ state: 'declined' })
  const told = (await chat.messages(action?.sessionId ?? '')).find(({ role }) => role === 'tool')
  expect(told?.content).toContain('not today')
  expect(chat.target.writes).toEqual([])
})

test('what somebody else changed and approved is what the open page shows and what ran, once', async ({ page, chat }) => {
  await send(page, 'Do x')
  await expect(button(page, 'Allow')).toBeVisible()
  const [action] = await chat.actions()
  if (!action) throw new Error('nothing waits')
  expect(await chat.decide(action, { verdict: 'approve', arguments: { what: 'better' } })).toBe(200)
  await expectDone(page)
  await expect(call(page)).toContainText('better')
  expect(chat.target.writes.map(({ body }) => body)).toEqual([{ what: 'better' }])
})

test.describe('expired', () => {
  test.use({
    policy: { rules: [{ name: 'soon', match: { effect: 'write' }, verdict: 'ask', expires: 'PT3S' }] },
    script: { steps: [{ calls: [CALL] }, { text: 'I see.' }] },
  })
  test('what nobody decided in time ends on the open page with the reason, and nothing ran', async ({ page, chat }) => {
    await send(page, 'Do x')
    await expect(page.getByText('I see.')).toHaveCount(1)
    await expect(call(page)).toContainText('Nobody decided about this in time')
    await expect(button(page, 'Allow')).toHaveCount(0)
    expect(await chat.actions()).toMatchObject([{ state: 'expired', votes: [] }])
    expect(chat.target.writes).toEqual([])
  })
})

test('a server that is killed while the page waits: the open page finds it again, and what is approved there runs once', async ({
  page,
  chat,
}) => {
  await send(page, 'Do x')
  await expect(button(page, 'Allow')).toBeVisible()
  await chat.kill()
  await expect(page.locator('p[role=alert]')).toBeVisible()
  await chat.start()
  await expect(page.locator('p[role=alert]')).toHaveCount(0)
  await button(page, 'Allow').click()
  await expectDone(page)
  expect(chat.target.writes).toHaveLength(1)
})

test('a reload while it waits shows the approval again, once, and approved there it runs once', async ({ page, chat }) => {
  await send(page, 'Do x')
  await expect(button(page, 'Allow')).toBeVisible()
  await page.reload()
  await expect(button(page, 'Allow')).toHaveCount(1)
  await button(page, 'Allow').click()
  await expectDone(page)
  await page.reload()
  await expectDone(page)
  expect(chat.target.writes).toHaveLength(1)
})

test('approved twice, by a double click and on the page and in the inbox at once: it runs once', async ({ page, context, chat }) => {
  await send(page, 'Do x')
  await expect(button(page, 'Allow')).toBeVisible()
  const [action] = await chat.actions()
  const inbox = await context.newPage()
  await inbox.goto(`${chat.url}/actions/${action?.id}`)
  await ready(cards(inbox))
  await sendTogether([page, inbox])
  await Promise.all([button(page, 'Allow').dblclick({ force: true }), approve(cards(inbox))])
  await expectDone(page)
  expect(await chat.actions()).toMatchObject([{ state: 'succeeded', attempt: 1 }])
  expect(chat.target.writes).toHaveLength(1)
})
