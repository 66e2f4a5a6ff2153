import type { Page, Request } from '@playwright/test'
import { untilSettled } from './busy.ts'
import { approve, cards, expect, press } from './demo.ts'
import { type Desk, test } from './server.ts'

const propose = async (desk: Desk, tool: string, more: object = {}) =>
  (await desk.call('POST', '/api/actions', { tool, arguments: { what: 'the letter' }, ...more })).json()

interface Seen {
  /** When a card first stood there that did not say that the time was over, epoch ms. */
  drawnAtMs: number
  /** When a card said that the time was over, epoch ms. */
  saidAtMs: number
  /** How many buttons approved on it then. */
  approveButtons: number
  /** The longest that the page took, from now until then, to ask the server something and to rest for a moment. */
  slowestTurnMs: number
  isDone: boolean
}

/** Has the page itself note when a card first says that its time is over: the driver of the browser hears of it later. */
const noteExpiry = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const seen: Seen = { drawnAtMs: 0, saidAtMs: 0, approveButtons: 0, slowestTurnMs: 0, isDone: false }
    Object.assign(window, { seen })
    new MutationObserver(() => {
      if (seen.drawnAtMs === 0 && document.querySelector('[data-testid=approval-card]:not([data-state=expired])'))
        seen.drawnAtMs = Date.now()
      const card = document.querySelector('[data-testid=approval-card][data-state=expired]')
      if (!card || seen.saidAtMs > 0) return
      seen.saidAtMs = Date.now()
      seen.approveButtons = [...card.querySelectorAll('button')].filter(({ textContent }) => textContent?.startsWith('Approve')).length
    }).observe(document.body, { subtree: true, childList: true, attributes: true })
    const takeTurns = async () => {
      while (seen.saidAtMs === 0) {
        const beganMs = Date.now()
        await fetch('/healthz', { cache: 'no-store' })
        await new Promise((resolve) => setTimeout(resolve, 20))
        seen.slowestTurnMs = Math.max(seen.slowestTurnMs, Date.now() - beganMs)
      }
      seen.isDone = true
    }
    void takeTurns()
  })

const readSeen = (page: Page): Promise<Seen> => page.evaluate(() => (window as unknown as { seen: Seen }).seen)

/** Proposes an action that expires soon. Where a busy machine draws its card only once its time is over, another one has twice the time. */
async function proposeUntilDrawn(page: Page, desk: Desk): Promise<{ id: string; expiresAt: string }> {
  for (let seconds = 4; ; seconds *= 2) {
    await expect(page.getByTestId('waiting-empty')).toBeVisible()
    await noteExpiry(page)
    const { id, expiresAt } = await propose(desk, 'send', { expiresIn: `PT${seconds}S` })
    await untilSettled(desk, id)
    const { drawnAtMs } = await readSeen(page)
    if (drawnAtMs > 0 && drawnAtMs < Date.parse(expiresAt)) return { id, expiresAt }
  }
}

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
  // Its tool has nothing to read before it sends.
  await expect(page.getByTestId('story-step').first()).toContainText('digest')
  await expect(page.getByTestId('story-step').first()).not.toContainText('current values read')
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
  const empty = page.getByTestId('waiting-empty')
  await expect(empty).toBeVisible()
  const card = cards(page)
  // This one has an hour: a slow machine may draw the next one only once it is over.
  const first = await propose(desk, 'send', { expiresIn: 'PT1H' })
  await expect(card).toContainText('Expires')
  await desk.call('POST', `/api/actions/${first.id}/decision`, { verdict: 'decline' })
  await expect(empty).toBeVisible()

  const { id, expiresAt } = await proposeUntilDrawn(page, desk)
  // The inbox keeps it for 5 s, in which nobody may look.
  await expect.poll(async () => (await readSeen(page)).isDone).toBe(true)
  const { saidAtMs, approveButtons, slowestTurnMs } = await readSeen(page)
  // A second, and what the machine itself holds up: on a quiet one a turn takes some 30 ms.
  expect(saidAtMs - Date.parse(expiresAt)).toBeLessThan(1_000 + 10 * slowestTurnMs)
  expect(approveButtons).toBe(0)
  await page.goto(`${desk.url}/actions/${id}`)
  await expect(card).toHaveAttribute('data-state', 'expired')
  await expect(card.getByRole('button', { name: /Approve/ })).toHaveCount(0)
  const late = await desk.call('POST', `/api/actions/${id}/decision`, { verdict: 'approve' })
  expect(late.status).toBe(409)
  expect(await late.json()).toMatchObject({ code: 'already_decided', action: { state: 'expired', votes: [] } })
  expect(desk.sent).toEqual([])
})
