import type { Page } from '@playwright/test'
import { untilReady } from '../apps/web/src/testing/press.ts'
import type { Action } from '../packages/core/src/index.ts'
import { noteTexts, startLate, untilSettled } from './busy.ts'
import { expect } from './demo.ts'
import { type Office, openInbox, rowOf, test } from './office.ts'

test.use({
  policy: {
    rules: [
      { name: 'risky', match: { when: 'args.what == "bomb"' }, verdict: 'ask', risk: 'high' },
      { name: 'not by who asked', match: { when: 'args.what == "own"' }, verdict: 'ask', requires: { notRequester: true } },
    ],
  },
})

const dialog = (page: Page) => page.getByRole('dialog')
const stateOf = async (office: Office, id: string): Promise<Action> => (await office.call('GET', `/api/actions/${id}`)).json()

/** Opens the preview of what was chosen, and sends it once its buttons can be pressed. */
async function send(page: Page, name: string): Promise<void> {
  const button = dialog(page).getByRole('button', { name, exact: true })
  await untilReady(button)
  await button.click()
  await expect(dialog(page)).toHaveCount(0)
}

test('twelve chosen, one of high risk and one of the person’s own: ten are sent, two are listed with the reason, and undo starts none', async ({
  page,
  office,
}) => {
  await office.call('PATCH', '/api/preferences', { undoTime: 'PT30S' })
  await startLate(page)
  const undoTexts = await noteTexts(page, '.undo-bar')
  const ten: Action[] = []
  for (let n = 1; n <= 10; n++) ten.push(await office.agentProposes(`letter ${n}`))
  const risky = await office.agentProposes('bomb')
  const own = await office.propose('own')
  let decisions = 0
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().includes('/decision')) decisions++
  })
  await openInbox(page, office, '?view=waiting')
  await rowOf(page, risky.id).hover()
  await rowOf(page, risky.id).getByTestId('choose').click()
  await expect(page.getByTestId('chosen-bar')).toContainText('1 chosen')
  await page.getByRole('button', { name: 'Choose all 12' }).click()
  await page.getByRole('button', { name: 'Approve…' }).click()
  await expect(dialog(page).getByRole('heading', { level: 2 })).toHaveText('Approve 10 actions of 12')
  await expect(dialog(page).getByRole('button', { name: 'Cancel' })).toBeFocused()
  await expect(dialog(page).locator('caption')).toContainText('10 × Do letter …')
  await expect(dialog(page).locator('tbody tr')).toHaveCount(10)
  await expect(dialog(page).locator('.bulk-left li')).toHaveText([
    'Do bomb High risk is decided one by one.',
    /^Do own .*someone else must decide/,
  ])
  expect(decisions).toBe(0)
  await send(page, 'Approve 10')
  expect(decisions).toBe(1)
  await expect(page.getByTestId('undo-bar')).toContainText('Approved 10 actions · start in')
  await page.keyboard.press('u')
  await expect.poll(undoTexts).toContain('10 taken back')
  for (const { id } of ten) expect(await stateOf(office, id)).toMatchObject({ state: 'proposed', revision: 2, attempt: 0 })
  for (const { id } of [risky, own]) expect(await stateOf(office, id)).toMatchObject({ state: 'proposed', revision: 1, votes: [] })
  expect(office.target.writes).toEqual([])
})

test('by keys alone: all that are alike are chosen, one is taken out, and each of the others runs once after five seconds', async ({
  page,
  office,
}) => {
  const alike: Action[] = []
  for (let n = 1; n <= 4; n++) alike.push(await office.agentProposes(`letter ${n}`))
  await office.agentProposes('bomb')
  const undoTexts = await noteTexts(page, '[data-testid=undo-bar]')
  await openInbox(page, office, '?order=oldest')
  const [first] = alike
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await expect(rowOf(page, first?.id ?? '')).toBeFocused()
  await page.keyboard.press('Shift+X')
  await expect(page.getByTestId('chosen-bar')).toContainText('4 chosen')
  await page.keyboard.press('x')
  await expect(rowOf(page, first?.id ?? '')).toHaveAttribute('aria-checked', 'false')
  await expect(page.getByTestId('chosen-bar')).toContainText('3 chosen')
  await page.getByRole('button', { name: 'Approve…' }).focus()
  await page.keyboard.press('Enter')
  const approve = dialog(page).getByRole('button', { name: 'Approve 3', exact: true })
  await untilReady(approve)
  await approve.focus()
  await page.keyboard.press('Enter')
  await expect.poll(undoTexts).toContainEqual(expect.stringMatching(/^Approved 3 actions · start in /))
  for (const { id } of alike.slice(1)) expect(await untilSettled(office, id)).toMatchObject({ state: 'succeeded', attempt: 1 })
  await expect(page.getByTestId('undo-bar')).toHaveCount(0)
  expect(office.target.writes).toHaveLength(3)
  expect(await stateOf(office, first?.id ?? '')).toMatchObject({ state: 'proposed', votes: [] })

  await page.keyboard.press('Escape')
  await page.keyboard.press('x')
  await page.getByRole('button', { name: 'Decline…' }).click()
  await dialog(page).getByLabel('Reason, for the agents').fill('Not these.')
  await send(page, 'Decline 1')
  await expect.poll(async () => (await stateOf(office, first?.id ?? '')).state).toBe('declined')
  expect(await stateOf(office, first?.id ?? '')).toMatchObject({ votes: [{ reason: 'Not these.' }] })
})
