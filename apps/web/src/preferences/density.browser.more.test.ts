import { AxeBuilder } from '@axe-core/playwright'
import * as wire from '@countersign/core'
import { expect, test } from 'vitest'
import { openInboxPage, until } from '../testing/inbox-page.ts'

const inbox = openInboxPage(wire)

/** Stands in for the server's preferences. Returns what was stored. */
async function keepPreferences(density: wire.Density = 'comfortable') {
  const stored: wire.Preferences = { quietHours: null, undoTime: null, density, views: [] }
  await inbox.page.context().route('**/api/preferences', (route) => {
    if (route.request().method() === 'PATCH') Object.assign(stored, route.request().postDataJSON())
    return route.fulfill({ json: stored })
  })
  return stored
}

const boxes = () =>
  inbox.page.getByTestId('waiting-row').evaluateAll((all) =>
    all.map((row) => {
      const { top, height } = row.getBoundingClientRect()
      return [top - (row.parentElement?.getBoundingClientRect().top ?? 0), height]
    }),
  )

test('rows stand closer once a person chooses it, by keyboard, and the server stores the choice', async () => {
  const stored = await keepPreferences()
  await inbox.open()
  expect(await boxes()).toEqual([
    [0, 56],
    [56, 56],
    [112, 56],
  ])
  await inbox.page.getByRole('button', { name: 'Settings' }).focus()
  await inbox.page.keyboard.press('Enter')
  const compact = inbox.page.getByRole('menuitemradio', { name: 'Rows: compact' })
  await compact.waitFor()
  // The menu takes the first letter of an item.
  await inbox.page.keyboard.type('rr')
  await inbox.page.keyboard.press('Enter')
  await until(() => compact.getAttribute('aria-checked')).toBe('true')
  await until(boxes).toEqual([
    [0, 44],
    [44, 44],
    [88, 44],
  ])
  await until(async () => stored.density).toBe('compact')
  await inbox.page.keyboard.press('Escape')
  expect((await new AxeBuilder({ page: inbox.page }).setLegacyMode().include('.inbox').analyze()).violations).toEqual([])
  // No text of a row is cut off by it.
  const cut = inbox.page.locator('.inbox-row').evaluateAll((all) => all.filter((row) => row.scrollHeight > row.clientHeight).length)
  expect(await cut).toBe(0)
})

test('a choice on one page is that of the other pages of the browser, and none writes its earlier one over it', async () => {
  const stored = await keepPreferences()
  await inbox.open()
  const opened = inbox.page.waitForEvent('popup')
  await inbox.page.evaluate((url) => void window.open(url), `${inbox.server.url}/waiting`)
  const other = await opened
  await other.getByTestId('waiting-row').first().waitFor()
  const rowPx = () => other.getByTestId('waiting-row').evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height))
  await until(rowPx).toEqual([56, 56, 56])
  await inbox.page.getByRole('button', { name: 'Settings' }).click()
  await inbox.page.getByRole('menuitemradio', { name: 'Rows: compact' }).click()
  await until(rowPx).toEqual([44, 44, 44])
  await until(async () => stored.density).toBe('compact')
  await until(boxes).toEqual([
    [0, 44],
    [44, 44],
    [88, 44],
  ])
  const remembered = () => inbox.page.evaluate(() => localStorage.getItem('countersign-density'))
  expect(await remembered()).toBe('compact')
})

test('a choice that the server did not store says so in the menu, until it is stored', async () => {
  const stored = await keepPreferences()
  await inbox.page.route('**/api/preferences', (route) => (route.request().method() === 'PATCH' ? route.abort() : route.fallback()))
  await inbox.open()
  await inbox.page.getByRole('button', { name: 'Settings' }).click()
  await inbox.page.getByRole('menuitemradio', { name: 'Rows: compact' }).click()
  const unsaved = inbox.page.getByRole('menuitemradio', { name: 'Rows: compact – not saved, try again' })
  await until(() => unsaved.getAttribute('aria-checked')).toBe('false')
  await inbox.page.unroute('**/api/preferences')
  await unsaved.click()
  const saved = inbox.page.getByRole('menuitemradio', { name: 'Rows: compact', exact: true })
  await until(() => saved.getAttribute('aria-checked')).toBe('true')
  await until(async () => stored.density).toBe('compact')
})

test('another browser of the person has the choice that the server stored', async () => {
  await keepPreferences('compact')
  await inbox.open()
  await until(boxes).toEqual([
    [0, 44],
    [44, 44],
    [88, 44],
  ])
})

test('without an answer of the server, this browser keeps the choice that it remembers', async () => {
  await inbox.page.route('**/api/preferences', (route) => route.abort())
  await inbox.page.addInitScript(() => localStorage.setItem('countersign-density', 'compact'))
  await inbox.open()
  await until(boxes).toEqual([
    [0, 44],
    [44, 44],
    [88, 44],
  ])
})
