import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Action, JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import { type Repo, startStandIn as startGithub } from '../../examples/github/stand-in/server.ts'
import { startStandIn as startLinear } from '../../examples/linear/stand-in/server.ts'
import { API_KEY, exampleSchema, NOW_MS } from '../../packages/tools-linear/src/testing/open-workspace.ts'
import { startChildServer } from '../testing/child-server.ts'
import { verify } from '../testing/decisions.ts'
import { addShop } from '../testing/github.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

async function runAttempt(server: TestServer, tool: string, args: JsonObject): Promise<Action> {
  const { id, revision, digest } = await server.admin.post('/api/actions', { tool, arguments: args })
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  await server.settle()
  return server.admin.get(`/api/actions/${id}`)
}

const NOT_FOUND_YET = { state: 'outcome_unknown', attempt: 1, checks: { ended: false, lastFound: 'not_found' } }

test('an issue that GitHub opens long after the connection broke is never called a failure, and is opened once', async () => {
  let held: { path: string; body: unknown } | undefined
  await using standin = await startGithub({
    token: 't',
    // The fault keeps the request; it arrives when the test says so.
    fault: ({ method, path, body }) => {
      if (method === 'GET' || held) return undefined
      held = { path, body }
      return 'before'
    },
  })
  const repo = addShop(standin)
  const github = { token: 't', baseUrl: standin.api, defaultRepository: 'acme/shop' }
  await using server = await startTestServer({ config: { tools: { github: { github } } } })
  const issues = repo.issues.size
  const unknown = await runAttempt(server, 'github.createIssue', { title: 'Once' })
  expect(unknown).toMatchObject(NOT_FOUND_YET)
  expect(await server.admin.send('POST', `/api/actions/${unknown.id}/retry`)).toMatchObject({ status: 409 })

  const headers = { authorization: 'Bearer t', 'content-type': 'application/json' }
  await fetch(`${standin.api}${held?.path}`, { method: 'POST', headers, body: JSON.stringify(held?.body) })
  expect(await verify(server, unknown.id)).toMatchObject({ state: 'succeeded', result: { title: 'Once' } })
  expect(repo.issues.size).toBe(issues + 1)
})

/** GitHub writes that create something each time, with what they created. */
const MAKING: [tool: string, args: JsonObject, at: RegExp, made: (repo: Repo) => unknown[]][] = [
  [
    'createReview',
    { number: 3, event: 'APPROVE' },
    /\/reviews$/,
    (repo) => repo.issues.get(3)?.pull?.reviews.filter(({ user }) => user !== 'ben') ?? [],
  ],
  ['createRelease', { tag: 'v2.0.0' }, /\/releases$/, ({ releases }) => releases],
]

test.each(MAKING)(
  'what %s makes long after the connection broke is never called a failure, and is made once',
  async (tool, args, at, made) => {
    let held: { path: string; body: unknown } | undefined
    await using standin = await startGithub({
      token: 't',
      fault: ({ method, path, body }) => {
        if (method === 'GET' || held || !at.test(path)) return undefined
        held = { path, body }
        return 'before'
      },
    })
    const repo = addShop(standin)
    const github = { token: 't', baseUrl: standin.api, defaultRepository: 'acme/shop' }
    await using server = await startTestServer({ config: { tools: { github: { github } } } })
    const unknown = await runAttempt(server, `github.${tool}`, args)
    expect(unknown).toMatchObject(NOT_FOUND_YET)
    expect(await server.admin.send('POST', `/api/actions/${unknown.id}/retry`)).toMatchObject({ status: 409 })
    const headers = { authorization: 'Bearer t', 'content-type': 'application/json' }
    await fetch(`${standin.api}${held?.path}`, { method: 'POST', headers, body: JSON.stringify(held?.body) })
    expect(await verify(server, unknown.id)).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(made(repo)).toHaveLength(1)
  },
)

test.each(MAKING)(
  'kill -9 the moment that %s reaches GitHub: the next process finds what was made and makes no second one',
  async (tool, args, at, made) => {
    await using stack = new AsyncDisposableStack()
    const folder = stack.use(temporaryFolder())
    const { environment } = stack.use(await openServerDatabase())
    const reached = Promise.withResolvers<void>()
    let pid: number | undefined
    const standin = stack.use(
      await startGithub({
        token: 't',
        fault: ({ method, path }) => {
          if (method === 'GET' || pid === undefined || !at.test(path)) return undefined
          process.kill(pid, 'SIGKILL')
          pid = undefined
          reached.resolve()
          return 'after'
        },
      }),
    )
    const repo = addShop(standin)
    const configFile = join(folder.path, 'countersign.json')
    const github = { token: 't', baseUrl: standin.api, defaultRepository: 'acme/shop' }
    writeFileSync(configFile, JSON.stringify({ tools: { github: { github } } }))
    const start = () => startChildServer({ configFile, dataDir: join(folder.path, 'data'), environment })
    const first = stack.use(await start())
    pid = first.pid
    const { id, revision, digest } = await first.admin.post('/api/actions', { tool: `github.${tool}`, arguments: args })
    await first.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest }).catch(() => undefined)
    await reached.promise
    await first.kill()
    const second = stack.use(await start())
    expect(await second.admin.get(`/api/actions/${id}?wait=60&until=settled`)).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(made(repo)).toHaveLength(1)
  },
)

test('an issue that Linear makes long after the connection broke is never called a failure, and a retry of it makes no second one', async () => {
  let held: { query: string; variables: object } | undefined
  await using linear = await startLinear({
    schema: exampleSchema,
    apiKey: API_KEY,
    nowMs: NOW_MS,
    mishap: ({ query, variables }) => {
      if (!query.startsWith('mutation') || held) return undefined
      held = { query, variables }
      return 'torn'
    },
  })
  await using server = await startTestServer({ config: { tools: { plan: { linear: { apiKey: API_KEY, baseUrl: linear.url } } } } })
  const unknown = await runAttempt(server, 'plan.createIssue', { team: 'ENG', title: 'Once' })
  expect(unknown).toMatchObject(NOT_FOUND_YET)
  // A person gives up too early and tries again; then the first request arrives. Both carry the same id.
  await server.admin.post(`/api/actions/${unknown.id}/resolve`, { outcome: 'failed', note: 'Not in Linear.', attempt: 1 })
  const headers = { authorization: API_KEY, 'content-type': 'application/json' }
  await fetch(linear.url, { method: 'POST', headers, body: JSON.stringify(held) })
  await server.admin.post(`/api/actions/${unknown.id}/retry`, {})
  await server.settle()
  expect(linear.world.issues.filter(({ title }) => title === 'Once')).toHaveLength(1)
  expect(await server.admin.get(`/api/actions/${unknown.id}`)).toMatchObject({ state: 'succeeded', attempt: 2, result: { title: 'Once' } })
})
