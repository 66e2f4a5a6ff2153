import type { JsonObject } from '@countersign/core'
import { structuredPatch } from 'diff'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { push } from '../../../examples/github/stand-in/server.ts'
import { addActivity, type GithubBench, openGithubBench } from '../../../verification/testing/github.ts'
import { excerptOf, type Side } from './diff-lines.ts'

const CONTEXT = (version?: string) => ({ actionId: 'act', idempotencyKey: 'act.1', version, signal: AbortSignal.timeout(240_000) })

const at = (comment: JsonObject): JsonObject => ({
  number: 3,
  event: 'COMMENT',
  comments: [{ path: 'src/price.ts', body: 'Why?', ...comment }],
})

const shownOf = async (bench: GithubBench, name: string, args: JsonObject) =>
  Object.fromEntries((await bench.look(name, args)).fields.map(({ field, newValue }) => [field, newValue]))

test('createReview: the card names title, author and commit, what the checks say, and the lines that each comment stands at', async () => {
  await using bench = await openGithubBench()
  const old = Array.from({ length: 9 }, (_, line) => `line ${line + 1}\n`)
  push(bench.standin.state, bench.repo, 'main', { 'long.md': old.join('') })
  const now = old.with(6, 'seven\n')
  const head = push(bench.standin.state, bench.repo, 'words', { 'long.md': now.join('') })
  Object.assign(bench.repo.issues.get(3)?.pull ?? {}, { head: 'words' })
  const args = {
    number: 3,
    event: 'REQUEST_CHANGES',
    body: 'Not yet.',
    comments: [{ path: 'long.md', startLine: 6, line: 7, body: 'Why words?' }],
  }
  const { headline } = await bench.look('createReview', args)
  expect(headline).toBe(`Request changes on #3 “Fix the price” of acme/shop by ada at ${head.slice(0, 7)}`)
  const shown = await shownOf(bench, 'createReview', args)
  expect(shown).toMatchObject({
    ...{ 'pull request': '#3 Fix the price', author: 'ada', state: 'open', from: `words at ${head}`, into: 'main' },
    ...{ checks: { success: 1 }, 'merges by itself when it may': 'no', 'review of countersign-bot': 'REQUEST_CHANGES', body: 'Not yet.' },
    'comment at long.md lines 6 to 7': 'Why words?',
  })
  expect(shown['at long.md lines 6 to 7']).toEqual([
    { line: '4', diff: ' line 4' },
    { line: '5', diff: ' line 5' },
    { line: '> 6', diff: ' line 6' },
    { line: 'old 7', diff: '-line 7' },
    { line: '> 7', diff: '+seven' },
  ])
})

test('createReview: a pull request that merges by itself says so on the card, and turning that on asks again', async () => {
  await using bench = await openGithubBench()
  const args = { number: 3, event: 'APPROVE' }
  const before = await bench.look('createReview', args)
  const pull = bench.repo.issues.get(3)?.pull
  if (pull) pull.autoMerge = 'squash'
  const after = await bench.look('createReview', args)
  expect(after.fields.find(({ field }) => field === 'merges by itself when it may')?.newValue).toBe('yes, by squash')
  expect(after.precondition).not.toEqual(before.precondition)
})

/** Reviews of #3 that say nothing for or against it. */
const remarks = (bench: GithubBench, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    ...{ id: 1_000 + n, user: 'ben', state: 'COMMENTED' as const, body: 'Hm.' },
    commit: bench.repo.git.heads.get('fix-price') ?? '',
  }))

test('mergePullRequest: changes that were requested after a hundred other reviews are on the card, and ask again', async () => {
  await using bench = await openGithubBench()
  const reviews = bench.repo.issues.get(3)?.pull?.reviews ?? []
  reviews.push(...remarks(bench, 150))
  const before = await bench.look('mergePullRequest', { number: 3 })
  expect(before.fields.find(({ field }) => field === 'reviews')?.newValue).toEqual(['ben: APPROVED'])
  reviews.push(...remarks(bench, 1).map((one) => ({ ...one, user: 'ada', state: 'CHANGES_REQUESTED' as const })))
  const after = await bench.look('mergePullRequest', { number: 3 })
  expect(after.fields.find(({ field }) => field === 'reviews')?.newValue).toEqual(['ben: APPROVED', 'ada: CHANGES_REQUESTED'])
  expect(after.precondition).not.toEqual(before.precondition)
})

