import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BOOTSTRAP_KEY } from '../testing/bootstrap-key.ts'
import { startChildServer } from '../testing/child-server.ts'
import { buildEmbeddingPage, openInBrowser, serveEmbeddingPage } from '../testing/embedding-page.ts'
import { type Installed, installPackages } from '../testing/installed.ts'

let installed: Installed
beforeAll(async () => {
  installed = await installPackages()
  mkdirSync(join(installed.folder, 'work'))
  writeFileSync(join(installed.folder, 'desk.json'), JSON.stringify({ steps: [{ text: 'Hi.' }] }))
}, 600_000)
afterAll(() => installed[Symbol.dispose]())

const program = () => join(installed.folder, 'node_modules', 'countersign', 'dist', 'main.js')

test('the tarballs hold what runs, its types, the licence and a page to read, and nothing of the tests', () => {
  for (const [name, files] of Object.entries(installed.files)) {
    expect(files, name).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts']))
    expect(
      files.filter((path) => /\.test\.|(^|\/)(testing|acceptance|campaign|recordings)\//.test(path)),
      name,
    ).toEqual([])
  }
  expect(installed.files.server).toEqual(
    expect.arrayContaining(['console/index.html', 'dist/store/migrations/0001_start.sqlite.sql', 'dist/tools/text-work/worker.js']),
  )
})

test('an installed server takes a configuration in TypeScript, shows its console, asks, and carries out what was approved', async () => {
  const { folder } = installed
  writeFileSync(join(folder, 'work', 'notes.txt'), 'first\nsecond\n')
  await using server = await startChildServer({
    configFile: join(folder, 'countersign.config.ts'),
    dataDir: join(folder, 'data'),
    program: program(),
  })
  const { admin } = server
  const page = await admin.send('GET', '/')
  expect([page.status, page.text.includes('<div id="root">')]).toEqual([200, true])

  const refund = await admin.post('/api/actions', { tool: 'bank.refund', arguments: { customer: 'Ana', amountCents: 1_250 } })
  expect([refund.state, refund.description]).toEqual(['proposed', 'Refund 12.50 to Ana'])
  await admin.post(`/api/actions/${refund.id}/decision`, { verdict: 'approve' })
  expect(await admin.get(`/api/actions/${refund.id}?wait=60&until=settled`)).toMatchObject({
    state: 'succeeded',
    result: { customer: 'Ana' },
  })
  const nobody = await admin.send('POST', '/api/actions', {
    body: { tool: 'bank.refund', arguments: { customer: 'nobody', amountCents: 1 } },
  })
  expect([nobody.status, nobody.body]).toMatchObject([422, { code: 'impossible', reason: 'There is no customer nobody.' }])

  // Its diff is made in a thread, whose script is a file of its own.
  const edit = { path: 'notes.txt', edits: [{ oldText: 'second', newText: 'third' }] }
  const edited = await admin.post('/api/actions', { tool: 'files.editFile', arguments: edit })
  expect(JSON.stringify(edited.preview)).toContain('+third')
})

test('what people write against the packages compiles under strict, with the libraries’ own types checked', async () => {
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit', '--jsx', 'react-jsx']
  const modern = ['--module', 'nodenext', '--target', 'es2024', '--lib', 'es2025,dom,dom.iterable,dom.asynciterable,esnext.disposable']
  const checked = await installed.run('npx', [
    'tsc',
    '--skipLibCheck',
    'false',
    ...strict,
    ...modern,
    'countersign.config.ts',
    'front-end.tsx',
  ])
  expect(checked).toMatchObject({ code: 0, stdout: '' })
})

test.each(['18', '19'])('the card works in a page of React %s that allows scripts and styles of its own origin only', async (react) => {
  const { folder } = installed
  const build = await buildEmbeddingPage(installed, react)
  await using server = await startChildServer({
    configFile: join(folder, 'countersign.config.ts'),
    dataDir: join(folder, `data-${react}`),
    program: program(),
  })
  const { admin } = server
  const refund = await admin.post('/api/actions', { tool: 'bank.refund', arguments: { customer: 'Ana', amountCents: 1_250 } })
  await using site = await serveEmbeddingPage(build, server.url)
  await using opened = await openInBrowser()
  const { page, complaints } = opened
  await page.goto(`${site.url}/#${BOOTSTRAP_KEY}`)
  await page.getByRole('heading', { name: `React ${react}.` }).waitFor()
  const card = page.getByTestId('approval-card')
  await card.getByText('Refund 12.50 to Ana').first().waitFor()
  // Its style sheet is there, too: without it a card has no frame.
  expect(await card.evaluate((element) => getComputedStyle(element).borderTopStyle)).toBe('solid')
  await card.locator('.cs-decide .cs-approve[aria-disabled=false]').click()
  const dialog = page.getByRole('alertdialog')
  await dialog.waitFor()
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Cancel')
  await dialog.locator('[type=submit][aria-disabled=false]').click()
  await page.locator('.cs-card[data-state=succeeded]').waitFor()
  expect(await admin.get(`/api/actions/${refund.id}`)).toMatchObject({ state: 'succeeded', result: { customer: 'Ana' } })
  expect(complaints).toEqual([])
})

test('a Node that is too old is told so in one sentence', async ({ skip }) => {
  // The machine's own; where it is new enough there is nothing to see.
  const { code, stdout, stderr } = await installed.run('node', [program(), '--version'])
  const machine = spawnSync(process.execPath, ['--version'], { encoding: 'utf8' }).stdout
  skip(code === 0 && stdout !== '', `the machine's own Node is as new as ${machine}`)
  expect([code, stderr.trim().split('\n')]).toEqual([1, [expect.stringMatching(/^Countersign needs Node 24 or newer; this is Node \d+\./)]])
})
