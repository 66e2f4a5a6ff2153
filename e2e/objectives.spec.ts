import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'
import { setColours } from './busy.ts'
import { callWith } from './call.ts'
import { expectNoSideScroll, signInBrowser } from './demo.ts'
import { KEY, startServer, test } from './server.ts'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const KEY_RESULTS = [
  { title: 'Median wait for an answer', metric: 'first answer', unit: 'hours', start: 14, target: 5 },
  { title: 'Answered on the same day', metric: 'share of requests', unit: '%', start: 62.5, target: 90 },
]

test('objectives stand in the console: progress, key results, and a history that leads to the actions; axe finds nothing, 320 px are enough', async ({
  page,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-e2e-'))
  const { url, link, end } = await startServer(folder, { tools: { goals: { objectives: {} } } })
  try {
    await signInBrowser(page.context(), link)
    await look(page, url)
  } finally {
    await end()
    await rm(folder, { recursive: true })
  }
})

async function look(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/objectives`)
  await expect(page.getByRole('heading', { name: 'No objectives' })).toBeVisible()

  const call = callWith(KEY, () => url)
  const read = async (path: string) => (await call('GET', path)).json()
  const send = async (path: string, body: object) => (await call('POST', path, body)).json()
  const carryOut = async (tool: string, args: object) => {
    const { id, revision, digest } = await send('/api/actions', { tool: `goals.${tool}`, arguments: args })
    await send(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
    // A wait may end before the action does.
    await expect.poll(async () => (await read(`/api/actions/${id}?wait=10&until=settled`)).state).toBe('succeeded')
    return (await read(`/api/actions/${id}`)).result.objective
  }
  const set = {
    title: 'Answer customers faster',
    description: 'Within the day.',
    owner: 'Support',
    period: '2026-Q4',
    keyResults: KEY_RESULTS,
  }
  const { keyResults } = await carryOut('createObjective', set)
  await carryOut('recordProgress', { keyResult: keyResults[0].id, current: 9.5, note: 'Two more people answer.' })

  const expectNoViolations = async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await setColours(page, colorScheme)
      const { violations } = await new AxeBuilder({ page }).withTags(WCAG).analyze()
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)).toEqual([])
    }
    await setColours(page, 'light')
  }
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto(url)
    if (width === 320) await page.getByTestId('open-sidebar').click()
    await page.getByRole('link', { name: 'Objectives' }).click()
    const row = page.getByTestId('objective')
    await expect(row.getByRole('progressbar', { name: 'Progress of Answer customers faster' })).toHaveAttribute('value', '25')
    await page.screenshot({ path: `test-results/objectives-${width}.png` })
    if (width === 320) await expectNoViolations()
    await row.getByRole('link').click()
    await expect(page.getByTestId('key-result').first()).toContainText('9.5 hours now, from 14 hours to 5 hours')
    await expect(page.getByTestId('objective-change').first()).toContainText('Two more people answer.')
    await page.screenshot({ path: `test-results/objective-${width}.png`, fullPage: true })
    if (width === 320) await expectNoViolations()
    await expectNoSideScroll(page)
  }
  await page.getByRole('link', { name: 'the action' }).first().click()
  await expect(page.getByTestId('approval-card')).toContainText('Lower “Median wait for an answer” from 14 to 9.5 hours')
}
