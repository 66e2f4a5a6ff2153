import { existsSync, linkSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Action, JsonObject } from '@countersign/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChildServer, startChildServer } from '../testing/child-server.ts'
import { gitIn, type TempFolder, tempRepository } from '../testing/workspace.ts'

/** Allows everything, as an agent would like it. */
const ALLOW_ALL = 'rules:\n  - { name: all, match: { tool: "*" }, verdict: allow }\n'
const CONFIG = `
import { tools } from './lib/tools.ts'
export default {
  agents: { desk: { model: 'scripted/scripts/talk.json', tools: ['repo.*'] } },
  tools: { repo: { workspace: { root: '.', ignore: [] } }, own: { tools } },
  policy: 'policy.yaml',
}
`
const FILES = {
  'countersign.config.ts': CONFIG,
  'policy.yaml': ALLOW_ALL,
  'lib/tools.ts': "export { none as tools } from './more.ts'\n",
  'lib/more.ts': 'export const none = []\n',
  'scripts/talk.json': '{ "steps": [{ "text": "Hi" }] }\n',
  'package.json': '{ "scripts": { "start": "countersign serve" } }\n',
  '.npmrc': '//registry.example/:_authToken=secret\n',
  '.env': 'TOKEN=secret\n',
  '.gitignore': '.countersign\n.npmrc\n.env\n',
  'notes.md': 'one\n',
  'docs/policy.yaml': 'not ours\n',
}

let folder: TempFolder
let server: ChildServer
beforeAll(async () => {
  folder = tempRepository(FILES)
  server = await startChildServer({
    configFile: join(folder.root, 'countersign.config.ts'),
    dataDir: join(folder.root, '.countersign'),
    environment: { PATH: process.env.PATH ?? '' },
  })
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  folder?.[Symbol.dispose]()
})

/** Proposes a call and returns the settled action. */
async function call(tool: string, args: JsonObject): Promise<Action> {
  const { id } = await server.admin.post('/api/actions', { tool: `repo.${tool}`, arguments: args })
  return server.admin.get(`/api/actions/${id}?wait=60&until=settled`)
}

const PROTECTED = [
  'countersign.config.ts',
  'policy.yaml',
  'lib/tools.ts',
  'lib/more.ts',
  'scripts/talk.json',
  'package.json',
  '.npmrc',
  '.env',
  '.countersign/countersign.db',
]

test('no tool changes a file that decides what this server does at its next start, although policy allows everything', async () => {
  const surprises: string[] = []
  for (const path of PROTECTED) {
    const before = readFileSync(join(folder.root, path))
    const tries: [string, JsonObject][] = [
      ['writeFile', { path, content: 'x' }],
      ['writeFile', { path: `./${path}`, content: 'x' }],
      ['deleteFile', { path }],
      ['moveFile', { from: path, to: 'elsewhere' }],
      ['editFile', { path, edits: [{ oldText: before.toString().slice(0, 5), newText: 'x' }] }],
    ]
    for (const [tool, args] of tries) {
      const action = await call(tool, args)
      if (action.state !== 'failed' || !JSON.stringify(action).includes('of this server'))
        surprises.push(`${tool} ${path}: ${action.state} ${JSON.stringify(action.error)}`)
    }
    // SQLite itself keeps writing to its files.
    if (!path.startsWith('.countersign/')) expect(readFileSync(join(folder.root, path)).equals(before), path).toBe(true)
  }
  expect(surprises).toEqual([])
})

test('what is not there yet and would count at the next start cannot be made', async () => {
  const paths = [
    'countersign.yaml',
    'countersign.json',
    'COUNTERSIGN.YAML',
    'Countersign.config.ts',
    '.env.local',
    '.countersign/new',
    '.COUNTERSIGN/new',
    '.countersign',
    'node_modules/countersign/package.json',
    'node_modules/zod/index.js',
    'lib/node_modules/zod/index.js',
    'lib/package.json',
    '.git/hooks/post-checkout',
    'Policy.yaml',
    'policy.yaml\u200d',
    'policy.yaml::$DATA',
  ]
  for (const path of paths) expect(await call('writeFile', { path, content: 'x' }), path).toMatchObject({ state: 'failed' })
  for (const path of paths) expect(await call('moveFile', { from: 'notes.md', to: path }), path).toMatchObject({ state: 'failed' })
  expect(existsSync(join(folder.root, 'notes.md'))).toBe(true)
})

