import type { Request } from '@playwright/test'
import { approve, cards, expect, press } from './demo.ts'
import { type Desk, test } from './server.ts'

const propose = async (desk: Desk, tool: string, more: object = {}) =>
  (await desk.call('POST', '/api/actions', { tool, arguments: { what: 'the letter' }, ...more })).json()

test('an unknown outcome waits for a person; "Mark not done" needs a note, and then Retry is there', async ({ page, desk }) => {
  desk.answers = 'drop'
  const { id } = await propose(desk, 'send')
  await page.goto(`${desk.url}/waiting`)
  const card = cards(page)
  await approve(card)
  await expect(card).toHaveAttribute('data-state', 'outcome_unknown')
  await expect(card.getByRole('button', { name: 'Retry' })).toHaveCount(0)
  expect(desk.sent).toHaveLength(1)
  await page.reload()
  await expect(page.getByTestId('waiting-summary')).toContainText('1 of unknown outcome')
  await page.goto(`${desk.url}/actions/${id}`)
  const notDone = card.getByRole('button', { name: 'Mark not done' })
  await press(notDone)
  await press(notDone)
  await expect(card.getByRole('alert')).toContainText('Say how you know')
  await page.getByLabel(/What did you see/).fill('The letter is still in the tray.')
  await press(notDone)
  await expect(card).toHaveAttribute('data-state', 'failed')
  await expect(card).toContainText('The letter is still in the tray.')
  desk.answers = 'well'
  const isRetry = (request: Request): boolean => request.method() === 'POST' && request.url().endsWith('/retry')
  await Promise.all([page.waitForRequest(isRetry), press(card.getByRole('button', { name: 'Retry' }))])
  await expect(card).toHaveAttribute('data-state', 'succeeded')
  expect(desk.sent).toHaveLength(2)
  expect(new Set(desk.sent.map((request) => request.key)).size).toBe(1)
})

test('what a client executes is sent by the browser that approved it, once, and its result comes back', async ({ page, desk }) => {
  const { id } = await propose(desk, 'sendHere')
  await page.goto(`${desk.url}/actions/${id}`)
  const card = cards(page)
  await approve(card)
  await expect(card).toHaveAttribute('data-state', 'succeeded')
  const action = await (await desk.call('GET', `/api/actions/${id}`)).json()
  expect(desk.sent).toEqual([{ path: '/send-here', origin: desk.url, key: action.idempotencyKey, body: { what: 'the letter' } }])
  expect(action).toMatchObject({ state: 'succeeded', result: { ok: true }, attempt: 1 })
})

test('approved elsewhere, it waits until a person has this browser carry it out', async ({ page, desk }) => {
  const { id } = await propose(desk, 'sendHere')
  await desk.call('POST', `/api/actions/${id}/decision`, { verdict: 'approve' })
  await page.goto(`${desk.url}/actions/${id}`)
  const card = cards(page)
  await expect(card).toContainText('to be carried out by a browser')
  expect(desk.sent).toEqual([])
  const here = card.getByRole('button', { name: 'Carry out here' })
  await press(here, 'dblclick')
  await expect(card).toHaveAttribute('data-state', 'succeeded')
  expect(desk.sent).toHaveLength(1)
})

test('when its time is over the card says so within a second, its buttons are gone and the tool is never called', async ({
  page,
  desk,
}) => {
  await page.goto(`${desk.url}/waiting`)
  await expect(page.getByTestId('waiting-empty')).toBeVisible()
  // The page itself notes the time: the driver of the browser hears of it later.
  await page.evaluate(() => {
    const seen = { saidAtMs: 0 }
    Object.assign(window, { seen })
    new MutationObserver(() => {
      if (document.querySelector('[data-testid=approval-card][data-state=expired]')) seen.saidAtMs ||= Date.now()
    }).observe(document.body, { subtree: true, childList: true, attributes: true })
  })
  const { id, expiresAt } = await propose(desk, 'send', { expiresIn: 'PT4S' })
  const card = cards(page)
  await expect(card).toContainText('Expires')
  await expect(card).toHaveAttribute('data-state', 'expired')
  const saidAtMs = await page.evaluate(() => (window as unknown as { seen: { saidAtMs: number } }).seen.saidAtMs)
  expect(saidAtMs - Date.parse(expiresAt)).toBeLessThan(2_000)
  await expect(card.getByRole('button', { name: /Approve/ })).toHaveCount(0)
  const late = await desk.call('POST', `/api/actions/${id}/decision`, { verdict: 'approve' })
  expect(late.status).toBe(409)
  expect(await late.json()).toMatchObject({ code: 'already_decided', action: { state: 'expired', votes: [] } })
  expect(desk.sent).toEqual([])
})