test('mergePullRequest: a check that failed after the hundredth is on the card, and asks again', async () => {
  await using bench = await openGithubBench()
  const { checks } = bench.repo
  checks.push(...Array.from({ length: 150 }, (_, n) => ({ name: `unit ${n}`, conclusion: 'success' as const })))
  const before = await bench.look('mergePullRequest', { number: 3 })
  expect(before.fields.find(({ field }) => field === 'checks')?.newValue).toEqual({ success: 151 })
  checks.push({ name: 'security', conclusion: 'failure' })
  const after = await bench.look('mergePullRequest', { number: 3 })
  expect(after.fields.find(({ field }) => field === 'checks')?.newValue).toEqual({ failure: 1, success: 151 })
  expect(after.precondition).not.toEqual(before.precondition)
  checks.push(...Array.from({ length: 400 }, (_, n) => ({ name: `more ${n}`, conclusion: 'success' as const })))
  expect((await shownOf(bench, 'mergePullRequest', { number: 3 })).checks).toEqual({ failure: 1, success: 499, 'not read': 'some' })
})

test('createReview: an own review after a hundred others is on the card, and asks again', async () => {
  await using bench = await openGithubBench()
  const reviews = bench.repo.issues.get(3)?.pull?.reviews ?? []
  reviews.push(...remarks(bench, 150))
  const args = { number: 3, event: 'APPROVE' }
  const before = await bench.look('createReview', args)
  await bench.run('createReview', { number: 3, event: 'REQUEST_CHANGES', body: 'Not yet.' })
  const after = await bench.look('createReview', args)
  expect(after.fields.find(({ field }) => field === 'review of countersign-bot')?.oldValue).toBe('CHANGES_REQUESTED')
  expect(after.precondition).not.toEqual(before.precondition)
})

test('requestReview: an asked person who reviewed since, after a hundred others, is not taken for one who was never asked', async () => {
  await using bench = await openGithubBench()
  const reviews = bench.repo.issues.get(3)?.pull?.reviews ?? []
  const args = { number: 3, reviewers: ['cleo'] }
  reviews.push(...remarks(bench, 150))
  const context = { ...CONTEXT(), proposedAtMs: Date.parse('2100-01-01T00:00:00Z') }
  expect(await bench.verify('requestReview', args, context)).toEqual({ done: false })
  reviews.push(...remarks(bench, 1).map((one) => ({ ...one, user: 'cleo' })))
  expect(await bench.verify('requestReview', args, { ...context, proposedAtMs: 0 })).toEqual({ done: 'unknown' })
  reviews.push(...remarks(bench, 500))
  expect(await bench.verify('requestReview', args, context), 'some are not read').toEqual({ done: 'unknown' })
})

test('a card about a pull request with more reviews than are read says so', async () => {
  await using bench = await openGithubBench()
  bench.repo.issues.get(3)?.pull?.reviews.push(...remarks(bench, 500))
  expect((await shownOf(bench, 'mergePullRequest', { number: 3 })).reviews).toEqual([
    'ben: APPROVED',
    'There are more than 500 reviews. The latest were not read.',
  ])
  const { fields } = await bench.look('createReview', { number: 3, event: 'APPROVE' })
  expect(fields.find(({ field }) => field === 'review of countersign-bot')?.oldValue).toBe('none in the first 500 reviews')
})

test('createReview: what GitHub would not take is refused with the reason before anybody is asked', async () => {
  await using bench = await openGithubBench()
  const refusals: [JsonObject, string][] = [
    [at({ line: 2 }), 'src/price.ts line 2: the diff of #3 does not have that'],
    [at({ line: 9, startLine: 1 }), 'src/price.ts lines 1 to 9: the diff of #3 does not have that'],
    [at({ path: 'src/tax.ts', line: 1 }), 'src/tax.ts is not among the files that #3 changes'],
    [{ number: 1, event: 'APPROVE' }, '404'],
  ]
  for (const [args, words] of refusals) {
    await expect(bench.look('createReview', args)).rejects.toMatchObject({ impossible: true, message: expect.stringContaining(words) })
  }
  const pull = bench.repo.issues.get(3)
  if (pull) pull.user = 'countersign-bot'
  for (const event of ['APPROVE', 'REQUEST_CHANGES']) {
    const look = bench.look('createReview', { number: 3, event, body: 'x' })
    await expect(look).rejects.toMatchObject({ impossible: true, message: expect.stringContaining('of their own') })
  }
  await expect(bench.look('createReview', { number: 3, event: 'COMMENT', body: 'Done.' })).resolves.toBeDefined()
  const unusable: [JsonObject, string][] = [
    [{ number: 3, event: 'REQUEST_CHANGES' }, 'must have a body'],
    [{ number: 3, event: 'COMMENT', body: ' ' }, 'must hold a text'],
    [at({ line: 1, startLine: 1 }), 'startLine must be above line'],
    [at({ line: 1, path: '../x' }), 'must be a path inside'],
  ]
  for (const [args, words] of unusable) {
    const result = bench.tool('createReview').check(args)
    expect([args, result.ok ? '' : result.issues.map(({ message }) => message).join()]).toEqual([args, expect.stringContaining(words)])
  }
})