test('the server’s secrets are not read either: not by name, in a search, in a list, in a diff or under another name', async () => {
  linkSync(join(folder.root, '.env'), join(folder.root, 'innocent.txt'))
  linkSync(join(folder.root, '.countersign/countersign.db'), join(folder.root, 'innocent.db'))
  symlinkSync('.env', join(folder.root, 'link.txt'))
  for (const path of ['.env', '.npmrc', '.countersign/countersign.db', 'innocent.txt', 'innocent.db', 'link.txt']) {
    expect(await call('readFile', { path }), path).toMatchObject({ state: 'failed' })
  }
  expect(await call('search', { text: 'secret' })).toMatchObject({ state: 'succeeded', result: { hits: [] } })
  const listed = await call('listFiles', {})
  expect(JSON.stringify(listed.result)).not.toMatch(/\.env|\.npmrc|\.countersign/)
  expect(await call('listFiles', { path: '.countersign' })).toMatchObject({ state: 'failed' })
  gitIn(folder.root, 'add', '-f', '.env')
  expect(JSON.stringify((await call('gitDiff', {})).result)).not.toContain('TOKEN')
  expect(await call('commit', { paths: ['.env'], message: 'x' })).toMatchObject({ state: 'failed' })
  gitIn(folder.root, 'reset', '-q')
  // Policy and configuration files without secrets can be read, and a file that only has the same name can be changed.
  expect(await call('readFile', { path: 'policy.yaml' })).toMatchObject({ state: 'succeeded' })
  expect(await call('writeFile', { path: 'docs/policy.yaml', content: 'x\n' })).toMatchObject({ state: 'succeeded' })
  expect(await call('editFile', { path: 'notes.md', edits: [{ oldText: 'one', newText: 'two' }] })).toMatchObject({ state: 'succeeded' })
  gitIn(folder.root, 'checkout', '-q', '--', '.')
})

test('no branch is checked out that changes one of these files, or has a file or a link in place of its folder', async () => {
  const branch = (name: string, change: () => void) => {
    gitIn(folder.root, 'switch', '-q', '-c', name, 'main')
    change()
    gitIn(folder.root, 'add', '-A', '-f', '--', '.', ':!.countersign', ':!.env', ':!.npmrc', ':!innocent*', ':!link.txt')
    gitIn(folder.root, 'commit', '-q', '-m', name)
    gitIn(folder.root, 'switch', '-q', 'main')
  }
  branch('evil-policy', () => folder.write('policy.yaml', `${ALLOW_ALL}# more\n`))
  branch('evil-script', () => folder.write('package.json', '{ "scripts": { "start": "true" } }\n'))
  branch('evil-module', () => folder.write('node_modules/zod/index.js', 'x'))
  branch('plain', () => folder.write('notes.md', 'three\n'))
  // `git add` cannot stage this: a file in place of the data folder.
  const blob = gitIn(folder.root, 'rev-parse', 'main:notes.md')
  gitIn(folder.root, 'update-index', '--add', '--cacheinfo', `100644,${blob},.countersign`)
  const tree = gitIn(folder.root, 'write-tree')
  gitIn(folder.root, 'reset', '-q')
  gitIn(folder.root, 'branch', 'evil-folder', gitIn(folder.root, 'commit-tree', tree, '-p', 'main', '-m', 'x'))
  for (const name of ['evil-policy', 'evil-script', 'evil-module', 'evil-folder']) {
    const action = await call('switchBranch', { name })
    expect(action, name).toMatchObject({ state: 'failed' })
    expect(JSON.stringify(action), name).toContain('of this server')
    expect(gitIn(folder.root, 'branch', '--show-current')).toBe('main')
  }
  expect(readFileSync(join(folder.root, 'policy.yaml'), 'utf8')).toBe(ALLOW_ALL)
  expect(await call('switchBranch', { name: 'plain' })).toMatchObject({ state: 'succeeded' })
})
