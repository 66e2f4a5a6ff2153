import * as wire from '@countersign/core'
import { expect, test } from 'vitest'
import { openInboxPage, until } from '../testing/inbox-page.ts'

const inbox = openInboxPage(wire)
const { actionOf, open, rows, focused } = inbox
const high = { risk: { level: 'high', reasons: [], setBy: 'policy' } }
const heading = (title: string | RegExp) => inbox.page.getByTestId('waiting-group').filter({ hasText: title })
/** What a screen reader says of each line: its level, whether it is folded, and its place. */
const lines = () =>
  inbox.page.locator('.inbox-rows [role=treeitem]').evaluateAll((all) =>
    all.map((line) => {
      const of = (name: string) => line.getAttribute(`aria-${name}`)
      const folded = of('expanded') === null ? '' : of('expanded') === 'true' ? ' unfolded' : ' folded'
      return `${of('level')}${folded} ${of('posinset')}/${of('setsize')}`
    }),
  )
const focusedText = () => inbox.page.evaluate(() => document.activeElement?.textContent ?? '')
const topOf = async (line: ReturnType<typeof heading>) => (await line.boundingBox())?.y
const letter = (id: string, at: number, more: object = {}) =>
  actionOf(id, {
    description: `Send letter ${id} to Ada`,
    arguments: { what: id, to: 'Ada' },
    createdAt: `2026-11-21T10:00:0${at}.000Z`,
    ...more,
  })

test('the choice of groups is in the address and survives a reload; rows of a shape show what differs, one alone shows its headline', async () => {
  inbox.waiting = [letter('one', 1), letter('two', 2), letter('risky', 3, high)]
  await open('?view=waiting&order=oldest')
  await inbox.page.getByLabel('Group').selectOption('Same shape')
  await heading('2 × Send letter … to Ada').waitFor()
  expect(new URL(inbox.page.url()).search).toBe('?view=waiting&order=oldest&group=shape')
  await inbox.page.reload()
  await until(lines).toEqual(['1 unfolded 1/2', '2 1/2', '2 2/2', '1 2/2'])
  await inbox.page.getByRole('tree', { name: 'Actions' }).waitFor()
  expect(await inbox.page.locator('[data-row=act_one] .inbox-what').textContent()).toBe('what: one. ')
  expect(await inbox.page.locator('[data-row=act_risky] .inbox-what').textContent()).toBe('Send letter risky to Ada')
  await inbox.page.getByLabel('Group').selectOption('No groups')
  await inbox.page.getByRole('listbox', { name: 'Actions' }).waitFor()
  expect(new URL(inbox.page.url()).search).toBe('?view=waiting&order=oldest')
  expect(await rows()).toEqual(['one', 'two', 'risky'])
})

test('by keys alone: a row leads to its heading, which folds and unfolds, and all groups fold together', async () => {
  inbox.waiting = [letter('one', 1), letter('two', 2), letter('risky', 3, high)]
  await open('?group=risk&order=oldest')
  await inbox.page.keyboard.press('j')
  await until(focused).toBe('two')
  await inbox.page.keyboard.press('ArrowLeft')
  await until(focusedText).toContain('2 × Medium risk')
  await inbox.page.getByRole('region', { name: 'Selected group' }).getByText('2 actions can be approved together.').waitFor()
  await inbox.page.keyboard.press('ArrowLeft')
  await until(lines).toEqual(['1 folded 1/2', '1 unfolded 2/2', '2 1/1'])
  expect(await focusedText()).toContain('2 × Medium risk')
  await inbox.page.keyboard.press('Enter')
  await until(lines).toEqual(['1 unfolded 1/2', '2 1/2', '2 2/2', '1 unfolded 2/2', '2 1/1'])
  await inbox.page.keyboard.press('ArrowRight')
  await until(focused).toBe('one')
  await inbox.page.keyboard.press('Shift+ArrowLeft')
  await until(lines).toEqual(['1 folded 1/2', '1 folded 2/2'])
  await inbox.page.keyboard.press('j')
  await until(focusedText).toContain('1 × High risk')
  await inbox.page.keyboard.press('Shift+ArrowRight')
  await until(lines).toHaveLength(5)
  expect(inbox.decisions).toEqual([])
})

test('a group stays folded while others come and go, and none of its neighbours moves before they are let in', async () => {
  inbox.waiting = [letter('one', 1), letter('two', 2), letter('risky', 3, high)]
  await open('?group=risk&order=oldest')
  await heading('Medium risk').click()
  await until(rows).toEqual(['risky'])
  const before = await topOf(heading('High risk'))
  inbox.propose(letter('new', 0))
  await until(() => inbox.page.getByTestId('waiting-fresh').textContent()).toBe('1 new')
  inbox.decline('act_two')
  await until(() => heading('Medium risk').textContent()).toContain('1 × Medium risk')
  expect(await topOf(heading('High risk'))).toBe(before)
  await inbox.page.getByTestId('waiting-fresh').click()
  await until(() => heading('Medium risk').textContent()).toContain('2 × Medium risk')
  expect(await rows()).toEqual(['risky'])
  expect(await heading('Medium risk').getAttribute('aria-expanded')).toBe('false')
})

test('a row alone gets no heading above it while the focus is in the list, even when another one of its shape comes', async () => {
  inbox.waiting = [letter('risky', 1, high), letter('one', 2)]
  await open('?group=shape&order=oldest')
  await inbox.page.keyboard.press('j')
  await until(focused).toBe('one')
  const before = await topOf(inbox.page.locator('[data-row=act_one]'))
  inbox.propose(letter('two', 3))
  await until(rows).toEqual(['risky', 'one', 'two'])
  expect(await topOf(inbox.page.locator('[data-row=act_one]'))).toBe(before)
  expect(await inbox.page.getByTestId('waiting-group').count()).toBe(0)
})

