import { fileURLToPath } from 'node:url'
import type { Action } from '@countersign/core'
import { expect, test, vi } from 'vitest'
import { type Mishap, startStandIn } from '../../examples/linear/stand-in/server.ts'
import { loadConfig } from '../../packages/server/src/config/index.ts'
import { linearStarter } from '../../packages/tools-linear/src/starter.ts'
import { API_KEY, exampleSchema, NOW_MS } from '../../packages/tools-linear/src/testing/open-workspace.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/linear/countersign.config.ts', import.meta.url))

test('the example: the workload is read at once, the fullest member gives an issue away when a person says so, once', async () => {
  vi.stubEnv('LINEAR_PORT', '0')
  await using server = await startTestServer({ config: await loadConfig(EXAMPLE, {}) })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'Who is overloaded?' } })
  const { proposal: card } = await stream.next('action_proposed', ({ proposal }) => proposal.effect === 'write')
  expect(card).toMatchObject({
    tool: 'plan.assignIssue',
    state: 'proposed',
    description: 'Assign ENG-3 to Cleo Marsh',
    preview: [
      { field: 'issue', oldValue: 'ENG-3 Export takes minutes' },
      { field: 'assignee', oldValue: 'Bo Chen <bo@example.com>', newValue: 'Cleo Marsh <cleo@example.com>' },
    ],
  })
  const { items } = await server.admin.get('/api/actions')
  const read = items.filter((action: Action) => action.effect === 'read').toReversed()
  expect(read.map(({ tool, policy }: Action) => [tool, policy.verdict])).toEqual([
    ['plan.workload', 'allow'],
    ['plan.searchIssues', 'allow'],
  ])
  const { id, revision, digest } = card
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  const { message } = await stream.next('message', (data) => data.message.content.startsWith('Done'))
  expect(message.content).toBe('Done: Cleo Marsh has ENG-3 "Export takes minutes" now.')
  await stream.next('done')
  expect(await server.admin.get(`/api/actions/${id}`)).toMatchObject({
    state: 'succeeded',
    attempt: 1,
    result: { identifier: 'ENG-3', assignee: 'Cleo Marsh <cleo@example.com>' },
    resultUrl: expect.stringMatching(/\/acme\/issue\/ENG-3$/),
  })
})

test('a change of an issue through the gate: asked again when it changed, found when its answer was lost, told when Linear refuses', async () => {
  let fate: Mishap | undefined
  await using linear = await startStandIn({
    schema: exampleSchema,
    apiKey: API_KEY,
    nowMs: NOW_MS,
    mishap: ({ query }) => (query.startsWith('mutation') ? fate : undefined),
  })
  await using server = await startTestServer({
    environment: { LINEAR_KEY: API_KEY },
    config: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
      tools: { plan: { linear: { apiKey: '${LINEAR_KEY}', baseUrl: linear.url } } },
      policy: { rules: linearStarter('plan') },
    },
  })
  const sent = () => linear.sent.filter(({ query }) => query.startsWith('mutation')).length
  const issue = (identifier: string) => linear.world.issues.find((one) => one.identifier === identifier)

  const asked = await propose(server, 'changeStatus', { issue: 'ENG-1', status: 'In Progress' })
  Object.assign(issue('ENG-1') ?? {}, { state: linear.world.states.find(({ name }) => name === 'Backlog') })
  expect(await approve(server, asked)).toMatchObject({
    state: 'proposed',
    revision: 2,
    revised: { reason: 'The values changed since this was shown: status was "Todo" and is "Backlog" now.' },
    preview: [{}, { field: 'status', oldValue: 'Backlog', newValue: 'In Progress' }],
  })
  expect(sent()).toBe(0)
  expect(await approve(server, await server.admin.get(`/api/actions/${asked.id}`))).toMatchObject({ state: 'succeeded' })
  expect(issue('ENG-1')?.state.name).toBe('In Progress')

  const { id: declinedId } = await propose(server, 'comment', { issue: 'ENG-1', body: 'Hello' })
  await server.admin.post(`/api/actions/${declinedId}/decision`, { verdict: 'decline' })
  expect(linear.world.comments).toEqual([])

  fate = 'lost'
  const lost = await approve(server, await propose(server, 'createIssue', { team: 'ENG', title: 'Once' }))
  expect(lost).toMatchObject({ state: 'succeeded', attempt: 1, result: { title: 'Once', team: 'ENG' } })
  expect(lost.resultUrl).toBe(issue(String((lost.result as { identifier: string }).identifier))?.url)
  expect(linear.world.issues.filter(({ title }) => title === 'Once')).toHaveLength(1)

  fate = { status: 400, headers: { 'retry-after': '7' }, body: { errors: [{ message: 'slow down', extensions: { code: 'RATELIMITED' } }] } }
  const limited = await approve(server, await propose(server, 'deleteIssue', { issue: 'ENG-2' }))
  expect(limited).toMatchObject({
    risk: { level: 'high' },
    state: 'failed',
    error: { kind: 'refused', retryable: true, message: 'Linear takes no more requests for now. Try again in 7 s.' },
  })
  fate = undefined
  await server.admin.post(`/api/actions/${limited.id}/retry`, {})
  await server.settle()
  expect(await server.admin.get(`/api/actions/${limited.id}`)).toMatchObject({ state: 'succeeded' })
  expect(issue('ENG-2')?.trashed).toBe(true)

  await expect(propose(server, 'assignIssue', { issue: 'ENG-4', assignee: 'nobody' })).rejects.toThrow(/There is no active member .*nobody/)
  expect(JSON.stringify(await server.dump())).not.toContain(API_KEY)
})

const propose = (server: TestServer, tool: string, args: Record<string, string>): Promise<Action> =>
  server.admin.post('/api/actions', { tool: `plan.${tool}`, arguments: args })

async function approve(server: TestServer, { id, revision, digest }: Action): Promise<Action> {
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  await server.settle()
  return server.admin.get(`/api/actions/${id}`)
}
