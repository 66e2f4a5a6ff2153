import { expect, test } from 'vitest'
import { ADA, ago, SAM, sampleAction } from './testing/actions.ts'
import { openDetails, settled, show, stopClock, untilReady } from './testing/browser.ts'
import { openPage, page, prepareCardPages } from './testing/card-page.ts'
import type { Reply } from './testing/page.tsx'

prepareCardPages()

const calls = () => page.evaluate(() => window.cardPage.calls)
const reply = (given: Reply) =>
  page.evaluate((text) => {
    window.cardPage.reply = JSON.parse(text)
  }, JSON.stringify(given))
const card = () => page.getByTestId('approval-card')
const approve = () => card().getByRole('button', { name: /^Approve( with|:)/ })
const status = () => card().locator('.cs-status').textContent()
const field = () => card().locator('.cs-edit textarea')

async function edit(text: string) {
  if (!(await field().isVisible())) {
    await openDetails(page)
    await card().getByText('Edit before you approve').click()
  }
  await field().fill(text)
}

/** The button rests after what was opened above it has moved it: a press in that moment does nothing. */
async function approveAndRemember() {
  await settled(page)
  await card().locator('button[aria-disabled=false]', { hasText: 'Approve and don’t ask again…' }).click()
}

test('an edit is shown as old and new, counted on the button, and sent with the version that was looked at', async () => {
  await openPage()
  await show(page, { action: sampleAction(), withEditor: true })
  await edit('{"orderId":"ORD-002","newStatus":"shipped"}')
  const rows = card()
    .getByRole('list', { name: /^Edits/ })
    .getByRole('listitem')
  expect(await rows.allTextContents()).toEqual(['orderIdORD-001 → ORD-002', 'newStatusprocessing → shipped'])
  await untilReady(page)
  expect(await approve().textContent()).toBe('Approve with 2 edits')
  await approve().click()
  const { revision, digest } = sampleAction()
  const edited = { orderId: 'ORD-002', newStatus: 'shipped' }
  expect(await calls()).toMatchObject([{ verdict: 'approve', details: { revision, digest, arguments: edited } }])
})

test('half an edit approves nothing; undone, the agent’s own call is approved, without arguments', async () => {
  await openPage()
  await show(page, { action: sampleAction(), withEditor: true })
  await edit('{"orderId":')
  await untilReady(page)
  await approve().click({ force: true })
  expect(await calls()).toEqual([])
  expect(await status()).toBe('What you edited is not complete yet.')
  await edit('{"orderId":"ORD-003","newStatus":"processing"}')
  await edit('{"orderId":"ORD-00')
  await card().getByRole('button', { name: 'Undo all edits' }).click()
  expect(await field().inputValue()).toBe('{"orderId":"ORD-001","newStatus":"processing"}')
  await untilReady(page)
  await approve().click()
  const { revision, digest } = sampleAction()
  expect((await calls()).map(({ details }) => details)).toEqual([{ revision, digest }])
})

test('what the server says is wrong with an edit stands beside it, and nothing is decided', async () => {
  await openPage()
  await show(page, { action: sampleAction(), withEditor: true })
  await reply({
    kind: 'refuse',
    error: { code: 'invalid_arguments', message: 'no', issues: [{ path: '/newStatus', message: 'newStatus must be one of: pending' }] },
  })
  await edit('{"orderId":"ORD-001","newStatus":"gone"}')
  await untilReady(page)
  await approve().click()
  await card().getByText('newStatus must be one of: pending').waitFor()
  expect(await status()).toBe('The edit does not fit the tool. Nothing was decided.')
  expect(await card().getAttribute('data-state')).toBe('proposed')
})

const CHANGED = sampleAction({
  revision: 2,
  digest: 'sha256:other',
  revised: {
    why: 'target',
    reason: 'The values changed since this was shown: status was "pending" and is "shipped" now.',
    by: null,
    at: ago(1),
  },
  preview: [{ field: 'status', oldValue: 'shipped', newValue: 'processing' }],
  updatedAt: ago(1),
})

test('a refusal shows the action as it is now and why it was asked again; the buttons rest before they name it', async () => {
  await openPage()
  await show(page, { action: sampleAction() })
  await untilReady(page)
  // The buttons rest for half a second: on a stopped clock no test is too slow for it.
  await stopClock(page)
  await reply({ kind: 'refuse', error: { code: 'revision_mismatch', message: 'changed', action: CHANGED } })
  await approve().click()
  await card().getByText('status was "pending" and is "shipped" now. Asked again.').waitFor()
  await expect.poll(() => card().locator('del').textContent()).toBe('shipped')
  await expect.poll(status).toMatch(/Review it again/)
  await approve().click({ force: true })
  expect(await calls()).toHaveLength(1)
  await reply({ kind: 'take' })
  // The browser may tell of a move late, and more than once: each time the buttons rest again, on a clock that stands.
  await expect
    .poll(async () => {
      await page.clock.runFor(1_000)
      if ((await approve().getAttribute('aria-disabled')) === 'false') await approve().dispatchEvent('click')
      return (await calls()).length
    })
    .toBe(2)
  expect((await calls())[1]?.details).toEqual({ revision: 2, digest: 'sha256:other' })
})

