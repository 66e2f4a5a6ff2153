import { expect, type Page } from '@playwright/test'
import { startFrontEnd } from '../examples/ai-sdk-ui/front-end.mjs'
import { CALL, chatTest, sendTogether } from './chat.ts'
import { approve, cards, ready } from './demo.ts'

const test = chatTest(startFrontEnd)

async function send(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}

const call = (page: Page) => page.locator('section')
const states = (page: Page) => call(page).evaluateAll((all) => all.map((one) => one.getAttribute('data-state')))

test.describe('a read', () => {
  test.use({ script: { steps: [{ calls: [{ tool: 'look', arguments: { what: 'x' } }] }, { text: 'It is there.' }] } })
  test('a read runs by itself, and the page shows its result and asks nobody', async ({ page, chat }) => {
    await send(page, 'Look at x')
    await expect(page.getByText('It is there.')).toHaveCount(1)
    await expect(call(page)).toHaveCount(1)
    await expect(call(page)).toHaveAttribute('data-state', 'output-available')
    await expect(call(page)).toContainText('"id": 4')
    await expect(page.getByRole('button', { name: 'Approve' })).toHaveCount(0)
    expect(await chat.actions()).toMatchObject([{ tool: 'look', state: 'succeeded', votes: [] }])
  })
})

test('what somebody else changed and approved is what the open page shows and what ran, once', async ({ page, chat }) => {
  await send(page, 'Do x')
  await expect(call(page)).toHaveAttribute('data-state', 'approval-requested')
  const [action] = await chat.actions()
  if (!action) throw new Error('nothing waits')
  expect(await chat.decide(action, { verdict: 'approve', arguments: { what: 'better' } })).toBe(200)
  await expect(call(page)).toHaveAttribute('data-state', 'output-available')
  await expect(call(page)).toContainText('"what": "better"')
  await expect(call(page)).not.toContainText('"what": "x"')
  await expect(call(page)).toContainText('"id": 4')
  await expect(page.getByText('Done.')).toHaveCount(1)
  await expect(call(page)).toHaveCount(1)
  expect(chat.target.writes.map(({ body }) => body)).toEqual([{ what: 'better' }])
})

test.describe('expired', () => {
  test.use({
    policy: { rules: [{ name: 'soon', match: { effect: 'write' }, verdict: 'ask', expires: 'PT3S' }] },
    script: { steps: [{ calls: [CALL] }, { text: 'I see.' }] },
  })
  test('what nobody decided in time ends on the open page with the reason, and nothing ran', async ({ page, chat }) => {
    await send(page, 'Do x')
    await expect(call(page)).toHaveAttribute('data-state', 'output-denied')
    await expect(call(page)).toContainText('Nobody decided about this in time')
    await expect(call(page)).not.toContainText('Declined')
    await expect(page.getByRole('button', { name: 'Approve' })).toHaveCount(0)
    await expect(page.getByText('I see.')).toHaveCount(1)
    expect(await chat.actions()).toMatchObject([{ state: 'expired', votes: [] }])
    expect(chat.target.writes).toEqual([])
  })
})

test('a server that is killed while the page waits: the open page finds it again, and what is approved elsewhere runs once', async ({
  page,
  chat,
}) => {
  await send(page, 'Do x')
  await expect(call(page)).toHaveAttribute('data-state', 'approval-requested')
  await chat.kill()
  await expect(page.getByRole('alert')).toBeVisible()
  await chat.start()
  await expect(page.getByRole('alert')).toHaveCount(0)
  await expect(call(page)).toHaveAttribute('data-state', 'approval-requested')
  const [action] = await chat.actions()
  if (!action) throw new Error('nothing waits')
  expect(await chat.decide(action, { verdict: 'approve' })).toBe(200)
  await expect(call(page)).toHaveAttribute('data-state', 'output-available')
  await expect(page.getByText('Done.')).toHaveCount(1)
  await expect(call(page)).toHaveCount(1)
  expect(chat.target.writes).toHaveLength(1)
})

test('an approval that a killed server did not take is asked for again, and runs once', async ({ page, chat }) => {
  await send(page, 'Do x')
  await expect(call(page)).toHaveAttribute('data-state', 'approval-requested')
  await chat.kill()
  await expect(page.getByRole('alert')).toBeVisible()
  const refused = page.waitForResponse((response) => response.request().method() === 'POST')
  await page.getByRole('button', { name: 'Approve' }).click()
  expect((await refused).status()).toBe(502)
  await expect(call(page)).toHaveAttribute('data-state', 'approval-responded')
  await chat.start()
  await expect(call(page)).toHaveAttribute('data-state', 'approval-requested')
  await expect(page.getByRole('alert')).toHaveCount(0)
  expect(chat.target.writes).toEqual([])
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect(call(page)).toHaveAttribute('data-state', 'output-available')
  await expect(page.getByText('Done.')).toHaveCount(1)
  expect(chat.target.writes).toHaveLength(1)
})

test('approved twice, by a double click, in two tabs, and on the page and in the console at once: it runs once', async ({
  page,
  context,
  chat,
}) => {
  await send(page, 'Do x')
  await expect(call(page)).toHaveAttribute('data-state', 'approval-requested')
  // A duplicated tab has the same conversation.
  const opened = page.waitForEvent('popup')
  await page.evaluate(() => void window.open(location.href))
  const tab = await opened
  await expect(call(tab)).toHaveAttribute('data-state', 'approval-requested')
  const [action] = await chat.actions()
  const console = await context.newPage()
  await console.goto(`${chat.url}/actions/${action?.id}`)
  await ready(cards(console))
  await sendTogether([page, tab, console])
  await Promise.all([
    page.getByRole('button', { name: 'Approve' }).dblclick(),
    tab.getByRole('button', { name: 'Approve' }).click(),
    approve(cards(console)),
  ])
  for (const one of [page, tab]) {
    await expect(call(one)).toHaveAttribute('data-state', 'output-available')
    await expect(one.getByText('Done.')).toHaveCount(1)
    expect(await states(one)).toEqual(['output-available'])
    await expect(one.getByRole('alert')).toHaveCount(0)
  }
  expect(await chat.actions()).toMatchObject([{ state: 'succeeded', attempt: 1 }])
  expect(chat.target.writes).toHaveLength(1)
})
