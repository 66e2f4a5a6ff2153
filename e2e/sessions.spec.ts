import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from '@playwright/test'
import { startLiveBrain } from '../verification/testing/live-brain.ts'
import { type Call, callWith } from './call.ts'
import { test as base, expect, expectNoSideScroll, signInBrowser } from './demo.ts'
import { windowScroll } from './page-layout.ts'
import { KEY, startServer } from './server.ts'

interface Place {
  url: string
  folder: string
  link: string
  call: Call
  /** A session in which somebody said something and was answered. */
  talk(title: string, text: string): Promise<string>
}

const test = base.extend<{ place: Place }>({
  place: async ({ context }, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-e2e-'))
    const brain = await startLiveBrain(({ messages }) => ({ text: `You said: ${messages.at(-1)?.content}` }))
    const server = await startServer(folder, { agents: { desk: { model: `remote/${brain.baseUrl}` } } })
    const call = callWith(KEY, () => server.url)
    const talk = async (title: string, text: string) => {
      const { id } = await (await call('POST', '/api/sessions', { title })).json()
      await call('POST', `/api/sessions/${id}/messages`, { content: text })
      await expect.poll(async () => (await (await call('GET', `/api/sessions/${id}`)).json()).status).toBe('completed')
      return id
    }
    await signInBrowser(context, server.link)
    await use({ url: server.url, link: server.link, folder, call, talk })
    await server.end()
    await brain[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  },
})

/** Holds the page's changes of a title on their way to the server. */
async function holdRenames(page: Page): Promise<{ sent: Promise<void>; release(): void }> {
  const [sent, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route('**/api/sessions/*', async (route) => {
    if (route.request().method() === 'PATCH') {
      sent.resolve()
      await released.promise
    }
    await route.fallback()
  })
  return { sent: sent.promise, release: released.resolve }
}

test('a person finds a session by words and status, renames it in place and deletes it; another window follows', async ({
  place,
  page,
  context,
}) => {
  const lamps = await place.talk('Lamps', 'A purple lamp, 100% wool shade')
  await place.talk('Chairs', 'Six chairs')
  await place.call('POST', '/api/sessions', { title: 'Empty one' })
  await page.goto(`${place.url}/sessions/${lamps}`)
  const items = page.getByTestId('session-item')
  await expect(items).toHaveCount(3)

  const search = page.getByRole('searchbox', { name: 'Search sessions' })
  await search.fill('PURPLE')
  await expect(items).toHaveCount(1)
  await expect(items).toContainText('Lamps')
  await expect(search).toBeFocused()
  await search.fill('100_')
  await expect(page.getByText('No session matches. Try other words or another status.')).toBeVisible()
  await search.press('Escape')
  await expect(items).toHaveCount(3)
  await page.getByRole('combobox', { name: 'Status of sessions' }).selectOption('New')
  await expect(items).toHaveCount(1)
  await expect(items).toContainText('Empty one')
  await page.reload()
  await expect(page.getByRole('combobox', { name: 'Status of sessions' })).toHaveValue('idle')
  await expect(items).toHaveCount(1)
  // The words first: that none is found shows when they count, a moment after they were typed. A row that is drawn anew then takes no click.
  await search.fill('said')
  await expect(page.getByText('No session matches. Try other words or another status.')).toBeVisible()
  await page.getByRole('combobox', { name: 'Status of sessions' }).selectOption('Done')
  await expect(items).toHaveCount(2)
  await items.filter({ hasText: 'Chairs' }).click()
  await expect(page.getByRole('heading', { name: 'Chairs' })).toBeVisible()
  await expect(items).toHaveCount(2)
  await items.filter({ hasText: 'Lamps' }).click()
  await expect(page.getByRole('heading', { name: 'Lamps' })).toBeVisible()

  // This window asks for its list only when something tells it to.
  const list = await context.newPage()
  await list.addInitScript(() => {
    const every = window.setInterval.bind(window)
    Object.assign(window, { setInterval: (act: () => void, ms: number) => (ms === 30_000 ? 0 : every(act, ms)) })
  })
  await list.goto(place.url)
  await expect(list.getByTestId('session-item')).toHaveCount(3)

  const other = await context.newPage()
  await other.goto(`${place.url}/sessions/${lamps}`)
  await expect(other.getByRole('heading', { name: 'Lamps' })).toBeVisible()
  await page.getByRole('button', { name: 'Rename' }).click()
  const field = page.getByRole('textbox', { name: 'Title of the session' })
  await expect(field).toBeFocused()
  await field.fill('Not this')
  await field.press('Escape')
  await expect(page.getByRole('heading', { name: 'Lamps' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Rename' })).toBeFocused()
  await page.getByRole('heading', { name: 'Lamps' }).dblclick()
  await page.route('**/api/sessions/*', (route) => (route.request().method() === 'PATCH' ? route.abort() : route.fallback()))
  await field.fill('Lamps\u202e for Lea')
  await field.press('Enter')
  await expect(page.getByRole('alert').filter({ hasText: /\S/ })).toBeVisible()
  await expect(field).toHaveValue('Lamps\u202e for Lea')
  await page.unrouteAll()
  // Somebody goes on to another field while it is saved, and stays there.
  const renames = await holdRenames(page)
  await field.press('Enter')
  await renames.sent
  const message = page.getByRole('textbox', { name: 'Message' })
  await message.focus()
  renames.release()
  await expect(field).toHaveCount(0)
  await expect(message).toBeFocused()
  for (const each of [page, other]) await expect(each.getByRole('heading', { name: 'Lamps⟦U+202E⟧ for Lea' })).toBeVisible()
  await expect(list.getByTestId('session-item').filter({ hasText: 'Lamps⟦U+202E⟧ for Lea' })).toBeVisible()

  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  const dialog = page.getByRole('alertdialog')
  await expect(dialog).toContainText('Its actions stay')
  await dialog.getByRole('button', { name: 'Cancel' }).press('Escape')
  await expect(dialog).toHaveCount(0)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await expect(page).toHaveURL(`${place.url}/`)
  await expect(items).toHaveCount(2)
  await expect(list.getByTestId('session-item')).toHaveCount(2)
  await expect(other.getByText('This session was deleted, or you no longer have access to it.')).toBeVisible()
  await expect(other.getByText(/deleted this session/)).toBeVisible()
  expect((await place.call('GET', `/api/sessions/${lamps}`)).status).toBe(404)
})

test('a session of 2,000 messages opens with its newest; older ones come as one scrolls up and nothing jumps', async ({ place, page }) => {
  const id = await place.talk('Long', 'the very first')
  const database = new DatabaseSync(join(place.folder, 'data', 'countersign.db'))
  database.exec('pragma busy_timeout = 60000; begin immediate')
  const insert = database.prepare(
    `insert into message (session_id, seq, id, role, kind, in_history, queued, content, created_at) values (?, ?, ?, ?, 'text', 1, 0, ?, 1)`,
  )
  for (let i = 1; i <= 2_000; i++) {
    const text = `Message ${i}. ${'Some words that go over several lines. '.repeat(i % 7)}`
    insert.run(id, 1_000 + i, `msg_long${i}`, i % 2 ? 'user' : 'assistant', text)
  }
  database.prepare('update session set last_seq = 4000 where id = ?').run(id)
  database.exec('commit')
  database.close()

  await page.setViewportSize({ width: 390, height: 800 })
  const started = Date.now()
  await page.goto(`${place.url}/sessions/${id}`)
  await expect(page.getByText('Message 2000.')).toBeInViewport()
  const openedMs = Date.now() - started
  const rows = page.getByTestId('message')
  const first = await rows.count()
  expect(first).toBeLessThanOrEqual(150)
  const elements = await page.evaluate(() => document.querySelectorAll('*').length)
  test.info().annotations.push({ type: 'measured', description: JSON.stringify({ openedMs, rows: first, elements }) })
  expect(elements).toBeLessThan(3_000)
  await expectNoSideScroll(page)
  // Only the conversation scrolls: the window would take the bar and the composer along, out of sight.
  expect(await page.evaluate(windowScroll)).toEqual([])

  // Up to the top again and again: what stands there stays there, and nothing is said to be new.
  const region = page.getByTestId('conversation')
  for (let round = 0; round < 4; round++) {
    const before = await rows.count()
    const text = await rows.first().textContent()
    const place = () =>
      region.evaluate((node, wanted) => {
        const row = [...node.querySelectorAll<HTMLElement>('[data-testid=message]')].find((each) => each.textContent === wanted)
        return row ? Math.round(row.getBoundingClientRect().top) : NaN
      }, text)
    const top = await region.evaluate((node) => {
      const top = () => node.querySelector('[data-testid=message]')?.getBoundingClientRect().top ?? 0
      node.scrollTop = 60
      return Math.round(top())
    })
    await expect.poll(() => rows.count()).toBeGreaterThan(before)
    expect(Math.abs((await place()) - top)).toBeLessThanOrEqual(2)
    await expect(page.getByTestId('new-messages')).toHaveCount(0)
  }
  // A phone that is turned has other lines, and nothing new.
  for (const width of [800, 390]) {
    await page.setViewportSize({ width, height: 800 })
    await expect.poll(() => region.evaluate((node) => node.getBoundingClientRect().width)).toBeGreaterThan(width === 390 ? 300 : 400)
    await expect(page.getByTestId('new-messages')).toHaveCount(0)
  }
  // Live events go on with most of the session not loaded.
  await place.call('POST', `/api/sessions/${id}/messages`, { content: 'still here?' })
  await expect(page.getByText('You said: still here?')).toBeAttached()
  await expect(page.getByTestId('new-messages')).toBeVisible()
  // It stands below the conversation: on it, it could lie on the buttons of a card.
  const gap = await page.getByTestId('new-messages').evaluate((pill) => {
    const shown = document.querySelector('[data-testid=conversation]')
    return pill.getBoundingClientRect().top - (shown?.getBoundingClientRect().bottom ?? Number.POSITIVE_INFINITY)
  })
  expect(gap).toBeGreaterThanOrEqual(0)
  await page.getByTestId('new-messages').click()
  await expect(page.getByText('You said: still here?')).toBeInViewport()

  // By keyboard, and after a failure by hand.
  await page.route('**/messages?*', (route) => route.abort())
  await region.evaluate((node) => node.scrollTo(0, 0))
  await expect(page.getByText('Older messages could not be loaded.')).toBeVisible()
  await page.unrouteAll()
  const count = await rows.count()
  await page.getByRole('button', { name: 'Try again' }).press('Enter')
  await expect.poll(() => rows.count()).toBeGreaterThan(count)
})

test('at 390 pixels sessions are found, renamed and deleted by keyboard in the drawer and the bar', async ({ place, page }) => {
  const id = await place.talk('Lamps', 'one')
  await place.talk('Chairs', 'two')
  await page.setViewportSize({ width: 390, height: 800 })
  await page.goto(`${place.url}/sessions/${id}`)
  // A page that has come takes the focus, once.
  await expect(page.getByRole('heading', { name: 'Lamps' })).toBeFocused()
  await page.getByTestId('open-sidebar').click()
  const search = page.getByRole('searchbox', { name: 'Search sessions' })
  await search.fill('two')
  await expect(page.getByTestId('session-item')).toHaveCount(1)
  await search.press('Escape')
  await expect(page.getByTestId('session-item')).toHaveCount(2)
  await page.getByTestId('session-item').filter({ hasText: 'Lamps' }).press('Enter')
  const rename = page.getByRole('button', { name: 'Rename' })
  await rename.press('Enter')
  const field = page.getByRole('textbox', { name: 'Title of the session' })
  await field.fill('Lights')
  await field.press('Enter')
  await expect(page.getByRole('heading', { name: 'Lights' })).toBeVisible()
  // The new title may come before the answer, which closes the form and gives the focus back.
  await expect(rename).toBeFocused()
  await expectNoSideScroll(page)
  await page.getByRole('button', { name: 'Delete', exact: true }).press('Enter')
  await expect(page.getByRole('button', { name: 'Cancel' })).toBeFocused()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`${place.url}/`)
})
