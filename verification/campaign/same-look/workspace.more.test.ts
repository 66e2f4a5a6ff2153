import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { seededRandom } from '../../simulation/random.ts'
import { startTestServer } from '../../testing/test-server.ts'
import { gitIn, tempRepository } from '../../testing/workspace.ts'
import { ASK_ALL, everyToolLooksTheSame } from './looks-the-same.ts'

/** Calls that name what the repository has. A tool that takes nothing that is drawn from its schema needs one here. */
const EXAMPLES: Record<string, JsonObject> = {
  readFile: { path: 'a.txt', fromLine: 1, toLine: 2 },
  search: { text: 'one', ignoreCase: true },
  gitDiff: { path: 'a.txt', from: 'HEAD' },
  editFile: { path: 'a.txt', edits: [{ oldText: 'one', newText: 'two' }] },
  writeFile: { path: 'new/c.txt', content: 'three\n' },
  deleteFile: { path: 'b.txt' },
  moveFile: { from: 'b.txt', to: 'moved.txt' },
  applyPatch: {
    files: [
      { path: 'a.txt', edits: [{ oldText: 'one', newText: 'two' }] },
      { path: 'c.txt', content: 'three\n' },
      { path: 'b.txt', delete: true },
    ],
  },
  createBranch: { name: 'fix/typo', from: 'HEAD', checkOut: true },
  switchBranch: { name: 'other' },
  commit: { paths: ['more.txt', 'later.txt'], message: 'More' },
}

test('workspace: permuting the arguments of any tool, and times, refs and an index written anew, change no card and ask nobody again', async () => {
  const seed = inject('propertySeed')
  using folder = tempRepository({ 'a.txt': 'one\nline\n', 'b.txt': 'b\n' })
  const git = (...args: string[]) => gitIn(folder.root, ...args)
  git('branch', 'other')
  const files = () =>
    readdirSync(folder.root, { recursive: true, encoding: 'utf8' })
      .filter((path) => !/^\.git(\/|$)/.test(path) && statSync(join(folder.root, path)).isFile())
      .sort()
  const digestOf = (path: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder.root, path)))
      .digest('hex')
  let seconds = 1_700_000_000
  await using server = await startTestServer({
    environment: { PATH: process.env.PATH },
    config: { tools: { repo: { workspace: { root: folder.root } } }, policy: ASK_ALL },
  })
  const run = await everyToolLooksTheSame(
    {
      server,
      agent: await server.as({ name: 'bot', kind: 'agent' }),
      random: seededRandom(seed),
      drift() {
        seconds += 60
        for (const path of files()) utimesSync(join(folder.root, path), seconds, seconds)
        git('status')
        git('pack-refs', '--all')
      },
      changes: () => [
        ...git('log', '--branches', '--format=commit %T %P %s').split('\n'),
        ...git('branch', '--format=branch %(refname) %(HEAD)').split('\n'),
        ...files().map((path) => `file ${path} ${digestOf(path)}`),
      ],
    },
    {
      group: 'repo',
      seed,
      drawn: 1,
      async renew() {
        rmSync(join(folder.root, '.git', 'index.lock'), { force: true })
        git('checkout', '-qf', 'main')
        git('reset', '-q', '--hard', git('rev-list', '--max-parents=0', 'HEAD'))
        git('clean', '-qfdx')
        for (const branch of git('branch', '--format=%(refname:short)').split('\n'))
          if (!['main', 'other'].includes(branch)) git('branch', '-qD', branch)
        folder.write('more.txt', 'more\n')
        folder.write('later.txt', 'later\n')
        return EXAMPLES
      },
    },
  )
  expect(run.tools).toBeGreaterThanOrEqual(Object.keys(EXAMPLES).length)
  expect(run.calls).toBeGreaterThan(run.tools)
})
