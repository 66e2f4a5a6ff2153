import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import AxeBuilder from '@axe-core/playwright'
import { expect, type Locator, type Page } from '@playwright/test'
import { makeWork } from '../examples/workspace/make-work.ts'
import { workspaceStarter } from '../packages/tools-workspace/src/starter.ts'
import { approve, cards, expectNoSideScroll, signInBrowser } from './demo.ts'
import { startServer, test } from './server.ts'

const EDITOR = fileURLToPath(new URL('../examples/workspace/scripted/editor.ts', import.meta.url))
const NOTES = 'notes/orders.md'

/** The example's configuration, on a repository of this test's own. */
const configOn = (root: string) => ({
  agents: { editor: { model: `scripted/${EDITOR}`, tools: ['repo.*'] } },
  tools: { repo: { workspace: { root } } },
  policy: { rules: workspaceStarter('repo') },
})

const git = (root: string, ...args: string[]): string => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim()

/** Git's diff of a file's bytes. */
function applied(folder: string, bytes: Buffer, diff: string): Buffer {
  const copy = mkdtempSync(join(folder, 'copy-'))
  mkdirSync(join(copy, 'notes'))
  writeFileSync(join(copy, NOTES), bytes)
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: copy, input: diff })
  return readFileSync(join(copy, NOTES))
}

/** The diff of a card as it is copied: what is read on the card spells out what cannot be seen. */
async function copyDiff(page: Page, card: Locator): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await card.getByRole('button', { name: 'Copy diff' }).click()
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('@@')
  return page.evaluate(() => navigator.clipboard.readText())
}

test('a branch, an edit and a commit are approved on their cards; the diff that is read is what lands, and a file that changed is asked about again', async ({
  page,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-e2e-'))
  const root = makeWork(join(folder, 'work'))
  const { url, link, end } = await startServer(folder, configOn(root))
  try {
    await signInBrowser(page.context(), link)
    await fixTheTypo(page, { url, folder, root })
  } finally {
    await end()
    await rm(folder, { recursive: true })
  }
})

async function fixTheTypo(page: Page, { url, folder, root }: Record<'url' | 'folder' | 'root', string>): Promise<void> {
  const read = () => readFileSync(join(root, NOTES))
  await page.goto(url)
  const message = page.getByRole('textbox', { name: 'Message' })
  await message.fill('Fix the typo in the notes')
  await message.press('Enter')

  const branch = cards(page).filter({ has: page.getByRole('heading', { name: 'Create the branch fix/typo from HEAD' }) })
  await expect(branch).toHaveAttribute('data-state', 'proposed')
  await approve(branch)
  await expect(branch).toHaveAttribute('data-state', 'succeeded')
  expect(git(root, 'branch', '--show-current')).toBe('fix/typo')

  const edit = cards(page).filter({ has: page.getByRole('heading', { name: `Edit ${NOTES}` }) })
  await expect(edit).toHaveAttribute('data-state', 'proposed')
  const diff = edit.locator('.cs-diff pre')
  await expect(diff.locator('del')).toHaveText(['-An order is recieved, packed and sent on the same day.\n'])
  await expect(diff.locator('ins')).toHaveText(['+An order is received, packed and sent on the same day.\n'])
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 800 })
    await expect(diff).toBeVisible()
    await expectNoSideScroll(page)
  }
  const { violations } = await new AxeBuilder({ page }).include('[data-testid=approval-card][data-state=proposed]').analyze()
  expect(violations.map(({ id }) => id)).toEqual([])
  await page.setViewportSize({ width: 1280, height: 800 })

  // Somebody else writes behind the card: what was read is not what would land any more.
  writeFileSync(join(root, NOTES), `${read()}Somebody else was here,\r\n\twithout a last line end`)
  const before = read()
  await approve(edit)
  await expect(edit).toContainText('Asked again')
  await expect(edit).toHaveAttribute('data-state', 'proposed')
  expect(read().equals(before)).toBe(true)

  await expect(diff).toContainText('Somebody else was here')
  const shown = await copyDiff(page, edit)
  await approve(edit)
  await expect(edit).toHaveAttribute('data-state', 'succeeded')
  expect(read().equals(applied(folder, before, shown))).toBe(true)
  expect(read().toString()).toBe(before.toString().replace('recieved', 'received'))

  const commit = cards(page).filter({ has: page.getByRole('heading', { name: `Commit ${NOTES}: Spell received` }) })
  await approve(commit)
  await expect(commit).toHaveAttribute('data-state', 'succeeded')
  await expect(page.getByText('Done: the typo is fixed and committed on fix/typo.')).toBeVisible()
  expect(execFileSync('git', ['-C', root, 'show', `fix/typo:${NOTES}`]).equals(read())).toBe(true)
  expect(git(root, 'rev-list', '--count', 'main')).toBe('1')
}
