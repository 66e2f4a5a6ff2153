import type { JsonObject, VerifyContext } from '@countersign/core'
import { expect, test } from 'vitest'
import { push } from '../../../examples/github/stand-in/server.ts'
import { cpuTimeMs } from '../../../verification/testing/cpu-time.ts'
import { type Activity, addActivity, type GithubBench, openGithubBench } from '../../../verification/testing/github.ts'
import { hasMarker, hasTrailer, markerOf, withMarker, withoutMarker, withTrailer } from './marker.ts'

const KEY = 'act_01k9f3v7qs4m0000000000000.1'

/** A write, with the request that makes its change. Earlier requests change nothing. */
interface Write {
  name: string
  args: JsonObject | ((activity: Activity) => JsonObject)
  at: RegExp
  /** Prepares the state that the write needs. */
  given?(repo: GithubBench['repo']): void
}

const WRITES: Write[] = [
  { name: 'createIssue', args: { title: 'New', body: 'Text' }, at: /^POST \/repos\/acme\/shop\/issues$/ },
  { name: 'updateIssue', args: { number: 1, title: 'Else', assignees: [] }, at: /^PATCH .*\/issues\/1$/ },
  { name: 'closeIssue', args: { number: 1 }, at: /^PATCH .*\/issues\/1$/ },
  { name: 'addLabels', args: { number: 2, labels: ['bug'] }, at: /^POST .*\/labels$/ },
  { name: 'removeLabel', args: { number: 1, label: 'bug' }, at: /^DELETE .*\/labels\/bug$/ },
  { name: 'assignIssue', args: { number: 2, assignees: ['ada'] }, at: /^POST .*\/assignees$/ },
  { name: 'unassignIssue', args: { number: 1, assignees: ['ben'] }, at: /^DELETE .*\/assignees$/ },
  { name: 'commentOnIssue', args: { number: 1, body: 'Yes' }, at: /^POST .*\/comments$/ },
  { name: 'createPullRequest', args: { title: 'Docs', head: 'docs' }, at: /^POST .*\/pulls$/ },
  { name: 'updatePullRequest', args: { number: 3, body: 'New text' }, at: /^PATCH .*\/pulls\/3$/ },
  { name: 'requestReview', args: { number: 3, reviewers: ['ben'] }, at: /^POST .*\/requested_reviewers$/ },
  { name: 'closePullRequest', args: { number: 3 }, at: /^PATCH .*\/pulls\/3$/ },
  { name: 'mergePullRequest', args: { number: 3 }, at: /^PUT .*\/merge$/ },
  { name: 'createBranch', args: { branch: 'next' }, at: /^POST .*\/git\/refs$/ },
  { name: 'deleteBranch', args: { branch: 'docs' }, at: /^DELETE .*\/git\/refs/ },
  {
    name: 'commitFiles',
    args: { branch: 'docs', message: 'More', files: [{ path: 'a.md', content: 'a\n' }] },
    at: /^PATCH .*\/git\/refs/,
  },
  { name: 'createReview', args: { number: 3, event: 'APPROVE' }, at: /^POST .*\/pulls\/3\/reviews$/ },
  {
    name: 'createReview',
    args: { number: 3, event: 'COMMENT', comments: [{ path: 'src/price.ts', line: 1, body: 'Why?' }] },
    at: /^POST .*\/pulls\/3\/reviews$/,
  },
  { name: 'replyToReviewComment', args: ({ comment }) => ({ number: 3, commentId: comment, body: 'So' }), at: /^POST .*\/replies$/ },
  { name: 'updatePullBranch', args: { number: 3 }, at: /^PUT .*\/update-branch$/ },
  { name: 'convertToDraft', args: { number: 3 }, at: /^POST \/graphql$/ },
  {
    ...{ name: 'markReadyForReview', args: { number: 3 }, at: /^POST \/graphql$/ },
    given(repo) {
      const pull = repo.issues.get(3)?.pull
      if (pull) pull.draft = true
    },
  },
  { name: 'rerunWorkflow', args: ({ failed }) => ({ runId: failed.id }), at: /^POST .*\/rerun$/ },
  { name: 'rerunFailedJobs', args: ({ failed }) => ({ runId: failed.id }), at: /^POST .*\/rerun-failed-jobs$/ },
  { name: 'cancelWorkflowRun', args: ({ running }) => ({ runId: running.id }), at: /^POST .*\/cancel$/ },
  { name: 'createRelease', args: { tag: 'v2.0.0' }, at: /^POST .*\/releases$/ },
  { name: 'createRelease', args: { tag: 'v2.0.0', draft: true, body: 'Soon' }, at: /^POST .*\/releases$/ },
  { name: 'publishRelease', args: ({ draft }) => ({ releaseId: draft }), at: /^PATCH .*\/releases\/\d+$/ },
]

