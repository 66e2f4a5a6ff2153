import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ONE_CHECKER } from '../../scripts/compiler.ts'
import { BOOTSTRAP_KEY } from '../testing/bootstrap-key.ts'
import { startChildServer } from '../testing/child-server.ts'
import { counterpart } from '../testing/counterparts.ts'
import { buildEmbeddingPage, openInBrowser, serveEmbeddingPage } from '../testing/embedding-page.ts'
import { type Installed, installPackages, PATH_WITH_NODE } from '../testing/installed.ts'
import { MCP_CLIENTS } from '../testing/mcp-clients.ts'
import { approveFirstProposal } from '../testing/starter-talk.ts'

let installed: Installed
beforeAll(async () => {
  installed = await installPackages()
  mkdirSync(join(installed.folder, 'work'))
  writeFileSync(join(installed.folder, 'desk.json'), JSON.stringify({ steps: [{ text: 'Hi.' }] }))
}, 600_000)
afterAll(() => installed[Symbol.dispose]())

const STRICT = [
  '--strict',
  '--exactOptionalPropertyTypes',
  '--noUncheckedIndexedAccess',
  '--noUncheckedSideEffectImports',
  '--noEmit',
  '--skipLibCheck',
  'false',
  ...ONE_CHECKER,
]
const program = () => join(installed.folder, 'node_modules', 'countersign', 'dist', 'main.js')

test('the tarballs hold what runs, its types, the licence and a page to read, and nothing of the tests', () => {
  for (const [name, files] of Object.entries(installed.files)) {
    expect(files, name).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts']))
    expect(
      files.filter((path) => /\.test\.|(^|\/)(testing|acceptance|campaign|recordings)\//.test(path)),
      name,
    ).toEqual([])
  }
  const drawing = expect.stringMatching(/^console\/assets\/draw-[^/]+\.js\.br$/)
  expect(installed.files.server).toEqual(expect.arrayContaining(['console/index.html', drawing, 'dist/store/migrations/0001_schema.sql']))
  expect(installed.files.toolkit).toContain('dist/text-work/worker.js')
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

  const booking = await admin.post('/api/actions', { tool: 'books.book_cash', arguments: { cents: 5 } })
  expect([booking.state, booking.destination]).toEqual(['proposed', 'https://ledger.example.com'])
  await admin.post(`/api/actions/${booking.id}/decision`, { verdict: 'approve' })
  expect(await admin.get(`/api/actions/${booking.id}?wait=60&until=settled`)).toMatchObject({
    state: 'succeeded',
    result: { group: 'books', account: 'cash', cents: 5 },
  })

  // A worker thread makes the diff, and its script is a file of its own.
  const edit = { path: 'notes.txt', edits: [{ oldText: 'second', newText: 'third' }] }
  const edited = await admin.post('/api/actions', { tool: 'files.editFile', arguments: edit })
  expect(JSON.stringify(edited.preview)).toContain('+third')
})

test('what people write against the packages compiles under strict, with the libraries’ own types checked', async () => {
  const modern = ['--module', 'nodenext', '--target', 'es2024', '--lib', 'es2025,dom,dom.iterable,dom.asynciterable,esnext.disposable']
  const checked = await installed.run('npx', [
    'tsc',
    ...STRICT,
    ...['--jsx', 'react-jsx'],
    ...modern,
    'countersign.config.ts',
    'front-end.tsx',
  ])
  expect(checked).toMatchObject({ code: 0, stdout: '' })
})

test.each(['18', '19'])(
  'the card and the inbox work in a page of React %s that allows scripts and styles of its own origin only',
  async (react) => {
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
    // The style sheet is installed too: without it the card has no border.
    await expect.poll(() => card.evaluate((element) => getComputedStyle(element).borderTopStyle)).toBe('solid')
    await card.locator('.cs-decide .cs-approve[aria-disabled=false]').click()
    const dialog = page.getByRole('alertdialog')
    await dialog.waitFor()
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Cancel')
    await dialog.locator('[type=submit][aria-disabled=false]').click()
    await page.locator('.cs-card[data-state=succeeded]').waitFor()
    expect(await admin.get(`/api/actions/${refund.id}`)).toMatchObject({ state: 'succeeded', result: { customer: 'Ana' } })

    const declined = await admin.post('/api/actions', { tool: 'bank.refund', arguments: { customer: 'Ana', amountCents: 990 } })
    await page.goto(`${site.url}/?inbox#${BOOTSTRAP_KEY}`)
    // A decision before it would leave the report with a conflict to complain of.
    const reported = page.waitForResponse('**/seen')
    await page.getByRole('button', { name: 'Refund 9.90 to Ana' }).click()
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe('cs-card')
    await reported
    await card.locator('.cs-decide .cs-refuse[aria-disabled=false]').click()
    await page.locator('.cs-card[data-state=declined]').waitFor()
    expect(await admin.get(`/api/actions/${declined.id}`)).toMatchObject({ state: 'declined' })
    expect(complaints).toEqual([])
  },
)

test.each([
  ['countersign.yaml', [], 'notes/meetings.md', '10:00'],
  ['countersign.config.ts', ['--typescript'], 'example/meetings.json', '"stand-up": "10:00"'],
] as const)(
  'npx countersign init writes %s, and npx countersign serve takes it to a first approval',
  async (config, flags, changed, expected) => {
    const folder = join(installed.folder, `init-${config}`)
    const { code, stdout } = await installed.countersign('init', `init-${config}`, ...flags)
    const steps = stdout.slice(stdout.indexOf('Next:')).split('\n')
    expect([code, steps]).toEqual([
      0,
      ['Next:', `  cd init-${config}`, '  npx countersign doctor', '  npx countersign serve', '', expect.stringMatching(/^Sign in/), ''],
    ])
    if (config.endsWith('.ts')) {
      const checked = await installed.run('npx', ['tsc', ...STRICT, '--module', 'nodenext', '--target', 'es2024', join(folder, config)])
      expect(checked).toMatchObject({ code: 0, stdout: '' })
    }
    await using server = await installed.serve(folder)
    await approveFirstProposal(server.admin)
    expect(readFileSync(join(folder, changed), 'utf8')).toContain(expected)
  },
)

test('npx countersign mcp puts the gate in front of an MCP server: a file is written when a person approved it', async () => {
  const work = join(installed.folder, 'mcp-work')
  mkdirSync(work)
  const [, , newest] = MCP_CLIENTS
  const file = join(work, 'a.txt')
  const url = Promise.withResolvers<string>()
  let stderr = ''
  const program = [process.execPath, counterpart('@modelcontextprotocol/server-filesystem/dist/index.js'), work]
  await using client = await newest.connect({
    installedIn: installed.folder,
    args: ['mcp', '--port', '0', '--data', join(installed.folder, 'mcp-data'), '--', ...program],
    environment: { PATH: PATH_WITH_NODE, HOME: process.env.HOME ?? '', COUNTERSIGN_BOOTSTRAP_KEY: BOOTSTRAP_KEY },
    stderr(chunk) {
      stderr += chunk
      const found = /calls at (http:\S+)/.exec(stderr)?.[1]
      if (found) url.resolve(found)
    },
  })
  const asked = Promise.withResolvers<string>()
  const writing = client.call('write_file', { path: file, content: 'bye' }, { onprogress: ({ message = '' }) => asked.resolve(message) })
  const actionId = /act_\w+/.exec(await asked.promise)?.[0] ?? ''
  expect(existsSync(file)).toBe(false)
  const response = await fetch(`${await url.promise}/api/actions/${actionId}/decision`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOOTSTRAP_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ verdict: 'approve' }),
  })
  expect(response.status).toBe(200)
  await writing
  expect((await client.call('countersign_wait', { actionId, seconds: 50 })).isError).toBeUndefined()
  expect(readFileSync(file, 'utf8')).toBe('bye')
})

