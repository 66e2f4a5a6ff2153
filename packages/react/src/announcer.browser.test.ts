import { expect, test } from 'vitest'
import { sampleAction } from './testing/actions.ts'
import { show, stopClock } from './testing/browser.ts'
import { openPage, page, prepareCardPages } from './testing/card-page.ts'

prepareCardPages()

declare global {
  interface Window {
    heard: { polite: string[]; assertive: string[] }
  }
}

/** Writes down every text that the live regions take on. */
const listen = () =>
  page.evaluate(() => {
    window.heard = { polite: [], assertive: [] }
    for (const level of ['polite', 'assertive'] as const) {
      const region = document.querySelector(`[aria-live=${level}]`)
      if (region === null) throw new Error(`no ${level} region`)
      const note = () => window.heard[level].push(region.textContent ?? '')
      new MutationObserver(note).observe(region, { childList: true, characterData: true, subtree: true })
    }
  })

/** What was heard once everything that has been set going is drawn. */
const heard = () => page.evaluate(() => scheduler.postTask(() => window.heard, { priority: 'background' }))
const numbered = (n: number) => sampleAction({ id: `act_${n}` })

test('one new approval is one polite message that says how to answer', async () => {
  await openPage()
  await stopClock(page)
  await listen()
  await show(page, { action: numbered(1) })
  await page.clock.runFor(1_000)
  await show(page, { action: numbered(1) })
  await page.clock.runFor(5_000)
  expect(await heard()).toEqual({
    polite: [
      'Approval needed: Set order ORD-001 to processing, medium risk. In the card, press A and then Enter to approve, or D to decline.',
    ],
    assertive: [],
  })
})

test('no keys are named where they do not answer', async () => {
  await openPage()
  await stopClock(page)
  await listen()
  await show(page, { action: numbered(1), shortcuts: false })
  await page.clock.runFor(1_000)
  expect((await heard()).polite).toEqual(['Approval needed: Set order ORD-001 to processing, medium risk.'])
})

test('a batch of five arrivals is one message', async () => {
  await openPage()
  await stopClock(page)
  await listen()
  for (let count = 1; count <= 5; count++) {
    await show(page, ...Array.from({ length: count }, (_, index) => ({ action: numbered(index) })))
    await page.clock.runFor(50)
  }
  await page.clock.runFor(5_000)
  expect(await heard()).toEqual({ polite: ['5 new approvals needed.'], assertive: [] })
})

test('only a failure and an unknown outcome interrupt', async () => {
  await openPage()
  await stopClock(page)
  await show(page, { action: numbered(1) }, { action: numbered(2) }, { action: numbered(3) })
  await page.clock.runFor(1_000)
  await listen()
  for (const state of ['approved', 'executing'] as const) {
    await show(page, ...[1, 2, 3].map((n) => ({ action: { ...numbered(n), state } })))
    await page.clock.runFor(1_000)
  }
  expect(await heard()).toEqual({ polite: [], assertive: [] })
  const error = { kind: 'http', message: 'The shop said no', retryable: true }
  await show(
    page,
    { action: { ...numbered(1), state: 'failed', error } },
    { action: { ...numbered(2), state: 'succeeded' } },
    { action: { ...numbered(3), state: 'outcome_unknown' } },
  )
  await page.clock.runFor(1_000)
  const { polite, assertive } = await heard()
  expect(polite).toEqual(['Done: Set order ORD-001 to processing. Approved.'])
  expect(assertive).toHaveLength(1)
  expect(assertive[0]).toMatch(/^Failed: .*The shop said no.*Outcome unknown: .*May or may not have run/)
})

test('an approval that becomes overdue is told once, politely, several in one message; what was overdue before is not news', async () => {
  await openPage()
  await stopClock(page)
  const shown = (...overdue: number[]) =>
    show(page, ...[1, 2, 3, 4].map((n) => ({ action: { ...numbered(n), overdue: overdue.includes(n) } })))
  await shown(4)
  await page.clock.runFor(1_000)
  await listen()
  for (const overdue of [[4], [1, 4], [1, 4], [1, 2, 3, 4], [1, 2, 3, 4]]) {
    await shown(...overdue)
    await page.clock.runFor(1_000)
  }
  expect(await heard()).toEqual({
    polite: [
      'Approval overdue: Set order ORD-001 to processing, medium risk. In the card, press A and then Enter to approve, or D to decline.',
      '2 approvals overdue.',
    ],
    assertive: [],
  })
})

test('what is there already is not news', async () => {
  await openPage()
  await stopClock(page)
  await listen()
  await show(page, { action: { ...numbered(1), state: 'succeeded' } }, { action: { ...numbered(2), state: 'failed' } })
  await page.clock.runFor(2_000)
  expect(await heard()).toEqual({ polite: [], assertive: [] })
})

test('older approvals that are listed later are not news, a newer one is', async () => {
  await openPage()
  await stopClock(page)
  const at = (n: number) => ({ action: { ...numbered(n), updatedAt: `2026-11-20T10:0${n}:00.000Z` } })
  await show(page, at(5), at(6))
  await page.evaluate(() => window.cardPage.listenAnew())
  await listen()
  await show(page, at(1), at(2), at(5), at(6))
  await page.clock.runFor(2_000)
  expect(await heard()).toEqual({ polite: [], assertive: [] })
  await show(page, at(1), at(2), at(5), at(6), at(7))
  await page.clock.runFor(2_000)
  expect((await heard()).polite).toHaveLength(1)
})