async function benchWith(fault: { mode?: 'before' | 'after'; at: RegExp }): Promise<GithubBench> {
  const bench = await openGithubBench({ fault: ({ method, path }) => (fault.at.test(`${method} ${path}`) ? fault.mode : undefined) })
  push(bench.standin.state, bench.repo, 'docs', { 'docs.md': 'Docs\n' })
  return bench
}

const contextOf = (version: string | undefined): VerifyContext => ({
  ...{ actionId: KEY.slice(0, -2), idempotencyKey: KEY, proposedAtMs: Date.now(), version, signal: AbortSignal.timeout(240_000) },
})

test.each(WRITES)(
  '$name: an answer that is lost behind the effect is found again, and one that is lost before it was not done',
  async ({ name, args: given, at, given: prepare }) => {
    const fault: { mode?: 'before' | 'after'; at: RegExp } = { at }
    await using bench = await benchWith(fault)
    const activity = addActivity(bench.standin, bench.repo)
    prepare?.(bench.repo)
    const args = typeof given === 'function' ? given(activity) : given
    const { version } = await bench.look(name, args)
    const verify = () => bench.verify(name, args, contextOf(version))
    fault.mode = 'before'
    await expect(bench.run(name, args, KEY)).rejects.toMatchObject({ kind: 'ambiguous' })
    expect(await verify()).toEqual({ done: false })
    fault.mode = 'after'
    await expect(bench.run(name, args, KEY)).rejects.toMatchObject({ kind: 'ambiguous' })
    delete fault.mode
    expect(await verify()).toMatchObject({ done: true, output: {} })
  },
)

test('a cache on the way to GitHub does not answer what a change is decided by or verified with', async () => {
  await using bench = await openGithubBench()
  const { version } = await bench.look('closeIssue', { number: 1 })
  await bench.verify('closeIssue', { number: 1 }, contextOf(version))
  const reads = bench.standin.exchanges.map(({ method, headers }) => `${method} ${headers['cache-control']}`)
  expect(new Set(reads)).toEqual(new Set(['GET no-cache']))
})

test('a 404 of a proxy, or for a token that sees the repository no more, does not prove that a branch was deleted', async () => {
  let isAway = false
  const away = { status: 404, body: { message: 'Not Found' } }
  await using bench = await openGithubBench({ fault: () => (isAway ? away : undefined) })
  push(bench.standin.state, bench.repo, 'docs', { 'docs.md': 'Docs\n' })
  const { version } = await bench.look('deleteBranch', { branch: 'docs' })
  const verify = () => bench.verify('deleteBranch', { branch: 'docs' }, contextOf(version))
  isAway = true
  await expect(verify()).rejects.toMatchObject({ kind: 'refused' })
  isAway = false
  expect(await verify()).toEqual({ done: false })
  await bench.run('createBranch', { branch: 'docs-2', from: 'docs' })
  await bench.run('deleteBranch', { branch: 'docs' })
  expect(await verify()).toMatchObject({ done: true })
})

test('what is lost on the way to a commit that no branch has yet is no commit: it may be tried again', async () => {
  for (const at of [/^POST .*\/git\/trees/, /^POST .*\/git\/commits/, /^GET .*\/git\/commits/]) {
    const fault: { mode?: 'before' | 'after'; at: RegExp } = { at }
    await using bench = await benchWith(fault)
    const args = { branch: 'docs', message: 'More', files: [{ path: 'a.md', content: 'a\n' }] }
    const { version } = await bench.look('commitFiles', args)
    const before = bench.repo.git.heads.get('docs')
    fault.mode = 'after'
    await expect(bench.execute('commitFiles', args, contextOf(version))).rejects.toMatchObject({ kind: 'refused', retryable: true })
    expect(bench.repo.git.heads.get('docs')).toBe(before)
  }
})