const LINES: Record<string, string | number>[] = [
  { productId: 'mug', quantity: 2 },
  { productId: 'b\u0000ag', quantity: 1, note: 'as a gift' },
]

test('a list of lines is a table with every value, a list of texts has each by itself; other lists are text', async () => {
  await openPage({ viewport: { width: 320, height: 800 } })
  const preview = [
    { field: 'items', newValue: LINES },
    { field: 'to', oldValue: ['ana@example.com', '1'], newValue: ['ana@example.com', 'b, c', 'd\ne'] },
    { field: 'tags', newValue: [['a'], { b: { c: 1 } }] },
    { field: 'from list to text', oldValue: ['a'], newValue: 'a' },
  ]
  await show(page, { action: sampleAction({ preview }) })
  await untilReady(page)
  const rows = await card()
    .locator('.cs-lines')
    .first()
    .locator('tr')
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)))
  expect(rows).toEqual([
    ['productId', 'quantity', 'note'],
    ['mug', '2', ''],
    ['b⟦U+0000⟧ag', '1', 'as a gift'],
  ])
  const items = (side: string) => card().locator(`${side} .cs-item`).allTextContents()
  expect(await items('del')).toEqual(['ana@example.com', '"1"'])
  expect(await items('ins')).toEqual(['ana@example.com', 'b, c', 'd⟦U+000A⟧e'])
  expect(await card().locator('.cs-item[data-kept]').allTextContents()).toEqual(['ana@example.com', 'ana@example.com'])
  expect(await card().getByText('[["a"],{"b":{"c":1}}]').count()).toBe(1)
  expect(await card().locator('del').last().textContent()).toBe('["a"]')
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
})

test('of a long list the first lines are shown, and all of them when its button is pressed', async () => {
  await openPage()
  const lines = Array.from({ length: 40 }, (_, at) => ({ sku: `MUG-${at}`, name: 'Mug, white, hand-painted', quantity: at }))
  await show(page, {
    action: sampleAction({ risk: { level: 'high', reasons: [], setBy: 'policy' }, preview: [{ field: 'lines', newValue: lines }] }),
  })
  const shown = () => card().locator('.cs-lines tbody tr').count()
  const reveal = card().getByRole('button', { name: /hidden, show all$/ })
  await reveal.first().waitFor()
  expect(await shown()).toBe(6)
  expect(await reveal.first().textContent()).toBe('34 entries hidden, show all')
  await page.locator('.cs-approve[data-rest=blocked]').waitFor()
  await reveal.first().click()
  expect(await shown()).toBe(40)
  // The list of 2,300 characters scrolls in a box of its own, which has the focus.
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Whole list, 40 entries')
})

test('the lines of a value stay lines beside an edge of their own; line feeds that nobody would see are spelled out', async () => {
  await openPage()
  const preview = [
    { field: 'body', newValue: 'Dear Ana,\n\nit is on its way.\n' },
    { field: 'gap', newValue: 'a\n\n\n\nb' },
    {
      field: 'note',
      oldValue: 'The first line of it is as before.\nThe other one was this.',
      newValue: 'The first line of it is as before.\nThe other one is that.',
    },
  ]
  await show(page, { action: sampleAction({ preview }) })
  await card().locator('mark').first().waitFor()
  const texts = await card().locator('ins').allTextContents()
  expect(texts).toEqual([
    'Dear Ana,\n\nit is on its way.⟦U+000A⟧',
    'a⟦U+000A⟧⟦U+000A⟧⟦U+000A⟧⟦U+000A⟧b',
    'The first line of it is as before.\nThe other one is that.',
  ])
  expect(await card().locator('ins.cs-several').count()).toBe(2)
  expect(await card().locator('ins mark').allTextContents()).toEqual(['is', 'that'])
})

test('a short list of lines that stays as it is stands once, as a table that says nothing of a change', async () => {
  await openPage({ viewport: { width: 320, height: 800 } })
  const lines = [
    { line: 'old 1', diff: '-one' },
    { line: '> 1', diff: '+two' },
  ]
  await show(page, { action: sampleAction({ preview: [{ field: 'at a.ts line 1', oldValue: lines, newValue: lines }] }) })
  const table = card().locator('.cs-lines')
  await table.waitFor()
  expect(await table.evaluateAll((all) => all.map((one) => [...one.querySelectorAll('td')].map((cell) => cell.textContent)))).toEqual([
    ['old 1', '-one', '> 1', '+two'],
  ])
  expect(await card().locator('ins, del').count()).toBe(0)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
})

test('looking again shows what is read then', async () => {
  await openPage()
  await show(page, { action: sampleAction(), seenAgain: CHANGED })
  await untilReady(page)
  await card().getByRole('button', { name: 'Look again' }).click()
  await card().getByText('revision 2').waitFor()
  expect(await calls()).toEqual([])
})

const SUGGESTION = { refusal: null, exact: { matched: 3, of: 30 }, rule: { when: 'args.newStatus == "processing"', matched: 14, of: 30 } }

