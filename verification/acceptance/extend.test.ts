import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

async function startDesk(times: object) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 4 } })))
  const policy: NonNullable<ConfigInput['policy']> = {
    rules: [{ name: 'in time', match: { effect: 'write' }, verdict: 'ask', requires: { quorum: 2 }, ...times }],
  }
  const server = stack.use(await startTestServer({ config: { tools: toolsOf(target), policy } }))
  const agent = await server.as({ name: 'billing bot', kind: 'agent', agent: 'billing', roles: ['agent'] })
  const person = (name: string, roles = ['approver']) => server.as({ name, kind: 'person', roles })
  const propose = (more: object = {}): Promise<Action> => agent.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' }, ...more })
  return { server, agent, person, propose, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const later = (iso: string | null, ms: number) => new Date(Date.parse(iso ?? '') + ms).toISOString()
const HOUR_MS = 3_600_000

test('a person who may decide extends a deadline once, also across revisions; everybody hears it and the record says who', async () => {
  await using desk = await startDesk({ expires: 'P1D', extend: 'PT1H' })
  const { server, agent } = desk
  using inbox = await server.admin.stream('/api/events')
  const proposed = await desk.propose()
  const { id } = proposed
  const until = later(proposed.expiresAt, HOUR_MS)
  expect(proposed).toMatchObject({ extendableUntil: until })

  // Neither the agent that waits for it nor who may not decide.
  const vera = await desk.person('Vera', ['viewer'])
  for (const other of [agent, vera]) expect((await other.send('POST', `/api/actions/${id}/extend`)).status).toBe(403)

  const ana = await desk.person('Ana')
  const extended: Action = await ana.post(`/api/actions/${id}/extend`)
  const extension = { by: { name: 'Ana' }, from: proposed.expiresAt }
  expect(extended).toMatchObject({ state: 'proposed', revision: 1, digest: proposed.digest, expiresAt: until, extension })
  expect(extended).not.toHaveProperty('extendableUntil')
  expect(await inbox.next('action_update', ({ proposalId }) => proposalId === id)).toMatchObject({ expiresAt: until, extension })

  // A repeat by the same person changes nothing, another person is refused.
  expect(await ana.post(`/api/actions/${id}/extend`)).toMatchObject({ expiresAt: until })
  const ben = await desk.person('Ben')
  const again = await ben.send('POST', `/api/actions/${id}/extend`)
  expect(again).toMatchObject({ status: 409, body: { code: 'illegal_transition', action: { expiresAt: until } } })

  // An edit makes a new revision under the same deadline, which cannot be extended either.
  const edit = { verdict: 'approve', revision: 1, digest: proposed.digest, arguments: { what: 'y' } }
  expect(await ben.post(`/api/actions/${id}/decision`, edit)).toMatchObject({ revision: 2, state: 'proposed', expiresAt: until, extension })
  expect((await ben.send('POST', `/api/actions/${id}/extend`)).status).toBe(409)

  const { items } = await server.admin.get(`/api/audit?action=${id}&kind=extended`)
  expect(items).toMatchObject([{ actor: { name: 'Ana' }, data: { from: proposed.expiresAt, until } }])
  await server.restart()
  expect(await server.admin.get(`/api/actions/${id}`)).toMatchObject({ expiresAt: until, extension })
})

test('nothing is extended where policy does not say so, without a deadline, or after the decision', async () => {
  await using strict = await startDesk({ expires: 'P1D' })
  const fixed = await strict.propose()
  expect(fixed).not.toHaveProperty('extendableUntil')
  expect(await (await strict.person('Ana')).send('POST', `/api/actions/${fixed.id}/extend`)).toMatchObject({ status: 409 })

  await using desk = await startDesk({ extend: 'PT1H', requires: { quorum: 1 } })
  const ana = await desk.person('Ana')
  const endless = await desk.propose()
  expect(endless).toMatchObject({ expiresAt: null })
  expect(endless).not.toHaveProperty('extendableUntil')
  expect(await ana.send('POST', `/api/actions/${endless.id}/extend`)).toMatchObject({ status: 409 })

  const declined = await desk.propose({ expiresIn: 'PT1H' })
  await ana.post(`/api/actions/${declined.id}/decision`, { verdict: 'decline' })
  expect(await ana.send('POST', `/api/actions/${declined.id}/extend`)).toMatchObject({ status: 409 })
})
