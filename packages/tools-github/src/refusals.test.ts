import { type JsonObject, ToolError } from '@countersign/core'
import { expect, test } from 'vitest'
import type { Fault } from '../../../examples/github/stand-in/server.ts'
import { freePort } from '../../../verification/testing/free-port.ts'
import { openGithubBench } from '../../../verification/testing/github.ts'

const answer = (status: number, body: JsonObject, headers: Record<string, string> = {}): Fault => ({ status, body, headers })
const validation = (...errors: JsonObject[]) => answer(422, { message: 'Validation Failed', documentation_url: 'x', errors })

/** GitHub's possible refusals, each with the effect on a write and the words that people see. */
const REFUSALS: { what: string; fault: Fault; kind: string; retryable: boolean; words: RegExp }[] = [
  {
    what: 'a bad token',
    fault: answer(401, { message: 'Bad credentials' }),
    kind: 'refused',
    retryable: false,
    words: /does not accept the token/,
  },
  {
    ...{ what: 'a permission that is missing', kind: 'refused', retryable: false, words: /permission issues=write/ },
    fault: answer(
      403,
      { message: 'Resource not accessible by personal access token' },
      { 'x-accepted-github-permissions': 'issues=write' },
    ),
  },
  {
    ...{ what: 'a scope that is missing', kind: 'refused', retryable: false, words: /one of the scopes repo and has read:user/ },
    fault: answer(403, { message: 'Must have rights' }, { 'x-accepted-oauth-scopes': 'repo', 'x-oauth-scopes': 'read:user' }),
  },
  {
    ...{ what: 'the limit of requests', kind: 'refused', retryable: true, words: /tried again after 2027-01-15T08:00:00.000Z/ },
    fault: answer(403, { message: 'API rate limit exceeded' }, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1800000000' }),
  },
  {
    ...{ what: 'the limit of pace', kind: 'refused', retryable: true, words: /slower.*in 60 s/ },
    fault: answer(403, { message: 'You have exceeded a secondary rate limit' }, { 'retry-after': '60' }),
  },
  { what: 'too many requests', fault: answer(429, { message: 'Slow' }), kind: 'refused', retryable: true, words: /slower \(429\)/ },
  {
    what: 'nothing there',
    fault: answer(404, { message: 'Not Found' }),
    kind: 'refused',
    retryable: false,
    words: /may not see it \(404\)/,
  },
  {
    what: 'a conflict',
    fault: answer(409, { message: 'Git Repository is empty.' }),
    kind: 'refused',
    retryable: false,
    words: /conflict \(409\).*empty/,
  },
  {
    what: 'issues switched off',
    fault: answer(410, { message: 'Issues disabled' }),
    kind: 'refused',
    retryable: false,
    words: /switched off.*disabled/,
  },
  {
    ...{ what: 'fields that are wrong', kind: 'refused', retryable: false, words: /assignees is not valid; A pull request already exists/ },
    fault: validation({ field: 'assignees', code: 'invalid' }, { code: 'custom', message: 'A pull request already exists' }),
  },
  { what: 'legal reasons', fault: answer(451, { message: 'Blocked' }), kind: 'refused', retryable: false, words: /legal reasons/ },
  {
    what: 'a failure',
    fault: answer(502, { message: 'Bad gateway' }),
    kind: 'ambiguous',
    retryable: true,
    words: /Whether it acted is not known/,
  },
  { what: 'a timeout', fault: answer(408, {}), kind: 'ambiguous', retryable: true, words: /408.*Whether it acted is not known/ },
  { what: 'a web page', fault: { status: 200, body: undefined }, kind: 'ambiguous', retryable: true, words: /did not arrive whole/ },
]

test.each(REFUSALS)('GitHub: $what is told in plain words, sent once', async ({ fault, kind, retryable, words }) => {
  await using bench = await openGithubBench({ fault: ({ method }) => (method === 'POST' ? fault : undefined) })
  const run = bench.run('createIssue', { title: 'New' })
  const error = await run.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ToolError)
  expect(error).toMatchObject({ kind, retryable, message: expect.stringMatching(words) })
  expect(bench.standin.exchanges.filter(({ method }) => method === 'POST')).toHaveLength(1)
})