test('"don’t ask again" shows the rule and what it would have answered, asks once more, and no key reaches it', async () => {
  await openPage()
  await show(page, { action: sampleAction(), suggestion: SUGGESTION })
  await openDetails(page)
  await card().getByText('Don’t ask again').click()
  await card().getByText('would have matched 14 of the last 30').click()
  await page.getByLabel('For 1 hour').selectOption('P7D')
  await untilReady(page)
  await approveAndRemember()
  const dialog = page.getByRole('alertdialog')
  await dialog
    .getByText('updateOrderStatus runs without asking in this session, where args.newStatus == "processing", for 7 days')
    .waitFor()
  expect(await calls()).toEqual([])
  await dialog.locator('[type=submit][aria-disabled=false]').click()
  const remember = { scope: 'session', expiresIn: 'P7D', when: 'args.newStatus == "processing"' }
  expect(await calls()).toMatchObject([{ verdict: 'approve', details: { remember } }])
})

test('a reason that is being written survives the confirmation of "don’t ask again"', async () => {
  await openPage()
  await show(page, { action: sampleAction(), suggestion: SUGGESTION })
  await untilReady(page)
  await card().getByRole('button', { name: 'Decline with reason' }).click()
  await page.keyboard.type('not this one')
  await openDetails(page)
  await card().getByText('Don’t ask again').click()
  await card().getByText('would have matched 14 of the last 30').click()
  await approveAndRemember()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
  await card().getByRole('button', { name: 'Decline with reason' }).click()
  expect(await card().getByLabel('Reason, for the agent (optional)').inputValue()).toBe('not this one')
})

test('"don’t ask again" is not there for high risk or where it takes two', async () => {
  await openPage()
  const two = { ...sampleAction().requires, quorum: 2 }
  const high = sampleAction({ risk: { level: 'high', reasons: [], setBy: 'policy' } })
  for (const action of [high, sampleAction({ requires: two })]) {
    await show(page, { action, suggestion: SUGGESTION })
    await untilReady(page)
    expect(await card().getByText('Don’t ask again').count()).toBe(0)
  }
})

test('votes say how many there are, whose, and for whom it waits', async () => {
  await openPage()
  const requires = { quorum: 2, declineQuorum: 1, roles: ['finance', 'approver'], notRequester: true }
  const votes = [{ by: SAM, verdict: 'approve' as const, at: ago(180) }]
  await show(page, { action: sampleAction({ requires, votes }), me: ADA })
  expect(await card().locator('.cs-votes').textContent()).toBe(
    '1 of 2 approvals · Sam approved 10:42:00 · waits for finance or approver, but not the requester',
  )
  await untilReady(page)
  await show(page, { action: sampleAction({ requires, votes }), me: SAM })
  await card().getByText('You approved this; others must decide too.').waitFor()
})

test('who has voted changes their mind: only another vote is offered, and it is sent for what they see', async () => {
  await openPage()
  const requires = { quorum: 2, declineQuorum: 2, roles: ['approver'], notRequester: false }
  const votedAs = (verdict: 'approve' | 'decline', at: string) => sampleAction({ requires, votes: [{ by: ADA, verdict, at }] })
  await show(page, { action: votedAs('approve', ago(20)), withEditor: true })
  const change = card().getByRole('button', { name: 'Change my vote' })
  await change.waitFor()
  await card().focus()
  for (const key of ['a', 'Enter', 'd', 'Control+Enter']) await page.keyboard.press(key)
  expect(
    await card()
      .getByRole('button', { name: /^(Approve|Decline)/ })
      .count(),
  ).toBe(0)
  await change.click()
  expect(await card().evaluate((element) => element === document.activeElement)).toBe(true)
  await untilReady(page)
  expect(
    await card()
      .getByRole('button', { name: /^Approve/ })
      .count(),
  ).toBe(0)
  await page.keyboard.press('a')
  await card().getByText('That is what you voted already.').waitFor()
  await openDetails(page)
  await card().getByText('Edit before you approve').click()
  await card().getByLabel('Arguments').fill('{"orderId":"ORD-002"}')
  expect(
    await card()
      .getByRole('button', { name: /^Approve with 2 edits/ })
      .count(),
  ).toBe(1)
  await card().getByRole('button', { name: 'Undo all edits' }).click()
  await untilReady(page)
  await card().getByRole('button', { name: 'Decline', exact: true }).click()
  const { revision, digest } = sampleAction()
  expect(await page.evaluate(() => window.cardPage.calls)).toEqual([
    { actionId: sampleAction().id, verdict: 'decline', details: { revision, digest } },
  ])
  // The vote has changed: that is the one to change now.
  await show(page, { action: votedAs('decline', ago(0)), withEditor: true })
  await card().getByText('You declined this; others must decide too.').waitFor()
  await change.click()
  await card()
    .getByRole('button', { name: /^Approve/ })
    .waitFor()
  expect(
    await card()
      .getByRole('button', { name: /^Decline/ })
      .count(),
  ).toBe(0)
})
