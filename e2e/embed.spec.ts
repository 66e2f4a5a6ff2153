import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@playwright/test'
import { freePort } from '../verification/testing/free-port.ts'
import { callWith } from './call.ts'
import { approve, approveButton, cards, openDetails, ready } from './demo.ts'
import { startExample } from './example.ts'
import { lookAtPage } from './look-at-page.ts'

const KEY = 'e2e-bootstrap-key-0123456789'

declare global {
  interface Window {
    announced: string[]
  }
}

/** In the page: notes each text that a polite live region takes on from now on. */
function noteAnnouncements(): void {
  window.announced = []
  new MutationObserver(() => {
    const texts = [...document.querySelectorAll('[aria-live=polite]')].map((region) => region.textContent ?? '')
    window.announced.push(...texts.filter((text) => text !== ''))
  }).observe(document.body, { childList: true, characterData: true, subtree: true })
}

test('a portal’s own person decides in the portal’s page at another origin, under a strict content policy, and the record names them', async ({
  page,
}) => {
  const data = await mkdtemp(join(tmpdir(), 'countersign-e2e-'))
  const [portalPort, port] = [await freePort(), await freePort()]
  const environment = { PORTAL_PORT: `${portalPort}`, COUNTERSIGN_PORT: `${port}`, DATA: data, COUNTERSIGN_BOOTSTRAP_KEY: KEY }
  const child = await startExample('embed', environment)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  const call = callWith(KEY, () => `http://127.0.0.1:${port}`)
  const ofServer = async (path: string) => (await call('GET', path)).json()
  try {
    await page.goto(`http://127.0.0.1:${portalPort}`)
    const asked = page.waitForResponse('**/propose')
    await page.getByRole('button', { name: 'Have the agent ask' }).click()
    // Each inbox that is opened from now on finds it waiting.
    expect((await asked).ok()).toBe(true)
    // Who only looks sees it and cannot decide.
    await page.getByLabel('You are').selectOption('ben')
    const row = page.getByRole('button', { name: /Create|objective/i }).filter({ hasText: 'planner' })
    await row.click()
    await expect(cards(page)).toContainText('Waiting for someone with the role approver')
    await expect(approveButton(cards(page))).toHaveCount(0)

    await page.evaluate(noteAnnouncements)
    await page.getByLabel('You are').selectOption('ana')
    await row.click()
    const card = cards(page)
    await expect(card).toBeFocused()
    await ready(card)
    await openDetails(card)
    await card.getByText('Edit before you approve').click()
    await card.getByLabel('Title', { exact: true }).fill('Answer within a day')
    await expect(approveButton(card)).toHaveText('Approve with 1 edit')
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect(await lookAtPage(page)).toEqual({})
    await page.setViewportSize({ width: 320, height: 640 })
    await approve(card)
    await expect(card).toHaveAttribute('data-state', 'succeeded')
    // What waited when the inbox was opened is not news; what happened since is.
    const announced = () => page.evaluate(() => window.announced)
    await expect.poll(announced).toContainEqual(expect.stringMatching(/^Done: /))
    expect((await announced()).filter((text) => text.includes('needed'))).toEqual([])

    const { items } = await ofServer('/api/actions')
    expect(items).toHaveLength(1)
    expect(items[0].arguments.title).toBe('Answer within a day')
    expect(items[0].votes[0].by).toMatchObject({ kind: 'person', name: 'Ana' })
    const record = (await ofServer('/api/audit')).items as { kind: string; actor: { name: string }; data: { signIn?: string } }[]
    expect(record.find(({ kind }) => kind === 'approved')).toMatchObject({ actor: { name: 'Ana' }, data: { signIn: 'embed token' } })
    expect(await (await fetch(`http://127.0.0.1:${portalPort}/csp-reports.json`)).json()).toEqual([])
    expect(complaints).toEqual([])
  } finally {
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    await gone
    await rm(data, { recursive: true, force: true })
  }
})
