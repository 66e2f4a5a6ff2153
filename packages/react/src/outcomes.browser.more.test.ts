import { expect, test } from 'vitest'
import { ACTION_PER_STATE, ADA, ago, NOW_MS, SAM, sampleAction } from './testing/actions.ts'
import { openDetails, settled, show, untilReady } from './testing/browser.ts'
import { openPage, page, prepareCardPages } from './testing/card-page.ts'

prepareCardPages()

const unknown = (retryable: boolean) =>
  sampleAction({
    ...ACTION_PER_STATE.outcome_unknown,
    error: { kind: 'ambiguous', message: 'The shop did not answer within 15 s. Whether it acted is not known.', retryable },
  })
const calls = () => page.evaluate(() => window.cardPage.calls)
const card = () => page.getByTestId('approval-card')
const button = (name: string) => card().getByRole('button', { name, exact: true })
async function ready() {
  const ready = card().locator('.cs-button[aria-disabled=false]').first()
  await ready.waitFor()
  // A part that came meanwhile may have moved it.
  await settled(page)
  await ready.waitFor()
}

test('the details offer more time once, and then say who extended the deadline', async () => {
  await openPage()
  const extendableUntil = new Date(NOW_MS + 3_600_000).toISOString()
  const action = sampleAction({ extendableUntil })
  await show(page, { action, withOutcomes: true })
  await openDetails(page)
  const extend = card().getByRole('button', { name: 'Extend until 11:45:00' })
  await extend.waitFor()
  await untilReady(page)
  await extend.click()
  expect((await calls()).map(({ verdict }) => verdict)).toEqual(['extend'])
  const extension = { by: SAM, at: ago(1), from: action.expiresAt ?? '' }
  await show(page, { action: { ...action, extension, expiresAt: extendableUntil, updatedAt: ago(1) }, withOutcomes: true })
  await card().getByText('Sam extended it.').waitFor()
  expect(await extend.count()).toBe(0)
})

test('an unknown outcome offers no Retry; "Mark not done" asks for a note and sends it', async () => {
  await openPage()
  const action = unknown(false)
  await show(page, { action, withRetry: true, withOutcomes: true })
  await ready()
  expect(await card().getByRole('button').allTextContents()).toEqual(['Mark done', 'Mark not done'])
  await button('Mark not done').click()
  await page.getByLabel(/^What did you see/).waitFor()
  await button('Mark not done').click()
  expect(await card().getByRole('alert').textContent()).toMatch(/^Say how you know/)
  expect(await calls()).toEqual([])
  await page.getByLabel(/^What did you see/).fill('  The order is still pending.  ')
  await button('Mark not done').click()
  expect(await calls()).toEqual([{ actionId: action.id, verdict: 'failed', note: 'The order is still pending.', attempt: action.attempt }])
})

test('"Mark done" can be sent from the keyboard, and Escape leaves the form with the focus on the card', async () => {
  await openPage()
  await show(page, { action: unknown(false), withOutcomes: true })
  await ready()
  await button('Mark done').click()
  await page.keyboard.type('seen')
  await page.keyboard.press('Escape')
  expect(await page.evaluate(() => document.activeElement?.className)).toBe('cs-card')
  await button('Mark done').click()
  await page.keyboard.type('seen in the shop')
  await page.keyboard.press('Control+Enter')
  expect(await calls()).toMatchObject([{ verdict: 'succeeded', note: 'seen in the shop' }])
})

test('what was found about one attempt is not said of the next', async () => {
  await openPage()
  const action = { ...unknown(false), attempt: 1 }
  await show(page, { action, withOutcomes: true })
  await ready()
  await button('Mark not done').click()
  const note = page.getByLabel(/^What did you see/)
  await note.fill('No refund in the bank at 11:02.')
  // Somebody settled it, had it tried again, and it ended unknown as well, while this page was asleep.
  await show(page, { action: { ...action, attempt: 2, updatedAt: ago(1) }, withOutcomes: true })
  expect(await note.inputValue()).toBe('No refund in the bank at 11:02.')
  // It rests, so only a forced click gets there.
  await button('Mark not done').click({ force: true })
  await note.press('Control+Enter')
  expect(await calls()).toEqual([])
  expect(await card().getByRole('alert').textContent()).toMatch(/^It was tried again/)
  await button('Back').click()
  await button('Mark not done').click()
  expect(await note.inputValue()).toBe('No refund in the bank at 11:02.')
  await note.fill('No refund in the bank at 11:40.')
  await button('Mark not done').click()
  expect(await calls()).toEqual([{ actionId: action.id, verdict: 'failed', note: 'No refund in the bank at 11:40.', attempt: 2 }])
})

