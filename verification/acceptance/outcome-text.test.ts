import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const body = (tool: string) => ({ tool, arguments: { what: 'x' } })

const WHAT = { type: 'object', required: ['what'], properties: { what: { type: 'string' } } }

interface Ends {
  tool: string
  /** What happens to the proposed action. */
  decide?: (server: TestServer, action: Action) => Promise<unknown>
  says: { status: string; text: RegExp }
}

const decide = (server: TestServer, { id, revision, digest }: Action, more: object) =>
  server.admin.post(`/api/actions/${id}/decision`, { revision, digest, ...more })

const ENDS: Record<string, Ends> = {
  'a read that policy allows': { tool: 'look', says: { status: 'succeeded', text: /^\{"id":4\}$/ } },
  'what policy denies': { tool: 'denied', says: { status: 'denied', text: /^Policy does not allow this.*not this one/ } },
  'an approval': {
    tool: 'keyed',
    decide: (server, action) => decide(server, action, { verdict: 'approve' }),
    says: { status: 'succeeded', text: /^\{"id":4\}$/ },
  },
  'an approval with edits': {
    tool: 'keyed',
    decide: (server, action) => decide(server, action, { verdict: 'approve', arguments: { what: 'y' } }),
    says: { status: 'succeeded', text: /changed the arguments before approving.*\{"what":"y"\}/ },
  },
  'a decline with a reason': {
    tool: 'keyed',
    decide: (server, action) => decide(server, action, { verdict: 'decline', reason: 'Wrong order.' }),
    says: { status: 'declined', text: /Nothing was carried out.*They said: Wrong order\.$/ },
  },
  'a target that refuses': {
    tool: 'refused',
    decide: (server, action) => decide(server, action, { verdict: 'approve' }),
    says: { status: 'failed', text: /^This failed/ },
  },
  'a target that does not answer': {
    tool: 'lost',
    decide: (server, action) => decide(server, action, { verdict: 'approve' }),
    says: { status: 'outcome_unknown', text: /not known whether this was carried out/ },
  },
}

async function start() {
  const stack = new AsyncDisposableStack()
  const target = stack.use(
    await startTarget(({ path }) => {
      if (path === '/lost') return 'reset'
      return path === '/refused' ? { status: 422, body: { error: 'no such thing' } } : { status: 200, body: { id: 4 } }
    }),
  )
  const route = (name: string) => [name, { method: 'POST', path: `/${name}`, input: WHAT } as const] as const
  const more = { baseUrl: target.url, tools: Object.fromEntries(['denied', 'refused', 'lost'].map(route)) }
  const server = stack.use(
    await startTestServer({
      config: {
        tools: { ...toolsOf(target), more: { prefix: false, routes: more } },
        policy: {
          rules: [
            { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
            { name: 'not this one', match: { tool: 'denied' }, verdict: 'deny' },
          ],
        },
      },
    }),
  )
  const agent = await server.as({ name: 'billing bot', kind: 'agent', agent: 'billing', roles: ['agent'] })
  return { server, agent, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test.each(Object.entries(ENDS))(
  '%s has one text for the model, the same in every answer and in the stream',
  async (_, { tool, decide: decideIt, says }) => {
    await using desk = await start()
    const { server, agent } = desk
    using inbox = await server.admin.stream('/api/events')
    const action: Action = await agent.post('/api/actions', body(tool))
    const path = `/api/actions/${action.id}`
    if (action.state === 'proposed') expect(action.outcome).toBe(null)
    await decideIt?.(server, action)
    const settled: Action = await agent.get(`${path}?wait=60&until=settled`)
    expect(settled.outcome).toEqual({ status: says.status, text: expect.stringMatching(says.text) })
    expect((await agent.get('/api/actions')).items[0].outcome).toEqual(settled.outcome)
    if (action.state === 'declined') return expect(action.outcome).toEqual(settled.outcome)
    const update = await inbox.next('action_update', ({ proposalId, state }) => proposalId === action.id && state === settled.state)
    expect(update.outcome).toEqual(settled.outcome)
  },
)

test('a withdrawn action and one that nobody decided about in time say so', async () => {
  await using desk = await start()
  const { agent } = desk
  const action = await agent.post('/api/actions', body('keyed'))
  const withdrawn = await agent.post(`/api/actions/${action.id}/withdraw`, { reason: 'A mistake.' })
  expect(withdrawn.outcome).toEqual({ status: 'withdrawn', text: expect.stringContaining('billing bot: A mistake.') })
  const late = await agent.post('/api/actions', { ...body('keyed'), expiresIn: 'PT1S' })
  const expired: Action = await agent.get(`/api/actions/${late.id}?wait=60`)
  expect(expired.outcome).toEqual({ status: 'expired', text: expect.stringContaining('in time') })
})

test('what failed and is started again has no outcome until it is settled once more', async () => {
  await using desk = await start()
  const { server, agent } = desk
  const action = await agent.post('/api/actions', body('refused'))
  await decide(server, action, { verdict: 'approve' })
  const path = `/api/actions/${action.id}`
  await agent.get(`${path}?wait=60&until=settled`)
  using inbox = await server.admin.stream('/api/events')
  await server.admin.post(`${path}/retry`)
  const update = await inbox.next('action_update', ({ state }) => state === 'executing')
  expect(update.outcome).toBe(null)
})
