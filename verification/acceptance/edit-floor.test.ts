import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

// Getting around four eyes by an edit: one approver rewrites the action and approves it alone.

const POLICY: NonNullable<ConfigInput['policy']> = {
  rules: [
    {
      name: 'large',
      match: { tool: 'keyed', when: 'args.what.startsWith("large")' },
      verdict: 'ask',
      risk: 'high',
      requires: { quorum: 2, roles: ['finance'], notRequester: true },
    },
    {
      name: 'not yourself',
      match: { tool: 'keyed', when: 'args.what.startsWith("four")' },
      verdict: 'ask',
      requires: { notRequester: true },
    },
    { name: 'small runs', match: { tool: 'keyed', when: 'args.what == "small"' }, verdict: 'allow' },
    { name: 'legal', match: { tool: 'keyed', when: 'args.what == "legal"' }, verdict: 'ask', requires: { roles: ['legal'] } },
  ],
}

interface Desk extends AsyncDisposable {
  server: TestServer
  target: Target
  agent: ApiClient
  person(name: string, ...roles: string[]): Promise<ApiClient>
}

async function openDesk(): Promise<Desk> {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const server = stack.use(await startTestServer({ config: { tools: toolsOf(target), policy: POLICY } }))
  return {
    server,
    target,
    agent: await server.as({ name: 'bot', kind: 'agent', person: null }),
    person: (name, ...roles) => server.as({ name, kind: 'person', roles }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const propose = (who: ApiClient, what: string): Promise<Action> => who.post('/api/actions', { tool: 'keyed', arguments: { what } })
const decide = (who: ApiClient, { id, revision, digest }: Action, more: object = {}) =>
  who.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve', revision, digest, ...more } })

test('with notRequester, who edits an action cannot approve it alone, and somebody else can', async () => {
  await using desk = await openDesk()
  const { server, target } = desk
  const [ana, bo] = [await desk.person('Ana', 'approver'), await desk.person('Bo', 'approver')]
  const asked = await propose(desk.agent, 'four eyes')
  const edited = await decide(ana, asked, { arguments: { what: 'four, of mine' } })
  expect(edited).toMatchObject({
    status: 200,
    body: { state: 'proposed', revision: 2, votes: [], requesters: [{ name: 'bot' }, { name: 'Ana' }] },
  })
  expect(await decide(ana, edited.body)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  // A second editor does not remove the first from the requesters.
  const again = await decide(bo, edited.body, { arguments: { what: 'four, of ours' } })
  expect(again.body).toMatchObject({ state: 'proposed', requesters: [{ name: 'bot' }, { name: 'Ana' }, { name: 'Bo' }] })
  for (const who of [ana, bo]) expect((await decide(who, again.body)).status).toBe(403)
  await server.settle()
  expect(target.writes).toEqual([])

  const cy = await desk.person('Cy', 'approver')
  expect((await decide(cy, again.body)).status).toBe(200)
  await server.settle()
  expect(target.writes).toMatchObject([{ body: { what: 'four, of ours' } }])
  const { items } = await server.admin.get(`/api/audit?action=${asked.id}`)
  const revisions = items.filter(({ kind }: { kind: string }) => kind === 'asked_again')
  expect(revisions.map(({ data }: { data: { requesters: string[] } }) => data.requesters.length).sort()).toEqual([2, 3])
})

test('an edit never lowers what the first version required, nor does reading its values again', async () => {
  await using desk = await openDesk()
  const { server, target } = desk
  const [ana, bo, cy] = [
    await desk.person('Ana', 'approver', 'finance'),
    await desk.person('Bo', 'approver', 'finance'),
    await desk.person('Cy', 'finance'),
  ]
  // Who edits does not count among the two that it needs.
  for (const name of ['Di', 'Ed', 'Flo']) await desk.person(name, 'approver', 'finance')
  const asked = await propose(desk.agent, 'large refund')
  const harmless = await decide(ana, asked, { arguments: { what: 'harmless' } })
  const floor = { quorum: 2, roles: ['finance'], notRequester: true, alsoRoles: [['approver']] }
  const { roles, alsoRoles = [], ...rest } = harmless.body.requires
  expect({ ...rest, named: [roles, ...alsoRoles].sort() }).toMatchObject({
    quorum: floor.quorum,
    notRequester: true,
    named: [['approver'], ['finance']],
  })
  expect(harmless.body).toMatchObject({ state: 'proposed', risk: { level: 'high' }, votes: [] })

  // Policy allows this call by itself; as an edit it keeps the requirements from before.
  const small = await decide(bo, harmless.body, { arguments: { what: 'small' } })
  expect(small.body).toMatchObject({ state: 'proposed', risk: { level: 'high' }, requires: { quorum: 2, notRequester: true } })
  expect((await ana.send('POST', `/api/actions/${asked.id}/preview`, { body: {} })).status).toBe(200)
  const refreshed: Action = await server.admin.get(`/api/actions/${asked.id}`)
  expect(refreshed.requires).toMatchObject({ quorum: 2, notRequester: true })
  for (const who of [ana, bo, cy, server.admin]) await decide(who, refreshed)
  await server.settle()
  expect(target.writes).toEqual([])
  expect((await server.admin.get(`/api/actions/${asked.id}`)).state).toBe('proposed')
})

test('an edit into what others decide about needs somebody with both roles', async () => {
  await using desk = await openDesk()
  const [ana, lee, both] = [
    await desk.person('Ana', 'approver'),
    await desk.person('Lee', 'legal'),
    await desk.person('Kim', 'approver', 'legal'),
  ]
  const asked = await propose(desk.agent, 'plain')
  const edited = await decide(ana, asked, { arguments: { what: 'legal' } })
  expect(edited.body.state).toBe('proposed')
  for (const who of [ana, lee]) expect((await decide(who, edited.body)).status).toBeOneOf([403, 404])
  expect((await decide(both, edited.body)).body.state).toBeOneOf(['approved', 'executing', 'succeeded'])
})

test('an edit that too few people could decide about is refused, and the action is as it was', async () => {
  await using desk = await openDesk()
  const [ana, lee] = [await desk.person('Ana', 'approver'), await desk.person('Lee', 'legal')]
  const asked = await propose(desk.agent, 'plain')
  const refused = await decide(ana, asked, { arguments: { what: 'legal' } })
  expect(refused).toMatchObject({
    status: 403,
    body: {
      code: 'forbidden',
      detail: expect.stringContaining('the role approver, and also legal, and nobody known here can give one'),
    },
  })
  // One of two is too few as well.
  await desk.person('Kim', 'approver', 'finance')
  expect(await decide(ana, asked, { arguments: { what: 'large refund' } })).toMatchObject({ status: 403 })
  expect(await desk.server.admin.get(`/api/actions/${asked.id}`)).toEqual(asked)
  for (const who of [lee, ana]) await decide(who, asked, { verdict: 'decline' })
  expect((await desk.server.admin.get(`/api/actions/${asked.id}`)).state).toBe('declined')
})