test('countersign alone is at most 85 MB, and names the package that a configuration needs', async () => {
  const alone = installed.emptyProject('alone')
  const sources = ['toolkit', 'tools-mcp', 'tools-objectives', 'tools-openapi', 'tools-workspace']
  await alone.install(alone.tarballs(['core', ...sources, 'server']))
  const { stdout } = await alone.run('du', ['--apparent-size', '--block-size=1000000', '--summarize', 'node_modules'])
  expect(Number.parseInt(stdout, 10)).toBeLessThanOrEqual(85)

  writeFileSync(join(alone.folder, 'countersign.yaml'), 'tools: { hub: { github: { token: x } } }')
  expect(await alone.run(process.execPath, ['node_modules/countersign/dist/main.js', 'doctor'])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('tools.hub.github: needs the package @countersign/tools-github: npm install @countersign/tools-github'),
  })
})

test('a Node that is too old is told so in one sentence', async ({ skip }) => {
  // The test runs the machine's own Node and is skipped where that is new enough.
  const { code, stdout, stderr } = await installed.run('node', [program(), '--version'])
  const machine = spawnSync(process.execPath, ['--version'], { encoding: 'utf8' }).stdout
  skip(code === 0 && stdout !== '', `the machine's own Node is as new as ${machine}`)
  expect([code, stderr.trim().split('\n')]).toEqual([1, [expect.stringMatching(/^Countersign needs Node 24 or newer; this is Node \d+\./)]])
})
