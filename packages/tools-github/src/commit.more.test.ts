import type { JsonObject } from '@countersign/core'
import { applyPatch } from 'diff'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { push } from '../../../examples/github/stand-in/server.ts'
import { cpuTimeMs } from '../../../verification/testing/cpu-time.ts'
import { type GithubBench, openGithubBench } from '../../../verification/testing/github.ts'
import { WorkTimedOut } from '../../toolkit/src/bounded/workers.ts'
import { openNetwork } from '../../toolkit/src/net/index.ts'
import { JOBS } from '../../toolkit/src/text-work/jobs.ts'
import type { TextWork } from '../../toolkit/src/text-work/text-work.ts'
import { openGithubClient } from './client.ts'
import { commitFiles } from './commit.ts'
import { openAllowList } from './repository.ts'
import { openRuntime } from './tool.ts'

const CONTEXT = (version?: string) => ({ actionId: 'act', idempotencyKey: 'act.1', version, signal: AbortSignal.timeout(240_000) })

/** Returns the text of a file on a branch; undefined when the branch does not have it. */
function textAt({ repo: { git } }: GithubBench, branch: string, path: string): string | undefined {
  const tree = git.commits.get(git.heads.get(branch) ?? '')?.tree ?? ''
  const entry = git.filesOf(tree).get(path)
  return entry && git.blobs.get(entry.sha)?.toString()
}

const commitOf = (files: { path: string; content: string | null }[]): JsonObject => ({ branch: 'main', message: 'Change', files })

test('commitFiles: the diff on the card is what lands in the branch, byte for byte', async () => {
  await using bench = await openGithubBench()
  const line = fc.constantFrom('a', 'b', 'ü‮x', '--- a/x', '+++ b/x', '@@ -1 +1 @@', ' ', '\t', '<!-- -->', '')
  const text = fc
    .array(line, { maxLength: 12 })
    .chain((lines) => fc.constantFrom('\n', '\r\n').chain((end) => fc.constantFrom(lines.join(end), lines.join(end) + end)))
  await fc.assert(
    fc.asyncProperty(text, text, async (old, now) => {
      push(bench.standin.state, bench.repo, 'main', { 'x.md': old })
      const look = bench.look('commitFiles', commitOf([{ path: 'x.md', content: now }]))
      if (old === now) {
        await expect(look).rejects.toThrow('The files are as they are in main already')
        return
      }
      const [shown] = (await look).fields.filter(({ field }) => field === 'file x.md')
      expect(applyPatch(old, shown?.diff ?? '', { autoConvertLineEndings: false })).toBe(now)
      await bench.run('commitFiles', commitOf([{ path: 'x.md', content: now }]))
      expect(textAt(bench, 'main', 'x.md')).toBe(now)
    }),
    { seed: inject('propertySeed'), numRuns: 12 },
  )
})

test('commitFiles: several files are one commit on the commit that was shown, and a file that can be run stays one', async () => {
  await using bench = await openGithubBench()
  const { git } = bench.repo
  const head = git.heads.get('main') ?? ''
  const files = git.filesOf(git.commits.get(head)?.tree ?? '')
  files.set('bin/run', { path: 'bin/run', mode: '100755', sha: git.writeBlob(Buffer.from('#!/bin/sh\n')) })
  files.set('link', { path: 'link', mode: '120000', sha: git.writeBlob(Buffer.from('README.md')) })
  files.set('logo.png', { path: 'logo.png', mode: '100644', sha: git.writeBlob(Buffer.from([0x89, 0, 1])) })
  const base = git.writeCommit({ tree: git.treeOf(files), parents: [head], message: 'Run', author: 'ada', date: '2026-01-01T00:00:00Z' })
  git.heads.set('main', base.sha)

  const made = await bench.run(
    'commitFiles',
    commitOf([
      { path: 'bin/run', content: '#!/bin/sh\nexit 1\n' },
      { path: 'a/b/c.md', content: 'c' },
      { path: 'README.md', content: null },
    ]),
  )
  const commit = git.commits.get(git.heads.get('main') ?? '')
  expect(commit).toMatchObject({ parents: [base.sha], message: 'Change\n\nCountersign-Key: act_0000000000000000000000000.1' })
  expect(made).toMatchObject({ sha: commit?.sha, files: ['bin/run', 'a/b/c.md', 'README.md'] })
  const after = git.filesOf(commit?.tree ?? '')
  expect([after.get('bin/run')?.mode, after.get('a/b/c.md')?.mode, after.has('README.md'), after.get('link')?.mode]).toEqual([
    '100755',
    '100644',
    false,
    '120000',
  ])

  for (const [path, content, words] of [
    ['link', 'x', 'is a link'],
    ['logo.png', 'x', 'is not text'],
    ['src', 'x', 'is a folder'],
    ['README.md/x', 'x', ''],
    ['link/x', 'x', 'link is a link'],
    ['gone.md', null, 'is not there and cannot be deleted'],
  ] as const) {
    const look = bench.look('commitFiles', commitOf([{ path, content }]))
    if (words === '') expect((await look).fields.at(-1)?.field).toBe('new file README.md/x')
    else await expect(look).rejects.toThrow(words)
  }
})

