import type { Page } from '@playwright/test'
import { untilReady } from '../apps/web/src/testing/press.ts'
import { holdDisarming } from './busy.ts'
import { approveButton, cards, countDecisions, expect, expectNoSideScroll, ready } from './demo.ts'
import { boxOf, idOf, nodes, openInbox, rowOf, rows, test } from './office.ts'

const ROWS = 10_000

/** Resolves when all rows are there. */
const allRead = (page: Page, count: number): Promise<void> => expect(page.getByTestId('waiting-summary')).toHaveText(`${count} waiting`)

for (const [screen, viewport] of [
  ['a desk', { width: 1280, height: 720 }],
  ['a phone', { width: 390, height: 844 }],
] as const) {
  test.describe(`on ${screen}`, () => {
    test.use({ many: ROWS, viewport })

    test(`${ROWS} rows are all there, few of them are drawn, and nowhere is the list empty`, async ({ page, office }) => {
      await openInbox(page, office)
      await allRead(page, ROWS)
      await expect(page.getByTestId('count-waiting')).toHaveText('10,000')
      await expect(rows(page).first()).toHaveAttribute('aria-setsize', String(ROWS))
      const box = page.locator('.inbox-scroll')
      /** Whether rows stand at the top, in the middle and at the end of the list after the next frame. */
      const isFilled = (top: number) =>
        box.evaluate(async (element, to) => {
          element.scrollTop = to
          await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
          const { left, top: from, height } = element.getBoundingClientRect()
          return [20, height / 2, height - 20].every((y) => document.elementFromPoint(left + 60, from + y)?.closest('[data-row]') !== null)
        }, top)
      const heightPx = await box.evaluate(({ scrollHeight }) => scrollHeight)
      for (let step = 0; step <= 40; step++) {
        expect(await isFilled((heightPx * step) / 40)).toBe(true)
        if (step % 10 === 0) expect(await nodes(page)).toBeLessThan(2_000)
      }
      await expect(rows(page).last()).toHaveAttribute('aria-posinset', String(ROWS))
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight)).toBeLessThanOrEqual(0)
      await expectNoSideScroll(page)
    })

    test('the focused row stays where it is when one above is decided elsewhere and others come, until they are let in', async ({
      page,
      office,
    }) => {
      await openInbox(page, office)
      await allRead(page, ROWS)
      // The list follows its count: what comes into it while it has the focus waits to be let in.
      await expect(rows(page).first()).toHaveAttribute('aria-setsize', String(ROWS))
      for (let i = 0; i < 4; i++) await page.keyboard.press('j')
      const focused = rowOf(page, idOf(5))
      await expect(focused).toBeFocused()
      const before = await boxOf(focused)
      const decided = await office.call('POST', `/api/actions/${idOf(2)}/decision`, { verdict: 'decline' })
      expect(decided.status).toBe(200)
      await expect(rowOf(page, idOf(2))).toContainText('Declined')
      await expect(rowOf(page, idOf(2))).toHaveAttribute('data-decided', 'true')
      const urgent = await office.propose('one', { expiresIn: 'PT1H' })
      for (const what of ['two', 'three']) await office.propose(what, { expiresIn: 'PT1H' })
      await expect(page.getByTestId('waiting-fresh')).toHaveText('3 new')
      await expect(page.getByTestId('waiting-summary')).toHaveText(`${ROWS + 2} waiting`)
      await expect(focused).toBeFocused()
      expect(await boxOf(focused)).toEqual(before)
      await page.getByTestId('waiting-fresh').click()
      await expect(rows(page).first()).toHaveAttribute('data-row', urgent.id)
      await expect(rows(page).first()).toBeFocused()
      await expect(rowOf(page, idOf(2))).toHaveCount(0)
      expect(await nodes(page)).toBeLessThan(2_000)
    })
  })
}

