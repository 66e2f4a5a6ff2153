import * as wire from '@countersign/core'
import type { BrowserContext, Page } from '@playwright/test'
import { assert, beforeEach, test } from 'vitest'
import { openInboxPage, until } from '../testing/inbox-page.ts'
import { press } from '../testing/press.ts'

const inbox = openInboxPage(wire)
const INBOX = '/api/events'
const CHAT = '/api/sessions/ses_000001/events'

/** One browser, whose tabs share their connections. */
let browser: BrowserContext
beforeEach(async () => {
  const own = inbox.page.context().browser()
  assert(own)
  browser = await own.newContext({ locale: 'en-GB', viewport: { width: 1_200, height: 700 } })
  return () => browser.close()
})

async function openTab(path: string): Promise<Page> {
  const page = await browser.newPage()
  page.setDefaultTimeout(280_000)
  await page.goto(`${inbox.server.url}${path}`)
  return page
}

/** Has the page seen, or not. The driver calls every page seen. */
async function see(page: Page, isSeen: boolean): Promise<void> {
  await page.evaluate(
    (state) => {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state })
      document.dispatchEvent(new Event('visibilitychange'))
    },
    isSeen ? 'visible' : 'hidden',
  )
}

const streams = (path: string) => until(async () => inbox.server.streamsAt(path))

test('a decision gets through, however many chats are open in other tabs of the browser', async () => {
  // A browser has six connections to a server over HTTP/1.1, for all tabs together. Each of these had two streams.
  for (let i = 0; i < 4; i++) {
    const tab = await openTab('/sessions/ses_000001')
    await streams(CHAT).toBe(1)
    await see(tab, false)
    await streams(CHAT).toBe(0)
  }
  const page = await openTab('/waiting')
  // That of this page, and that of one of the others.
  await streams(INBOX).toBe(2)
  await page.getByTestId('waiting-row').first().click()
  await press(page.getByTestId('approval-card').getByRole('button', { name: /^Approve/ }))
  await until(async () => inbox.decisions).toEqual(['act_one'])
})

test('tabs that nobody sees share one stream, and each tells what waits, also when the tab with the stream is closed', async () => {
  const tabs = [await openTab('/waiting'), await openTab('/waiting'), await openTab('/waiting')]
  const waiting = () => Promise.all(tabs.map(async (tab) => /\((\d+)\)/.exec(await tab.title())?.[1]))
  await until(waiting).toEqual(['3', '3', '3'])
  for (const tab of tabs) await see(tab, false)
  await streams(INBOX).toBe(1)
  inbox.propose(inbox.actionOf('four', {}))
  await until(waiting).toEqual(['4', '4', '4'])
  // The first that was hidden has the stream.
  await tabs.shift()?.close()
  await streams(INBOX).toBe(1)
  inbox.propose(inbox.actionOf('five', {}))
  await until(waiting).toEqual(['5', '5'])
  // A tab that is seen again has a stream of its own.
  for (const tab of tabs) await see(tab, true)
  await streams(INBOX).toBe(2)
  inbox.propose(inbox.actionOf('six', {}))
  await until(waiting).toEqual(['6', '6'])
})

test('a chat that nobody sees shows what was said meanwhile once it is seen again', async () => {
  const tab = await openTab('/sessions/ses_000001')
  await streams(CHAT).toBe(1)
  await see(tab, false)
  await streams(CHAT).toBe(0)
  const author = { id: 'prn_ana', name: 'Ana' }
  const said = { id: 'msg_later', sessionId: 'ses_000001', seq: 9_000, role: 'user', kind: 'text', content: 'Is it done?', author }
  inbox.server.push(CHAT, 'message', { message: { ...said, createdAt: '2026-11-21T10:00:00.000Z' } })
  await see(tab, true)
  await tab.getByText('Is it done?', { exact: true }).waitFor()
})
