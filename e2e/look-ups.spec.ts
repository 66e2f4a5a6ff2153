import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrainSpeech } from '../verification/testing/brain-says.ts'
import { freePort } from '../verification/testing/free-port.ts'
import { startLiveBrain } from '../verification/testing/live-brain.ts'
import { expect, signInBrowser, test } from './demo.ts'
import { startServer } from './server.ts'

test('what a brain looked up stands in the chat as its own account, folded, and after a restart and a reload too', async ({
  context,
  page,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-e2e-'))
  const long = 'x'.repeat(9_000)
  const speech: BrainSpeech = {
    text: 'Two are late.',
    lookUps: [
      { id: 'a', tool: 'searchOrders', input: { status: 'late' }, output: { orders: ['ORD-1', 'ORD-2'], '<b>': '<img src=x>' } },
      { id: 'b', tool: 'forecast', input: {}, error: 'no rain data' },
      { id: 'c', tool: 'readAll\u202e', input: {}, output: long },
      { id: 'd', tool: 'thinks', input: {} },
    ],
  }
  await using brain = await startLiveBrain(() => speech)
  const config = { agents: { desk: { model: `remote/${brain.baseUrl}` } } }
  const flags = ['--port', String(await freePort())]
  let server = await startServer(folder, config, { flags })
  try {
    await signInBrowser(context, server.link)
    await page.goto(server.url)
    await page.getByRole('textbox', { name: /message/i }).fill('What is late?')
    await page.keyboard.press('Enter')
    const lines = page.getByTestId('look-up')
    await expect(lines).toHaveCount(4)
    await expect(page.getByText('Two are late.')).toBeVisible()
    await expect(lines.first()).toContainText('by the agent itself, not verified')
    await expect(lines.first().getByText('ORD-2')).toBeHidden()
    await expect(page.getByTestId('tool-line')).toHaveCount(0)
    await expect(page.getByTestId('action-card')).toHaveCount(0)

    await server.end()
    server = await startServer(folder, config, { flags })
    await signInBrowser(context, server.link)
    await page.reload()
    await expect(lines).toHaveCount(4)
    for (const line of await lines.all()) await line.locator('summary').click()
    await expect(lines.nth(0)).toContainText('This server did not run it and cannot check it.')
    await expect(lines.nth(0).getByText('"late"')).toBeVisible()
    await expect(lines.nth(0).getByText('<img src=x>')).toBeVisible()
    await expect(lines.nth(1)).toContainText('no rain data')
    await expect(lines.nth(1)).toContainText('failed')
    await expect(lines.nth(2)).toContainText('U+202E')
    await expect(lines.nth(2)).toContainText('Only its beginning is kept.')
    await expect(lines.nth(3)).toContainText('did not say what it found')
  } finally {
    await server.end()
    await rm(folder, { recursive: true })
  }
})
