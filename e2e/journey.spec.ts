import type { Locator } from '@playwright/test'
import { approve, ask, cards, decide, expect, isDecision, openDecline, test } from './demo.ts'
import { typeWord } from './typed-word.ts'

const isDecided = async (card: Locator): Promise<boolean> => (await card.getAttribute('data-state')) !== 'proposed'

/** The digest stands behind Details, which a card loads after it has been drawn. */
async function digestOf(card: Locator): Promise<string | null> {
  const digest = card.locator('code').last()
  await expect(digest).toHaveText(/^[0-9a-f]{12}$/)
  return digest.textContent()
}

test('ask, card, approve, result link, the agent’s answer: the order changed once', async ({ page, demo }) => {
  await ask(page, demo, 'mark ORD-001 as processing')
  const card = cards(page)
  await expect(card).toHaveAttribute('data-state', 'proposed')
  await expect(card.getByRole('heading', { name: 'Set order ORD-001 to processing' })).toBeVisible()
  await expect(card.locator('del')).toHaveText('pending')
  await expect(card.locator('ins')).toHaveText('processing')
  expect((await demo.order('ORD-001')).status).toBe('pending')

  await approve(card)
  await expect(card).toHaveAttribute('data-state', 'succeeded')
  await expect(page.getByText('Order ORD-001 is now processing.')).toBeVisible()
  expect((await demo.order('ORD-001')).status).toBe('processing')
  expect(await demo.effects('ORD-001')).toBe(1)

  const link = card.getByRole('link', { name: 'View result' })
  await expect(link).toHaveAttribute('href', `${demo.shopUrl}/orders/ORD-001`)
  await page.goto(`${demo.shopUrl}/orders/ORD-001`)
  await expect(page.getByText('processing').first()).toBeVisible()
})

test('a decline with a reason leaves the order alone and the agent repeats the reason', async ({ page, demo }) => {
  await ask(page, demo, 'cancel ORD-003')
  const card = cards(page)
  await openDecline(card)
  await card.getByRole('textbox', { name: /Reason/ }).fill('The customer called back')
  await decide(card.getByRole('button', { name: 'Send decline' }))
  await expect(card).toHaveAttribute('data-state', 'declined')
  await expect(card).toContainText('The customer called back')
  await expect(
    page
      .getByRole('region', { name: 'Conversation' })
      .getByText(/ORD-003 .*The customer called back/)
      .last(),
  ).toBeVisible()
  expect((await demo.order('ORD-003')).status).toBe('pending')
  expect(await demo.effects('ORD-003')).toBe(0)
})

test('the remote brain proposes, hears the decision and goes on', async ({ page, demo }) => {
  await ask(page, demo, 'mark ORD-001 as processing', 'brain')
  await approve(cards(page))
  await expect(cards(page)).toHaveAttribute('data-state', 'succeeded')
  await expect(page.getByText('Order ORD-001 is now processing.')).toBeVisible()
  expect(await demo.effects('ORD-001')).toBe(1)
})

test('a typed command word decides; two calls of one step are decided apart', async ({ page, demo }) => {
  await ask(page, demo, 'cancel ORD-003 and ORD-004')
  await expect(cards(page)).toHaveCount(2)
  await expect(page.getByText('2 approvals waiting')).toBeVisible()
  // A typed word names a card by its id, so the id is whole at every width.
  for (const width of [1280, 640, 560, 520, 390]) {
    await page.setViewportSize({ width, height: 800 })
    const id = cards(page)
      .nth(1)
      .locator('.cs-bar')
      .getByText(/^#\w{6}$/)
    const isWhole = () =>
      id.evaluate((id) => {
        const [part, tail] = [id.getBoundingClientRect(), id.parentElement?.getBoundingClientRect()]
        return part.width > 0 && tail !== undefined && part.bottom <= tail.bottom + 1 && part.right <= tail.right + 0.5
      })
    await expect.poll(isWhole, `${width} px`).toBe(true)
  }
  await approve(cards(page).nth(1))
  await expect(cards(page).nth(1)).toHaveAttribute('data-state', 'succeeded')
  await expect(cards(page).nth(0)).toHaveAttribute('data-state', 'proposed')
  // A word counts for a card that was on the screen as a whole.
  await page.setViewportSize({ width: 1280, height: 1_600 })
  await typeWord(page, 'reject', () => isDecided(cards(page).nth(0)))
  await expect(cards(page).nth(0)).toHaveAttribute('data-state', 'declined')
  await expect(page.getByTestId('session-status').filter({ hasText: 'Done' }).first()).toBeVisible()
  expect((await demo.order('ORD-003')).status).toBe('pending')
  expect((await demo.order('ORD-004')).status).toBe('cancelled')
})

test('a reload at any moment shows the same cards in their true states', async ({ page, demo }) => {
  await ask(page, demo, 'cancel ORD-003 and ORD-004')
  await expect(cards(page)).toHaveCount(2)
  const digest = await digestOf(cards(page).first())
  await page.reload()
  await expect(cards(page)).toHaveCount(2)
  await expect(cards(page).first()).toHaveAttribute('data-state', 'proposed')
  expect(await digestOf(cards(page).first())).toBe(digest)

  const taken = page.waitForResponse(isDecision)
  await approve(cards(page).first())
  await taken
  await page.reload()
  await expect(cards(page).first()).toHaveAttribute('data-state', 'succeeded')
  await expect(cards(page).nth(1)).toHaveAttribute('data-state', 'proposed')
  await page.goto(`${demo.url}/waiting`)
  await expect(cards(page)).toHaveCount(1)
  expect(await demo.effects('ORD-003')).toBe(1)
})

test('kill -9 while a card waits: the same card after the restart, approving it runs the tool once', async ({ page, demo }) => {
  await ask(page, demo, 'mark ORD-001 as processing')
  const card = cards(page)
  await expect(card).toHaveAttribute('data-state', 'proposed')
  const digest = await digestOf(card)

  await demo.kill()
  await expect(page.getByText(/Reconnecting|Connection lost|offline/i).first()).toBeVisible()
  await demo.start()
  await page.reload()
  await expect(card).toHaveAttribute('data-state', 'proposed')
  expect(await digestOf(card)).toBe(digest)
  await typeWord(page, 'approve', () => isDecided(card))
  await expect(card).toHaveAttribute('data-state', 'succeeded')
  await expect(page.getByText('Order ORD-001 is now processing.')).toBeVisible()
  expect(await demo.effects('ORD-001')).toBe(1)
})

test('a failure says why in plain words and offers Retry', async ({ page, demo }) => {
  await ask(page, demo, 'mark ORD-001 as processing')
  await expect(cards(page)).toHaveAttribute('data-state', 'proposed')
  // The order moves on behind the card's back: the shop refuses the same step twice.
  await demo.changeOrder('ORD-001', 'processing')
  await approve(cards(page))
  await expect(cards(page)).toContainText('Asked again')
  await approve(cards(page))
  await expect(cards(page)).toHaveAttribute('data-state', 'failed')
  await expect(cards(page)).toContainText('already processing')
  expect(await demo.effects('ORD-001')).toBe(1)
})

test('a console that could not load all of itself says so, and starts after a reload', async ({ page, demo }) => {
  const marks = /\/assets\/marks-[^/]*\.js$/
  await page.route(marks, (route) => route.abort())
  await page.goto(demo.url)
  const failure = page.getByRole('alert')
  await expect(failure).toContainText('could not be loaded')
  await page.unroute(marks)
  await failure.getByRole('button', { name: 'Reload' }).click()
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible()
  await expect(failure).toHaveCount(0)
})