test('a branch that moved since it was shown is not written to, not merged and not deleted', async () => {
  await using bench = await openGithubBench()
  const { state } = bench.standin
  const moves: [string, JsonObject, string][] = [
    ['commitFiles', commitOf([{ path: 'a', content: 'a' }]), 'main'],
    ['mergePullRequest', { number: 3 }, 'fix-price'],
    ['deleteBranch', { branch: 'fix-price' }, 'fix-price'],
  ]
  for (const [name, args, branch] of moves) {
    const shown = await bench.look(name, args)
    const head = push(state, bench.repo, branch, { 'late.md': name })
    await expect(bench.execute(name, args, CONTEXT(shown.version))).rejects.toMatchObject({ kind: 'stale' })
    expect(bench.repo.git.heads.get(branch)).toBe(head)
    expect((await bench.look(name, args)).precondition).not.toEqual(shown.precondition)
  }
})

test('commitFiles: whoever pushes in the very moment wins, and the commit is asked again', async () => {
  let late = () => {}
  await using bench = await openGithubBench({
    fault: ({ method, path }) => {
      if (method === 'PATCH' && path.includes('/git/refs/')) late()
      return undefined
    },
  })
  late = () => push(bench.standin.state, bench.repo, 'main', { 'late.md': 'late' })
  const run = bench.run('commitFiles', commitOf([{ path: 'a', content: 'a' }]))
  await expect(run).rejects.toMatchObject({ kind: 'stale', message: /other commits/ })
  expect([textAt(bench, 'main', 'a'), textAt(bench, 'main', 'late.md')]).toEqual([undefined, 'late'])
})

test('GitHub: a card names what is there now, what would be, and what is added to it', async () => {
  await using bench = await openGithubBench()
  const fieldsOf = async (name: string, args: JsonObject) => (await bench.look(name, args)).fields
  expect(await fieldsOf('createIssue', { title: '‮evil', body: '-->', labels: ['bug'], milestone: 1 })).toEqual([
    { field: 'repository', oldValue: 'acme/shop (private)', newValue: 'acme/shop (private)' },
    { field: 'title', newValue: '‮evil' },
    { field: 'body', newValue: '-->' },
    { field: 'labels', newValue: ['bug'] },
    { field: 'milestone', newValue: 'Spring' },
    { field: 'added to the body', newValue: expect.stringContaining('<!-- countersign:') },
  ])
  expect(await fieldsOf('updateIssue', { number: 1, labels: ['question'], milestone: 1 })).toEqual([
    { field: 'issue', oldValue: '#1 Prices are wrong', newValue: '#1 Prices are wrong' },
    { field: 'labels', oldValue: ['bug'], newValue: ['question'] },
    { field: 'milestone', oldValue: null, newValue: 1 },
  ])
  const pull = await fieldsOf('createPullRequest', { title: 'Again', head: 'fix-price', base: 'main' })
  expect(pull.find(({ field }) => field === 'files (1 file, +1 −1)')).toEqual({
    field: 'files (1 file, +1 −1)',
    newValue: ['src/price.ts +1 −1'],
  })
  const merge = await fieldsOf('mergePullRequest', { number: 3 })
  expect(merge.find(({ field }) => field === 'checks')).toMatchObject({ newValue: { success: 1 } })
  expect(merge.find(({ field }) => field === 'reviews')).toMatchObject({ newValue: ['ben: APPROVED'] })
  await expect(bench.look('assignIssue', { number: 1, assignees: ['nobody'] })).rejects.toThrow('404')
  await expect(bench.look('removeLabel', { number: 1, label: 'question' })).rejects.toThrow('does not have the label question')
  await expect(bench.look('createPullRequest', { title: 'x', head: 'main' })).rejects.toThrow('main has nothing that main does not have')
})

