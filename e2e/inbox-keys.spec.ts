import type { Locator, Page } from '@playwright/test'
import { noteTexts, pressPair, startLate } from './busy.ts'
import { cards, expect, press, ready } from './demo.ts'
import { openInbox, rowOf, rows, test } from './office.ts'

const palette = (page: Page) => page.getByRole('dialog', { name: 'Go to' })

async function tabTo(page: Page, place: Locator): Promise<void> {
  await place.waitFor()
  for (let n = 0; n < 30; n++) {
    if (await place.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error('the key Tab does not lead there')
}

async function goWith(page: Page, key: string, address: RegExp): Promise<void> {
  await pressPair(page, 'g', key)
  await page.waitForURL(address)
}

test('open, edit, approve, undo and the next one by keys alone', async ({ page, office }) => {
  await office.call('PATCH', '/api/preferences', { undoTime: 'PT30S' })
  await startLate(page)
  const undoTexts = await noteTexts(page, '.undo-bar')
  const [first, second] = [await office.agentProposes('one'), await office.agentProposes('two')]
  await openInbox(page, office, '?order=oldest')
  await ready(cards(page))
  await page.keyboard.press('e')
  const field = cards(page).getByLabel('What', { exact: true })
  await tabTo(page, field)
  await page.keyboard.press('Control+A')
  await page.keyboard.type('one and a half')
  const approve = cards(page).getByRole('button', { name: /^Approve.* 1 edit/ })
  await tabTo(page, approve)
  await press(approve, 'Enter')
  await expect(page.getByTestId('undo-bar')).toContainText('start')
  await expect(rowOf(page, first.id)).toContainText(/Starts in \d+ s/)
  await expect(rowOf(page, second.id)).toBeFocused()
  await page.keyboard.press('u')
  await expect.poll(undoTexts).toContain('1 taken back')
  const stored = await (await office.call('GET', `/api/actions/${first.id}`)).json()
  expect(stored).toMatchObject({ state: 'proposed', arguments: { what: 'one and a half' }, attempt: 0, revised: { why: 'undone' } })
  await expect(rowOf(page, second.id)).toBeFocused()
  expect(office.target.writes).toEqual([])
})

test.describe('on a low screen', () => {
  test.use({ viewport: { width: 1280, height: 480 } })

  test('E brings the form to edit into view', async ({ page, office }) => {
    await office.agentProposes('one')
    await openInbox(page, office)
    await ready(cards(page))
    await page.keyboard.press('e')
    await expect(cards(page).getByLabel('What', { exact: true })).toBeInViewport({ ratio: 1 })
  })
})

test('keys lead from anywhere to any page, action or person, and none acts while somebody types or once they are switched off', async ({
  page,
  office,
}) => {
  const action = await office.agentProposes('a very particular letter')
  await openInbox(page, office)
  await goWith(page, 'h', /\/history/)
  await goWith(page, 'p', /\/policy/)
  await page.keyboard.press('Control+k')
  await expect(palette(page).getByRole('combobox')).toBeFocused()
  await expect(palette(page).getByRole('option', { name: /Inbox/ })).toBeVisible()
  await page.keyboard.type('particular')
  await expect(palette(page).getByRole('option').first()).toContainText('a very particular letter')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/actions/${action.id}`)
  await page.keyboard.press('Control+k')
  await expect(palette(page).getByRole('combobox')).toBeFocused()
  // Before the last key has been asked for, the list is that of the keys before.
  const asked = page.waitForRequest((request) => request.url().endsWith('/api/people?q=root'))
  await page.keyboard.type('root')
  await asked
  await expect(palette(page).getByRole('option', { name: /Person/ })).toBeVisible()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/people\//)
  await goWith(page, 'i', /\/waiting/)
  await rows(page).first().waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('ghxu')
  await expect(page.getByRole('searchbox', { name: 'Search actions' })).toHaveValue('ghxu')
  expect(new URL(page.url()).pathname).toBe('/waiting')
  await page.keyboard.press('Escape')

  await page.evaluate(() => localStorage.setItem('countersign-shortcuts', 'off'))
  await page.reload()
  await rows(page).first().waitFor()
  await ready(cards(page))
  for (const key of ['x', 'j', 'k', 'a', 'd', 'e', 'u', 'g', 'h', '?', '/']) await page.keyboard.press(key)
  expect(new URL(page.url()).pathname).toBe('/waiting')
  await expect(rows(page).first()).toHaveAttribute('aria-checked', 'false')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(cards(page)).not.toContainText('Press Enter to approve')
})

test('the palette has a command for everything: it sets what is a setting, opens help, and leads to a button of the page without pressing it', async ({
  page,
  office,
}) => {
  await office.agentProposes('a letter')
  await openInbox(page, office)
  await ready(cards(page))
  const find = async (words: string, expected: RegExp) => {
    await page.keyboard.press('Control+k')
    await expect(palette(page).getByRole('combobox')).toBeFocused()
    await page.keyboard.type(words)
    await expect(palette(page).getByRole('option').first()).toContainText(expected)
  }
  await find('theme dark', /^Theme: dark/)
  await page.keyboard.press('Enter')
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  await find('help', /^Help with keys/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
  await page.keyboard.press('Escape')
  // What decides is left to the card.
  await page.keyboard.press('Control+k')
  await expect(palette(page).getByRole('combobox')).toBeFocused()
  await page.keyboard.type('approve')
  await expect(palette(page).getByRole('status')).toHaveText('Nothing has this name.')
  await page.keyboard.press('Escape')
  await find('notifications', /^Settings/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('menuitemradio', { name: 'Rows: compact' })).toBeVisible()
  await page.keyboard.press('Escape')

  await goWith(page, 'h', /\/history/)
  await page.getByRole('button', { name: 'Export CSV' }).waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await find('export csv', /^Export CSV.*On this page/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: 'Export CSV' })).toBeFocused()
  expect(asked.filter((path) => path.includes('export'))).toEqual([])
})

test('the time to undo is the person’s own, in every browser', async ({ browser, page, office }) => {
  const { id } = await office.agentProposes('one')
  await openInbox(page, office)
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByRole('menuitemradio', { name: 'Undo after approving: 30 seconds' }).click()
  await expect(page.getByRole('menuitemradio', { name: 'Undo after approving: 30 seconds' })).toBeChecked()
  const { cookies, origins } = await page.context().storageState()
  const signedIn = origins.map(({ origin, localStorage }) => ({
    origin,
    localStorage: localStorage.filter(({ name }) => name === 'countersign.console'),
  }))
  const another = await (await browser.newContext({ storageState: { cookies, origins: signedIn } })).newPage()
  await startLate(another)
  await openInbox(another, office)
  await press(cards(another).getByRole('button', { name: /^Approve/ }))
  await expect(another.getByTestId('undo-bar')).toContainText('start')
  // The hour stands for the 30 seconds, and for no other time.
  const { startsAt, updatedAt } = await (await office.call('GET', `/api/actions/${id}`)).json()
  expect(Date.parse(startsAt) - Date.parse(updatedAt)).toBe(3_600_000)
  await another.keyboard.press('u')
  // Its row may not say yet that it starts.
  await expect.poll(async () => (await (await office.call('GET', `/api/actions/${id}`)).json()).state).toBe('proposed')
  await expect(rowOf(another, id)).not.toContainText('Starts in')
  await another.context().close()
})