test('by keys alone: next, approve, decline with a reason, and the next one is selected each time', async ({ page, office }) => {
  const [first, second, third] = [await office.propose('one'), await office.propose('two'), await office.propose('three')]
  const decisions = countDecisions(page)
  await openInbox(page, office)
  await holdDisarming(page)
  await ready(cards(page))
  // A alone sends nothing, and neither does Enter on a row.
  await page.keyboard.press('Enter')
  await expect(cards(page)).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(rowOf(page, first.id)).toBeFocused()
  await page.keyboard.press('a')
  await expect(cards(page)).toContainText('Press Enter to approve')
  expect(decisions.count).toBe(0)
  await page.keyboard.press('Enter')
  await expect(rowOf(page, first.id)).toContainText('Done')
  await expect(rowOf(page, second.id)).toBeFocused()
  // The card of the next row is new: a key that comes too early does nothing.
  await page.keyboard.press('a')
  expect(decisions.count).toBe(1)
  await ready(cards(page))
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.keyboard.press('d')
  await expect(page.getByRole('textbox', { name: /Reason/ })).toBeFocused()
  await page.keyboard.type('jk/ad')
  // The form has just come: its buttons rest.
  await untilReady(cards(page).getByRole('button', { name: 'Send decline' }))
  await page.keyboard.press('Control+Enter')
  await expect(rowOf(page, second.id)).toContainText('Declined')
  await expect(rowOf(page, third.id)).toBeFocused()
  await page.keyboard.press('e')
  await expect(cards(page).getByLabel('JSON', { exact: true })).toBeVisible()
  expect(decisions.count).toBe(2)
  const stored = async (id: string) => (await office.call('GET', `/api/actions/${id}`)).json()
  expect(await stored(first.id)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(await stored(second.id)).toMatchObject({ state: 'declined', votes: [{ reason: 'jk/ad' }] })
})

test('view, search and order are in the address: a reload, a link and the back button keep them', async ({ page, office }) => {
  const apple = await office.propose('apple', { expiresIn: 'PT1H' })
  const pear = await office.propose('pear')
  await office.call('POST', `/api/actions/${(await office.propose('plum')).id}/decision`, { verdict: 'decline', reason: 'No plums.' })
  await openInbox(page, office)
  const shown = () => rows(page).evaluateAll((all) => all.map((row) => row.getAttribute('data-row')))
  await expect.poll(shown).toEqual([apple.id, pear.id])
  await page.getByRole('link', { name: 'All waiting' }).click()
  await page.getByLabel('Order').selectOption('Newest')
  await expect.poll(shown).toEqual([pear.id, apple.id])
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  await page.keyboard.type('appl tool:key by:me')
  await expect.poll(shown).toEqual([apple.id])
  // The rows are those of the search some keys before its end.
  const inAddress = () => Object.fromEntries(new URL(page.url()).searchParams)
  await expect.poll(inAddress).toEqual({ view: 'waiting', order: 'newest', q: 'appl tool:key by:me' })
  const link = page.url()
  await page.reload()
  await expect.poll(shown).toEqual([apple.id])
  await expect(page.getByRole('searchbox', { name: 'Search actions' })).toHaveValue('appl tool:key by:me')
  // The page is called *Inbox*, so people type that.
  await page.goto(link.replace('/waiting?', '/inbox?'))
  await expect(page).toHaveURL(link)
  await expect.poll(shown).toEqual([apple.id])
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Decided' }).click()
  await expect(page.getByText('Nothing matches this search')).toBeVisible()
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await expect(rows(page)).toHaveCount(1)
  await expect(rows(page)).toContainText('Declined')
  await expect(cards(page)).toContainText('No plums.')
  await page.getByRole('searchbox', { name: 'Search actions' }).fill('plu requester:x')
  await expect(page.getByText('requester: is no search term.')).toBeVisible()
  await expect(rows(page)).toHaveCount(1)
  await page.goBack()
  await expect.poll(shown).toEqual([apple.id])
  expect(page.url()).toBe(link)
})

test('back from offline, the inbox has what came and what was decided meanwhile, each once and without a reload', async ({
  page,
  context,
  office,
}) => {
  const [kept, gone] = [await office.propose('kept'), await office.propose('gone')]
  await openInbox(page, office, '?order=oldest')
  await expect(rows(page)).toHaveCount(2)
  await ready(cards(page))
  await page.evaluate(() => Object.assign(window, { isSamePage: true }))
  const decisions = countDecisions(page)
  await context.setOffline(true)
  await expect(page.getByTestId('connection')).toBeVisible()
  await expect(approveButton(cards(page))).toHaveAttribute('aria-disabled', 'true')
  await approveButton(cards(page)).click({ force: true })
  const came = [await office.propose('came first'), await office.propose('came second')]
  const { revision, digest } = gone
  await office.call('POST', `/api/actions/${gone.id}/decision`, { verdict: 'decline', revision, digest })
  await context.setOffline(false)
  const waiting = () =>
    page
      .locator('[data-testid=waiting-row]:not([data-decided=true])')
      .evaluateAll((all) => all.map((row) => row.getAttribute('data-row')).sort())
  await expect.poll(waiting).toEqual([kept, ...came].map(({ id }) => id).sort())
  await expect(page.getByTestId('connection')).toHaveCount(0)
  await ready(cards(page))
  expect(decisions.count).toBe(0)
  expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true)
})

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } })

  test('a row opens the page of its action, and the way back leads to the same row', async ({ page, office }) => {
    for (let i = 0; i < 40; i++) await office.propose(`thing ${i}`)
    await openInbox(page, office, '?order=newest')
    const row = rows(page).filter({ hasText: 'thing 8' })
    await page.locator('.inbox-scroll').evaluate((box) => {
      box.scrollTop = 56 * 26
    })
    await row.click()
    await page.waitForURL(/\/actions\//)
    await expect(cards(page)).toContainText('thing 8')
    await page.getByRole('link', { name: 'Back to the inbox' }).click()
    await expect(row).toBeFocused()
    await expect(row).toBeInViewport()
    expect(new URL(page.url()).search).toBe('?order=newest')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/actions\//)
    await page.goBack()
    await expect(row).toBeFocused()
  })
})