test('deleteBranch: the card says how many commits are lost besides those that it lists', async () => {
  await using bench = await openGithubBench()
  const add = (nth: number) => push(bench.standin.state, bench.repo, 'work', { 'work.md': `${nth}` }, `Step ${nth}`)
  const lost = async () => (await bench.look('deleteBranch', { branch: 'work' })).fields.at(-1)?.newValue as string[]
  for (let nth = 1; nth <= 50; nth++) add(nth)
  expect((await lost()).map((line) => line.slice(8))).toEqual(Array.from({ length: 50 }, (_, at) => `Step ${at + 1}`))
  add(51)
  expect((await lost()).slice(-2)).toEqual([expect.stringMatching(/Step 50$/), 'and 1 more commit'])
  add(52)
  expect((await lost()).at(-1)).toBe('and 2 more commits')
})

test('createPullRequest: a count that GitHub cuts off is not on the card as the total', async () => {
  await using bench = await openGithubBench()
  const files = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`many/${nth}.md`, 'x\n']))
  const shown = async (head: string) => {
    const { fields } = await bench.look('createPullRequest', { title: 'Many', head })
    const { field, newValue } = fields.find((one) => one.field.startsWith('files ')) ?? {}
    return [field, (newValue as string[]).at(-1)]
  }
  push(bench.standin.state, bench.repo, 'most', files(299))
  expect(await shown('most')).toEqual(['files (299 files, +299 −0)', 'and 249 more files'])
  push(bench.standin.state, bench.repo, 'more', files(301))
  expect(await shown('more')).toEqual([
    'files (at least 300 files, +300 −0 in the first 300)',
    'and at least 250 more files; GitHub lists no more than 300',
  ])
})

test('commitFiles: files whose difference takes long to find do not hold up the process while they are compared', async () => {
  await using bench = await openGithubBench()
  const lines = (of: string) => Array.from({ length: 20_000 }, (_, at) => (at % 6 === 0 ? `${of}${at}` : 'x')).join('\n')
  const paths = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.txt`)
  push(bench.standin.state, bench.repo, 'main', Object.fromEntries(paths.map((path) => [path, lines('old ')])))
  const startedAt = cpuTimeMs()
  let [turnedAt, longestTurnMs, isOver] = [startedAt, 0, false]
  const turn = () => {
    longestTurnMs = Math.max(longestTurnMs, cpuTimeMs() - turnedAt)
    turnedAt = cpuTimeMs()
    if (!isOver) setImmediate(turn)
  }
  turn()
  const { fields } = await bench.look('commitFiles', commitOf(paths.map((path) => ({ path, content: lines('new ') }))))
  isOver = true
  const tookMs = cpuTimeMs() - startedAt
  turn()
  expect(fields.filter(({ field }) => field.startsWith('file '))).toHaveLength(paths.length)
  // If the process compared the files itself, all comparisons would block a single turn of its event loop.
  expect(longestTurnMs).toBeLessThan(tookMs / 2)
})

test('commitFiles: all files are compared in one time, and those that are left when it is used up are shown in full', async () => {
  await using bench = await openGithubBench()
  const paths = ['a.txt', 'b.txt', 'c.txt']
  push(bench.standin.state, bench.repo, 'main', Object.fromEntries(paths.map((path) => [path, 'old\nend\n'])))
  const budgets: (object | undefined)[] = []
  const work: TextWork = {
    async run(job, input, { budget }) {
      budgets.push(budget)
      if (budget && budget.leftMs <= 0) throw new WorkTimedOut('has no time left')
      // As when others fill the one thread meanwhile.
      if (budget) budget.leftMs = 0
      return JOBS[job](input as never) as ReturnType<(typeof JOBS)[typeof job]>
    },
    [Symbol.asyncDispose]: async () => {},
  }
  const allowed = openAllowList(undefined)
  const github = { token: 'standin-token', baseUrl: bench.standin.api, webOrigin: bench.standin.api, allowed }
  const client = openGithubClient({ ...github, network: openNetwork() })
  const tool = commitFiles(openRuntime({ ...github, client, work, defaultRepository: undefined }))
  const args = { repository: 'acme/shop', ...commitOf(paths.map((path) => ({ path, content: 'new\nend\n' }))) }
  const { fields = [], version } = (await tool.preview?.(args, AbortSignal.timeout(240_000))) ?? {}
  expect(version).toBe(bench.repo.git.heads.get('main'))
  expect(fields.filter(({ field }) => field.startsWith('file '))).toEqual([
    { field: 'file a.txt', diff: expect.stringContaining('\n-old\n+new\n end\n') },
    { field: 'file b.txt', oldValue: 'old\nend\n', newValue: 'new\nend\n' },
    { field: 'file c.txt', oldValue: 'old\nend\n', newValue: 'new\nend\n' },
  ])
  expect(budgets).toHaveLength(3)
  expect(budgets.every((budget) => budget !== undefined && budget === budgets[0])).toBe(true)
})