test('createReview: an approval of one commit is not given to another, and names its commit to GitHub', async () => {
  await using bench = await openGithubBench()
  const args = { number: 3, event: 'APPROVE' }
  const shown = await bench.look('createReview', args)
  const head = push(bench.standin.state, bench.repo, 'fix-price', { 'late.md': 'late' })
  await expect(bench.execute('createReview', args, CONTEXT(shown.version))).rejects.toMatchObject({ kind: 'stale' })
  expect(bench.repo.issues.get(3)?.pull?.reviews).toHaveLength(1)
  const again = await bench.look('createReview', args)
  expect(again.precondition).not.toEqual(shown.precondition)
  await bench.execute('createReview', args, CONTEXT(again.version))
  expect(bench.standin.exchanges.at(-1)?.body).toEqual({ commit_id: head, event: 'APPROVE', body: '<!-- countersign:act.1 -->' })
})

test('replyToReviewComment: the card shows what is answered and where; replies to replies and to another pull request are refused', async () => {
  await using bench = await openGithubBench()
  const { comment } = addActivity(bench.standin, bench.repo)
  const args = { number: 3, commentId: comment, body: 'As asked.' }
  expect((await bench.look('replyToReviewComment', args)).headline).toBe(
    'Reply to ben at “src/price.ts” in #3 “Fix the price” of acme/shop',
  )
  expect(await shownOf(bench, 'replyToReviewComment', args)).toMatchObject({
    ...{ 'comment of ben': 'Why 2?', reply: 'As asked.' },
    'at src/price.ts': [
      { line: '1', diff: '-1' },
      { line: '1', diff: '+2' },
    ],
  })
  const { id } = (await bench.run('replyToReviewComment', args)) as { id: number }
  for (const [other, words] of [
    [{ ...args, commentId: id }, `reply to ${comment}`],
    [{ ...args, commentId: 7 }, '404'],
    [{ ...args, number: 1 }, '404'],
  ] as const) {
    const look = bench.look('replyToReviewComment', other)
    await expect(look).rejects.toMatchObject({ impossible: true, message: expect.stringContaining(words) })
  }
  const { comments } = (await bench.run('listReviewComments', { number: 3 })) as { comments: JsonObject[] }
  expect(comments).toMatchObject([
    { id: comment, by: 'ben', line: 1, inReplyTo: null },
    { id, body: 'As asked.', inReplyTo: comment },
  ])
})

test('an excerpt of a diff has the line that is meant, with its text in that version of the file, and nothing stands at other lines', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', '', '-x', '+x', '@@ -1 +1 @@', '\\ No newline'), { maxLength: 14 })
    .map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, fc.constantFrom<Side>('LEFT', 'RIGHT'), fc.integer({ min: 1, max: 16 }), (old, now, side, line) => {
      const { hunks } = structuredPatch('x', 'x', old, now, undefined, undefined, { context: 3 })
      const patch = hunks
        .map((one) => [`@@ -${one.oldStart},${one.oldLines} +${one.newStart},${one.newLines} @@`, ...one.lines].join('\n'))
        .join('\n')
      const of = (one: (typeof hunks)[number]) => (side === 'LEFT' ? [one.oldStart, one.oldLines] : [one.newStart, one.newLines])
      const isIn = hunks.some((one) => {
        const [start = 0, count = 0] = of(one)
        return line >= start && line < start + count
      })
      const excerpt = excerptOf(patch, { side, startLine: line, line })
      expect(excerpt !== undefined).toBe(isIn)
      if (excerpt === undefined) return
      const last = excerpt.at(-1)
      expect([last?.line, last?.diff.slice(1)]).toEqual([`> ${line}`, (side === 'LEFT' ? old : now).split('\n')[line - 1]])
    }),
    { seed: inject('propertySeed'), numRuns: 500 },
  )
})

test('an excerpt of many lines says how many it leaves out', () => {
  const patch = ['@@ -0,0 +1,60 @@', ...Array.from({ length: 60 }, (_, line) => `+line ${line + 1}`)].join('\n')
  const excerpt = excerptOf(patch, { side: 'RIGHT', startLine: 1, line: 60 }) ?? []
  expect(excerpt.map(({ line }) => line)).toEqual([
    ...Array.from({ length: 10 }, (_, line) => `> ${line + 1}`),
    '…',
    ...Array.from({ length: 10 }, (_, line) => `> ${line + 51}`),
  ])
  expect(excerpt[10]?.diff).toBe('40 more lines')
})
