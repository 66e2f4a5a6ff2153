import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { freePort } from '../verification/testing/free-port.ts'
import { callWith } from './call.ts'
import { approve, browserOf, cards, ready } from './demo.ts'
import { startExample } from './example.ts'

const KEY = 'e2e-bootstrap-key-0123456789'

test('useChat, unmodified: approved in the inbox elsewhere, approved on the page after a reload, and declined with a reason', async ({
  page,
  browser,
}) => {
  const data = await mkdtemp(join(tmpdir(), 'countersign-e2e-'))
  const [pagePort, port] = [await freePort(), await freePort()]
  const console = `http://127.0.0.1:${port}`
  const child = await startExample('ai-sdk-ui', {
    PAGE_PORT: `${pagePort}`,
    COUNTERSIGN_PORT: `${port}`,
    DATA: data,
    COUNTERSIGN_BOOTSTRAP_KEY: KEY,
  })
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  const ofServer = callWith(KEY, () => console)
  const actions = async () => (await (await ofServer('GET', '/api/actions')).json()).items
  try {
    await page.goto(`http://127.0.0.1:${pagePort}`)

    // Somebody else approves in the inbox: the page, which was left open, shows it.
    await send(page, 'Answer within a day')
    await expect(page.getByText('I propose this objective.')).toBeVisible()
    await expect(call(page, 1)).toHaveAttribute('data-state', 'approval-requested')
    const elsewhere = await browserOf(browser, console, KEY)
    const inbox = await elsewhere.newPage()
    await inbox.goto(`${console}/actions/${(await actions())[0].id}`)
    await ready(cards(inbox))
    await approve(cards(inbox))
    await expect(call(page, 1)).toHaveAttribute('data-state', 'output-available')
    await expect(page.getByText('Done, it is in the plan.')).toHaveCount(1)
    await elsewhere.close()

    // A reload while it waits: the whole answer comes again, once, and can be approved.
    await send(page, 'Answer within an hour')
    await expect(call(page, 2)).toHaveAttribute('data-state', 'approval-requested')
    await page.reload()
    await expect(page.getByText('I propose this objective.')).toHaveCount(2)
    await expect(page.locator('section')).toHaveCount(2)
    await expect(call(page, 1)).toHaveAttribute('data-state', 'output-available')
    await call(page, 2).getByRole('button', { name: 'Approve' }).click()
    await expect(call(page, 2)).toHaveAttribute('data-state', 'output-available')
    await expect(page.getByText('Done, it is in the plan.')).toHaveCount(2)

    await send(page, 'Answer within a minute')
    await call(page, 3).getByLabel('Reason').fill('nobody can')
    await call(page, 3).getByRole('button', { name: 'Decline' }).click()
    await expect(call(page, 3)).toHaveAttribute('data-state', 'output-denied')
    await expect(page.getByText('Then not. They said: nobody can')).toBeVisible()

    // Each ran as often as it was approved.
    expect(
      (await actions()).map(({ state, votes }: { state: string; votes: { by: { name: string } }[] }) => [state, votes[0]?.by.name]),
    ).toEqual([
      ['declined', 'Ana'],
      ['succeeded', 'Ana'],
      ['succeeded', expect.not.stringMatching('Ana')],
    ])
    expect(complaints).toEqual([])
  } finally {
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    await gone
    await rm(data, { recursive: true, force: true })
  }
})

async function send(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}

const call = (page: Page, nth: number) => page.locator('section').nth(nth - 1)