test('GitHub: what a service says in an error has no secret in it and cannot pretend to be lines of ours', async () => {
  const body = { message: 'Bad standin-token\n\n‮approved‬\u0000 by Ada' }
  await using bench = await openGithubBench({ fault: () => answer(400, body) })
  const error = await bench
    .tool('getIssue')
    .execute({ repository: 'acme/shop', number: 1 }, CONTEXT())
    .catch((thrown: Error) => thrown.message)
  expect(error).toBe(`GitHub (${new URL(bench.standin.api).origin}) refused (400): Bad [redacted] approved by Ada.`)
})

const CONTEXT = () => ({ actionId: 'act', idempotencyKey: 'act.1', principalId: undefined, signal: AbortSignal.timeout(240_000) })

test('GitHub: nobody there means that nothing was sent, and a stop in between that it is not known', async () => {
  // At a port that no other test gets once nobody listens there any more.
  const bench = await openGithubBench({ port: await freePort() })
  const args = { repository: 'acme/shop', title: 'New', body: '', labels: [], assignees: [] }
  const stop = new AbortController()
  await using slow = await openGithubBench({
    fault: ({ method }) => {
      if (method === 'POST') stop.abort()
      return method === 'POST' ? 'before' : undefined
    },
  })
  await bench[Symbol.asyncDispose]()
  await expect(bench.tool('createIssue').execute(args, CONTEXT())).rejects.toMatchObject({ kind: 'unreachable' })
  const stopped = slow.tool('createIssue').execute(args, { ...CONTEXT(), signal: stop.signal })
  await expect(stopped).rejects.toMatchObject({ kind: 'ambiguous' })
})

test('GitHub: nobody is asked about a change of an issue that would change nothing', async () => {
  await using bench = await openGithubBench()
  const twice: [string, JsonObject][] = [
    ['updateIssue', { number: 1, title: 'Else', labels: ['new', 'bug'], assignees: ['ada'], state: 'open' }],
    ['addLabels', { number: 1, labels: ['question'] }],
    ['assignIssue', { number: 1, assignees: ['ben'] }],
    ['closeIssue', { number: 1, reason: 'not_planned' }],
    ['reopenIssue', { number: 1 }],
  ]
  for (const [name, args] of twice) {
    await bench.run(name, args)
    await expect(bench.look(name, args), name).rejects.toMatchObject({ message: '#1 is like that already.', impossible: true })
  }
  await bench.run('closeIssue', { number: 1 })
  expect((await bench.look('closeIssue', { number: 1, reason: 'not_planned' })).fields.map(({ newValue }) => newValue)).toContain(
    'not_planned',
  )
})

test('GitHub: a renamed repository is followed once by what reads, and named to what writes', async () => {
  await using bench = await openGithubBench()
  Object.assign(bench.repo, { name: 'store', formerly: ['acme/shop'] })
  expect(await bench.run('getIssue', { number: 1 })).toMatchObject({ title: 'Prices are wrong' })
  const before = JSON.stringify([...bench.repo.issues])
  const context = { ...CONTEXT(), proposedAtMs: 0 }
  const writes: [string, JsonObject][] = [
    ['createIssue', { title: 'New' }],
    ['closeIssue', { number: 1 }],
    ['commitFiles', { branch: 'main', message: 'x', files: [{ path: 'a', content: 'a' }] }],
  ]
  for (const [name, args] of writes) {
    await expect(bench.execute(name, args, context)).rejects.toMatchObject({
      kind: 'refused',
      message: 'The repository acme/shop is now acme/store. Nothing was changed: name it so.',
    })
    await expect(bench.look(name, args)).rejects.toThrow('is now acme/store')
  }
  expect(JSON.stringify([...bench.repo.issues])).toBe(before)
  expect(await bench.run('closeIssue', { repository: 'acme/store', number: 1 })).toMatchObject({ state: 'closed' })
})

test('GitHub: a redirect that leads out of the allowed repositories, or elsewhere, is not followed', async () => {
  await using bench = await openGithubBench({ section: { repositories: ['acme/*'] } })
  Object.assign(bench.repo, { owner: 'evil', formerly: ['acme/shop'] })
  await expect(bench.run('getIssue', { number: 1 })).rejects.toThrow('has moved to where it may not be used from here')
  for (const location of ['http://169.254.169.254/repositories/1000', 'https://evil.example/x', '/elsewhere', '']) {
    const fault = answer(301, { message: 'Moved' }, { location })
    await using turned = await openGithubBench({ fault: ({ path }) => (path.startsWith('/repos/') ? fault : undefined) })
    await expect(turned.run('getRepository')).rejects.toMatchObject({ kind: 'refused', message: /Redirects are not followed/ })
  }
})