test('the heading of a long group stays in sight, and stays where it is when it folds there', async () => {
  inbox.waiting = Array.from({ length: 60 }, (_, at) => letter(`n${at}`, 1, at < 40 ? {} : high))
  await open('?group=risk&order=oldest')
  const box = inbox.page.locator('.inbox-scroll')
  await heading('40 × Medium risk').waitFor()
  const top = await topOf(heading('Medium risk'))
  await box.evaluate((element) => {
    element.scrollTop = 56 * 20
  })
  await until(() => inbox.page.locator('[data-row=act_n25]').isVisible()).toBe(true)
  expect(await topOf(heading('Medium risk'))).toBe(top)
  await heading('Medium risk').click()
  await until(() => inbox.page.locator('[data-row=act_n40]').isVisible()).toBe(true)
  expect(await topOf(heading('Medium risk'))).toBe(top)
  // The last group: without its rows the list would end above the place that is scrolled to.
  await box.evaluate((element) => element.scrollTo(0, element.scrollHeight))
  await until(() => inbox.page.locator('[data-row=act_n59]').isVisible()).toBe(true)
  await heading('High risk').click()
  await until(rows).toEqual([])
  expect(await topOf(heading('High risk'))).toBe(top)
})

test('the box of a heading chooses all of its group or takes them out, says when only some are chosen, and keeps what is chosen elsewhere', async () => {
  inbox.waiting = [letter('one', 1), letter('two', 2), letter('risky', 3, high)]
  await open('?group=risk&order=oldest')
  const chosen = () => inbox.page.getByTestId('chosen-bar').getByRole('status').textContent()
  const checked = () => heading('Medium risk').getAttribute('aria-checked')
  await heading('High risk').getByTestId('choose').click()
  await heading('Medium risk').getByTestId('choose').click()
  await until(chosen).toBe('3 chosen')
  expect(await checked()).toBe('true')
  await inbox.page.locator('[data-row=act_two]').hover()
  await inbox.page.locator('[data-row=act_two]').getByTestId('choose').click()
  await until(checked).toBe('mixed')
  await heading('Medium risk').getByTestId('choose').click()
  await until(chosen).toBe('3 chosen')
  await heading('Medium risk').getByTestId('choose').click()
  await until(chosen).toBe('1 chosen')
  expect(await checked()).toBe('false')
  // Choosing folds nothing.
  expect(await rows()).toEqual(['one', 'two', 'risky'])
})

test('A on a heading opens the preview of its group, in which high risk is left out with the reason; no key decides about many', async () => {
  inbox.waiting = [letter('one', 1), letter('two', 2), letter('risky', 3, high)]
  await open('?group=tool&order=oldest')
  await inbox.page.keyboard.press('k')
  await until(focusedText).toContain('3 × desk.send')
  await inbox.page.keyboard.press('a')
  const dialog = inbox.page.getByRole('dialog')
  await dialog.getByRole('heading', { name: 'Approve 2 actions of 3' }).waitFor()
  expect(await dialog.locator('.bulk-left li').allTextContents()).toEqual(['Send letter risky to Ada High risk is decided one by one.'])
  await inbox.page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(inbox.decisions).toEqual([])
})

test('on a phone, everything above the list takes three rows, and each of its controls can be reached', async () => {
  await inbox.page.setViewportSize({ width: 390, height: 844 })
  inbox.waiting = [letter('one', 1), letter('two', 2)]
  await inbox.page.route('**/api/preferences', (route) => route.fulfill({ json: { views: [] } }))
  await open('?group=shape&q=letter')
  const bar = inbox.page.getByRole('region', { name: 'Views and search' })
  const threeRows = async () => expect((await bar.boundingBox())?.height).toBeLessThanOrEqual(180)
  const canPress = (name: string) => bar.getByRole('button', { name, exact: true }).click({ trial: true })
  await canPress('Fold all')
  await canPress('Save view')
  for (const name of ['Order', 'Group']) await bar.getByLabel(name).click({ trial: true })
  await threeRows()
  await bar.getByRole('button', { name: 'Save view' }).press('Enter')
  await bar.getByLabel('Name of the view').fill('Letters')
  await canPress('Save')
  await canPress('Cancel')
  await threeRows()
})

const noRoom = { status: 503, code: 'not_ready', title: 'Not ready', detail: 'the database takes no writes: nothing was changed' }

test('on a phone, the failure to save a view is in sight, and its name can still be read', async () => {
  await inbox.page.setViewportSize({ width: 390, height: 844 })
  inbox.waiting = [letter('one', 1)]
  await inbox.page.route('**/api/preferences', (route) =>
    route.request().method() === 'GET' ? route.fulfill({ json: { views: [] } }) : route.fulfill({ status: 503, json: noRoom }),
  )
  await open('?group=shape&q=letter')
  const bar = inbox.page.getByRole('region', { name: 'Views and search' })
  await bar.getByRole('button', { name: 'Save view' }).press('Enter')
  const name = bar.getByLabel('Name of the view')
  await name.fill('Letters')
  await name.press('Enter')
  const box = await bar.getByRole('alert').boundingBox()
  expect((box?.x ?? 0) + (box?.width ?? 1_000)).toBeLessThanOrEqual(390)
  expect((await name.boundingBox())?.width).toBeGreaterThan(100)
})