test('what was found about an attempt is sent as found about that one', async () => {
  await openPage()
  const action = { ...unknown(false), attempt: 3 }
  await show(page, { action, withOutcomes: true })
  await ready()
  await button('Mark done').click()
  await page.getByLabel(/^What did you see/).fill('It is in the ledger.')
  await button('Mark done').click()
  expect(await calls()).toMatchObject([{ verdict: 'succeeded', attempt: 3 }])
})

test('where the tool can find out, "Check again" asks it', async () => {
  await openPage()
  await show(page, { action: unknown(true), withOutcomes: true })
  await ready()
  await button('Check again').click()
  expect((await calls()).map((call) => call.verdict)).toEqual(['verify'])
})

test('who may not decide sees the unknown outcome and none of its buttons', async () => {
  await openPage()
  await show(page, { action: unknown(true), withOutcomes: true, me: { ...SAM, roles: ['viewer'] } })
  await card().waitFor()
  expect(await card().getByRole('button').count()).toBe(0)
})

test('a resolved action says who looked and what they saw', async () => {
  await openPage()
  const resolution = { by: ADA, outcome: 'succeeded' as const, note: 'It is in the ledger.', at: ago(5) }
  await show(page, { action: sampleAction({ ...ACTION_PER_STATE.succeeded, resolution }) })
  await expect.poll(() => card().textContent()).toContain('Ada looked: it was done. “It is in the ledger.”')
})

test('an approved action of a client is carried out from the page, once', async () => {
  await openPage()
  await show(page, { action: sampleAction({ ...ACTION_PER_STATE['approved-client'] }), withOutcomes: true })
  await ready()
  await button('Carry out here').dblclick()
  expect((await calls()).map((call) => call.verdict)).toEqual(['carry out'])
})

test('an approval in its grace period says when it starts and is taken back, once; without one there is nothing to take back', async () => {
  await openPage()
  const startsAt = new Date(NOW_MS + 8_000).toISOString()
  await show(page, { action: sampleAction({ ...ACTION_PER_STATE.approved, startsAt }), withOutcomes: true })
  await ready()
  expect(await card().textContent()).toContain('starting in 8 s')
  await button('Undo').dblclick()
  expect((await calls()).map((call) => call.verdict)).toEqual(['undo'])
  await show(page, { action: sampleAction({ ...ACTION_PER_STATE.approved }), withOutcomes: true })
  await expect.poll(() => card().textContent()).toContain('starting')
  expect(await button('Undo').count()).toBe(0)
})

const startsAt = new Date(NOW_MS + 8_000).toISOString()
const extendableUntil = new Date(NOW_MS + 3_600_000).toISOString()
const extension = { by: SAM, at: ago(1), from: ago(-60) }
const done = { ...ACTION_PER_STATE.succeeded, updatedAt: ago(0) }

test.each([
  { pressed: 'Undo', from: { ...ACTION_PER_STATE.approved, startsAt }, to: { revision: 2, startsAt: null } },
  { pressed: 'Carry out here', from: ACTION_PER_STATE['approved-client'], to: ACTION_PER_STATE.executing },
  { pressed: 'Extend until 11:45:00', from: { extendableUntil }, to: { extendableUntil, extension } },
  { pressed: 'Check again', from: unknown(true), to: done },
  { pressed: 'Mark done', from: unknown(false), to: done },
])('the focus is on the card once the button $pressed has gone with what it did', async ({ pressed, from, to }) => {
  await openPage()
  await show(page, { action: sampleAction(from), withOutcomes: true })
  if (pressed.startsWith('Extend')) await openDetails(page)
  await ready()
  await button(pressed).focus()
  await page.keyboard.press('Enter')
  if (pressed === 'Mark done') {
    await page.keyboard.type('seen in the shop')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Mark done')
    await page.keyboard.press('Enter')
  }
  expect(await calls()).toHaveLength(1)
  await show(page, { action: sampleAction(to), withOutcomes: true })
  expect(await button(pressed).count()).toBe(0)
  expect(await page.evaluate(() => document.activeElement?.className)).toBe('cs-card')
})

test('a picture in a result is drawn, what is no picture is only offered for saving, and no Base64 stands among the details', async () => {
  const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const result = {
    content: 'Taken.',
    media: [
      { type: 'image', mimeType: 'image/png', data, name: 'shot.png' },
      { type: 'image', mimeType: 'image/svg+xml', data: 'PHN2Zy8+', name: 'file:///tmp/a.svg' },
    ],
  }
  await openPage()
  await show(page, { action: sampleAction({ state: 'succeeded', result }) })
  const picture = card().locator('.cs-media img')
  await picture.waitFor({ state: 'attached' })
  expect(await picture.count()).toBe(1)
  await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(1)
  const link = card().locator('.cs-media a')
  expect(await link.getAttribute('download')).toBe('a.svg')
  expect(await link.getAttribute('href')).toBe('data:application/octet-stream;base64,PHN2Zy8+')
  await card().getByText('Details').click()
  expect(await card().locator('details.cs-details > pre').textContent()).not.toContain(data)
})
