import type { JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import type { Fault } from '../../../examples/github/stand-in/server.ts'
import { push } from '../../../examples/github/stand-in/server.ts'
import { addActivity, openGithubBench } from '../../../verification/testing/github.ts'
import { graphqlProblems } from '../../../verification/testing/github-graphql.ts'
import { CONVERT_TO_DRAFT, MARK_READY } from './graphql.ts'

const CONTEXT = (version?: string) => ({ actionId: 'act', idempotencyKey: 'act.1', version, signal: AbortSignal.timeout(240_000) })

test('updatePullBranch: the card says what comes in; a branch that is up to date is refused, one that moved is left', async () => {
  await using bench = await openGithubBench()
  const args = { number: 3 }
  await expect(bench.look('updatePullBranch', args)).rejects.toMatchObject({
    ...{ impossible: true, message: 'fix-price has all of main already.' },
  })
  addActivity(bench.standin, bench.repo)
  const { git } = bench.repo
  const [head = '', main = ''] = [git.heads.get('fix-price'), git.heads.get('main')]
  const shown = await bench.look('updatePullBranch', args)
  expect(shown.headline).toBe(`Update fix-price of #3 “Fix the price” in acme/shop at ${head.slice(0, 7)} with main`)
  expect(shown.fields).toContainEqual({ field: 'commits of main that it does not have', oldValue: 1, newValue: 0 })
  const lines = [`${main.slice(0, 7)} Note the changes`]
  expect(shown.fields).toContainEqual({ field: 'the oldest of them', oldValue: lines, newValue: lines })
  const moved = push(bench.standin.state, bench.repo, 'fix-price', { 'late.md': 'late' })
  await expect(bench.execute('updatePullBranch', args, CONTEXT(shown.version))).rejects.toMatchObject({ kind: 'stale' })
  expect(git.heads.get('fix-price')).toBe(moved)
  await bench.run('updatePullBranch', args)
  const made = git.commits.get(git.heads.get('fix-price') ?? '')
  expect(made?.parents).toEqual([moved, main])
  // A commit that somebody else added on top is not taken for the attempt's own.
  expect(await bench.verify('updatePullBranch', args, CONTEXT(head))).toEqual({ done: 'unknown' })
})

test('drafts: what is so already, or closed, is refused, and other commits ask again', async () => {
  await using bench = await openGithubBench()
  const issue = bench.repo.issues.get(3)
  const args = { number: 3 }
  await expect(bench.look('markReadyForReview', args)).rejects.toMatchObject({ impossible: true, message: /ready for review already/ })
  const shown = await bench.look('convertToDraft', args)
  expect(shown.headline).toBe('Turn #3 “Fix the price” of acme/shop into a draft again')
  push(bench.standin.state, bench.repo, 'fix-price', { 'late.md': 'late' })
  await expect(bench.execute('convertToDraft', args, CONTEXT(shown.version))).rejects.toMatchObject({ kind: 'stale' })
  expect(await bench.run('convertToDraft', args)).toMatchObject({ draft: true })
  await expect(bench.look('convertToDraft', args)).rejects.toMatchObject({ impossible: true, message: /a draft already/ })
  expect((await bench.look('markReadyForReview', args)).headline).toBe('Mark #3 “Fix the price” of acme/shop as ready for review')
  if (issue) issue.state = 'closed'
  await expect(bench.look('markReadyForReview', args)).rejects.toMatchObject({ impossible: true, message: '#3 is closed.' })
})

test.each([
  ['FORBIDDEN', { kind: 'refused', retryable: false }],
  ['RATE_LIMITED', { kind: 'refused', retryable: true }],
  [undefined, { kind: 'ambiguous' }],
] as const)('drafts: an answer of GraphQL with errors of the kind %s says what is known of the change', async (type, known) => {
  const fault: Fault = { status: 200, body: { data: null, errors: [{ ...(type && { type }), message: 'Not now\n\nstandin-token' }] } }
  await using bench = await openGithubBench({ fault: ({ path }) => (path === '/graphql' ? fault : undefined) })
  const error = await bench.run('convertToDraft', { number: 3 }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ ...known, message: expect.stringContaining('Not now [redacted]') })
})

test.each<[string, JsonObject]>([
  ['a part of the change', { data: { convertPullRequestToDraft: { pullRequest: null } }, errors: [{ type: 'FORBIDDEN', message: 'No' }] }],
  [
    'a place inside the change',
    { data: null, errors: [{ type: 'FORBIDDEN', message: 'No', path: ['convertPullRequestToDraft', 'pullRequest'] }] },
  ],
])('drafts: a refusal that GraphQL tells with %s does not prove that nothing was changed', async (_, body) => {
  await using bench = await openGithubBench({ fault: ({ path }) => (path === '/graphql' ? { status: 200, body } : undefined) })
  const error = await bench.run('convertToDraft', { number: 3 }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ kind: 'ambiguous', message: 'GitHub failed: No. Whether it acted is not known.' })
})

test('drafts: a refusal of the change itself is one, although GraphQL names the change in its answer', async () => {
  const field = 'convertPullRequestToDraft'
  const body = { data: { [field]: null }, errors: [{ type: 'FORBIDDEN', message: 'No', path: [field] }] }
  await using bench = await openGithubBench({ fault: ({ path }) => (path === '/graphql' ? { status: 200, body } : undefined) })
  await expect(bench.run('convertToDraft', { number: 3 })).rejects.toMatchObject({ kind: 'refused' })
})

test("drafts: each document is valid in GitHub's published schema, and what it does not have is noticed", () => {
  const pull = { pullRequest: { number: 3, isDraft: true } }
  const ask = (query: string, data: object) => graphqlProblems({ body: { query, variables: { pullRequestId: 'x' } }, answer: { data } })
  expect(ask(MARK_READY.text, { markPullRequestReadyForReview: pull })).toEqual([])
  expect(ask(CONVERT_TO_DRAFT.text, { convertPullRequestToDraft: pull })).toEqual([])
  expect(ask(MARK_READY.text.replace('isDraft', 'isdraft'), {})).toHaveLength(1)
  expect(ask(MARK_READY.text, { markPullRequestReadyForReview: { pullRequest: { number: 'three', isDraft: true } } })).toHaveLength(1)
  expect(graphqlProblems({ body: { query: MARK_READY.text, variables: {} }, answer: { data: {} } })).toHaveLength(1)
})