test('only the attempt itself is found: not who quotes its marker, not another one, not what somebody else wrote', async () => {
  await using bench = await openGithubBench()
  const verify = (name: string, args: JsonObject) => bench.verify(name, args, contextOf(undefined))
  await bench.run('createIssue', { title: 'Quote', body: `Look: ${markerOf(KEY)}` }, 'act_x.1')
  await bench.run('createIssue', { title: 'Ends in it', body: markerOf(KEY) }, 'act_x.2')
  await bench.run('commentOnIssue', { number: 1, body: `> ${markerOf(KEY)}\n${markerOf(KEY)}` }, 'act_x.3')
  await bench.run('createBranch', { branch: 'docs' })
  await bench.run('commitFiles', { branch: 'docs', message: `Countersign-Key: ${KEY}`, files: [{ path: 'a', content: 'a' }] }, 'act_x.4')
  expect(await verify('createIssue', { title: 'New' })).toEqual({ done: false })
  expect(await verify('commentOnIssue', { number: 1, body: 'x' })).toEqual({ done: false })
  expect(await verify('commitFiles', { branch: 'docs', message: 'x', files: [{ path: 'a', content: 'b' }] })).toEqual({ done: 'unknown' })
  const forged = bench.repo.issues.get(1)
  if (forged) forged.body = withMarker('I have seen the key.', KEY)
  bench.repo.comments.push({
    id: 7,
    issue: 1,
    user: 'ada',
    body: markerOf(KEY),
    createdAt: '2030-01-01T00:00:00Z',
    updatedAt: '2030-01-01T00:00:00Z',
  })
  expect(await verify('createIssue', { title: 'New' })).toEqual({ done: false })
  expect(await verify('commentOnIssue', { number: 1, body: 'x' })).toEqual({ done: false })
})

test('an attempt whose answer was lost is found behind hundreds of others, and not looked for among what is older', async () => {
  await using bench = await openGithubBench()
  await bench.run('createIssue', { title: 'The one' }, KEY)
  for (let n = 0; n < 250; n++)
    bench.repo.issues.set(100 + n, { ...structuredClone(bench.repo.issues.get(4)), number: 100 + n, body: `${n}` } as never)
  const args = { title: 'The one' }
  expect(await bench.verify('createIssue', args, contextOf(undefined))).toMatchObject({ done: true, output: { number: 4 } })
  const asked = bench.standin.exchanges.length
  const later = { ...contextOf(undefined), proposedAtMs: Date.now() + 3_600_000, idempotencyKey: 'act_y.1' }
  expect(await bench.verify('createIssue', args, later)).toEqual({ done: false })
  expect(bench.standin.exchanges.length - asked).toBe(1)
})

test('markers and trailers: whatever a text holds, its own is its last line, and people do not see it', () => {
  for (const text of ['', 'plain', 'with --> and <!--', '```\nopen', '<!-- open', markerOf('act_1.1'), 'a\r\nb\r\n', '‮evil', '\n\n']) {
    const marked = withMarker(text, 'act_2.1')
    expect(hasMarker(marked, 'act_2.1')).toBe(true)
    expect(hasMarker(marked.replaceAll('\n', '\r\n'), 'act_2.1')).toBe(true)
    expect(hasMarker(marked, 'act_1.1')).toBe(false)
    expect(withoutMarker(marked)).toBe(text.trimEnd())
    expect(marked.startsWith(text)).toBe(true)
  }
  expect(withTrailer('Fix\n\nSigned-off-by: Ada <a@b.c>', 'act_2.1')).toBe('Fix\n\nSigned-off-by: Ada <a@b.c>\nCountersign-Key: act_2.1')
  expect(withTrailer('Fix: it', 'act_2.1')).toBe('Fix: it\n\nCountersign-Key: act_2.1')
  expect(hasTrailer(withTrailer('Countersign-Key: act_1.1', 'act_2.1'), 'act_1.1')).toBe(false)
})

test('a text on GitHub takes no longer for the spaces in it, or for markers that are not its end', () => {
  const spaces = ' '.repeat(200_000)
  const texts = [
    `x${spaces}y`,
    `x${spaces}<!-- countersign:`,
    markerOf('act_1.1').repeat(10_000) + spaces,
    '<!-- countersign:'.repeat(10_000),
  ]
  const startedAt = cpuTimeMs()
  const read = texts.map(withoutMarker)
  expect(cpuTimeMs() - startedAt).toBeLessThan(2_000)
  expect(read).toEqual([texts[0], texts[1], markerOf('act_1.1').repeat(9_999), texts[3]])
})
