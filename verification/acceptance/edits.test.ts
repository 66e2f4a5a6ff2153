import type { Action } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { ADMIN_NAME } from '../testing/bootstrap-key.ts'
import { fold } from '../testing/fold.ts'
import { type Orders, orderTools, startOrders } from '../testing/orders.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const POLICY: NonNullable<ConfigInput['policy']> = {
  default: 'ask',
  rules: [
    { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
    { name: 'nobody cancels', match: { tool: 'set', when: 'args.status == "cancelled"' }, verdict: 'deny' },
    {
      ...{ name: 'two to ship', match: { tool: 'set', when: 'args.status == "shipped"' } },
      ...{ verdict: 'ask', requires: { quorum: 2 }, expires: 'PT1H' },
    },
    { name: 'finance for others', match: { tool: 'set', when: 'args.id != "o1"' }, verdict: 'ask', requires: { roles: ['finance'] } },
    { name: 'back to pending', match: { tool: 'set', when: 'args.status == "pending"' }, verdict: 'allow' },
  ],
}

interface Desk extends AsyncDisposable {
  server: TestServer
  orders: Orders
  propose(status?: string): Promise<Action>
  edit(action: Action, args: object, more?: object): ReturnType<ApiClient['send']>
  now(action: Action): Promise<Action>
}

async function openDesk(): Promise<Desk> {
  const stack = new AsyncDisposableStack()
  const orders = stack.use(await startOrders())
  const server = stack.use(await startTestServer({ config: { tools: orderTools(orders), policy: POLICY } }))
  const { admin } = server
  return {
    server,
    orders,
    propose: (status = 'paid') => admin.post('/api/actions', { tool: 'set', arguments: { id: 'o1', status } }),
    edit: ({ id, revision, digest }, args, more = {}) =>
      admin.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve', revision, digest, arguments: args, ...more } }),
    async now({ id }) {
      await server.settle()
      return admin.get(`/api/actions/${id}`)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

test('approved with edits: what runs is what the person wrote, under its own revision and digest, and both are in the record', async () => {
  await using desk = await openDesk()
  using inbox = await desk.server.admin.stream('/api/events')
  const asked = await desk.propose('pending')
  expect(asked.state, 'policy lets this one run').not.toBe('proposed')
  const shown = await desk.propose('paid')
  const edit = await desk.edit(shown, { id: 'o1', status: 'pending' }, { reason: 'not yet' })
  expect(edit).toMatchObject({
    status: 200,
    body: { state: 'approved', revision: 2, arguments: { id: 'o1', status: 'pending' }, description: 'Set o1 to pending' },
  })
  const done = await desk.now(shown)
  expect(done).toMatchObject({
    state: 'succeeded',
    revised: { why: 'edit', by: { kind: 'person' } },
    preview: [{ field: 'status', oldValue: 'pending', newValue: 'pending' }],
    votes: [{ verdict: 'approve', reason: 'not yet' }],
    // An edit to a call that policy would allow is still decided under the original rule.
    policy: { verdict: 'ask', rule: 'default' },
  })
  expect(done.digest).not.toBe(shown.digest)
  await inbox.next('action_update', ({ proposalId, state }) => proposalId === done.id && state === 'succeeded')
  expect(fold(inbox.seen).actions.get(done.id), 'who only reads the stream knows all of it').toEqual(done)
  expect(desk.orders.done.at(-1)).toMatchObject({ to: 'pending' })
  const { items } = await desk.server.admin.get(`/api/actions/${shown.id}/revisions`)
  expect(items).toMatchObject([
    {
      revision: 1,
      arguments: { id: 'o1', status: 'paid' },
      digest: shown.digest,
      votes: [],
      ended: { why: 'edit', by: { kind: 'person' } },
    },
  ])
  const repeated = await desk.edit(shown, { id: 'o1', status: 'pending' })
  expect(repeated, 'the same edit again is answered with what became of it').toMatchObject({ status: 200, body: { state: 'succeeded' } })
  expect(desk.orders.done.filter(({ to }) => to === 'pending')).toHaveLength(2)
})

test('an edit that does not fit the tool, or that policy denies, changes nothing', async () => {
  await using desk = await openDesk()
  const shown = await desk.propose()
  for (const [args, path] of [
    [{ id: 'o1', status: 'lost' }, '/status'],
    [{ id: 'o1' }, ''],
    [{ id: 'o1', status: 'paid', tool: 'other' }, ''],
    [{ id: '../../admin', status: 'paid' }, '/id'],
  ] as const) {
    const answer = await desk.edit(shown, args)
    expect(answer, JSON.stringify(args)).toMatchObject({ status: 422, body: { code: 'invalid_arguments' } })
    expect(answer.body.issues[0].path).toContain(path)
  }
  const denied = await desk.edit(shown, { id: 'o1', status: 'cancelled' })
  expect(denied).toMatchObject({ status: 403, body: { code: 'forbidden', action: { state: 'proposed', revision: 1 } } })
  expect(denied.body.detail).toContain('nobody cancels')
  expect(await desk.edit(shown, { id: 'o1', status: 'pending' }, { verdict: 'decline' })).toMatchObject({ status: 400 })
  expect(await desk.edit(shown, { id: 'o1', status: 'pending' }, { digest: 'sha256:other' })).toMatchObject({ status: 409 })
  expect(await desk.now(shown)).toEqual(shown)
  expect(await desk.server.admin.get(`/api/actions/${shown.id}/revisions`)).toEqual({ items: [] })
  expect(desk.orders.writes).toEqual([])
})

test('an edit into what asks for more waits for more: with the vote of its editor where they may decide, without it where not', async () => {
  await using desk = await openDesk()
  const ben = await desk.server.as({ name: 'Ben', kind: 'person', roles: ['approver'] })
  const two = await desk.propose()
  const edited: Action = (await desk.edit(two, { id: 'o1', status: 'shipped' })).body
  expect(edited).toMatchObject({ state: 'proposed', revision: 2, requires: { quorum: 2 }, policy: { rule: 'two to ship' } })
  expect(edited.votes).toMatchObject([{ verdict: 'approve' }])
  // A repeat of one's own edit is no other decision; somebody else's is.
  expect(await desk.edit(two, { status: 'shipped', id: 'o1' })).toMatchObject({ status: 200, body: edited })
  expect(await desk.edit(two, { id: 'o1', status: 'shipped' }, { digest: edited.digest })).toMatchObject({ status: 409 })
  const same = { verdict: 'approve', revision: 1, digest: two.digest, arguments: { id: 'o1', status: 'shipped' } }
  expect(await ben.send('POST', `/api/actions/${two.id}/decision`, { body: same })).toMatchObject({ status: 409 })
  await ben.post(`/api/actions/${two.id}/decision`, { verdict: 'approve', revision: 2, digest: edited.digest })
  expect((await desk.now(two)).state).toBe('succeeded')

  await desk.server.as({ name: 'Fay', kind: 'person', roles: ['approver', 'finance'] })
  const other = await desk.propose()
  const answer: Action = (await desk.edit(other, { id: 'o2', status: 'paid' })).body
  expect(answer, 'an admin is no finance').toMatchObject({
    state: 'proposed',
    revision: 2,
    votes: [],
    requires: { roles: ['approver'], alsoRoles: [['finance']] },
  })
  expect(desk.orders.done).toHaveLength(1)
})

test('an edit into what a rule gives a time expires by then, and one within its time no later than before', async () => {
  await using desk = await openDesk()
  const asked = await desk.propose()
  expect(asked.expiresAt).toBeNull()
  const edited: Action = (await desk.edit(asked, { id: 'o1', status: 'shipped' })).body
  const leftMs = Date.parse(edited.expiresAt ?? '') - Date.parse(edited.updatedAt)
  expect(leftMs).toBe(3_600_000)
  const other: Action = (await desk.edit(edited, { id: 'o1', status: 'paid' })).body
  expect(other).toMatchObject({ revision: 3, expiresAt: edited.expiresAt })
})

test('an edit voids the votes before it, and a decision about the version before it is refused', async () => {
  await using desk = await openDesk()
  const ben = await desk.server.as({ name: 'Ben', kind: 'person', roles: ['approver'] })
  const asked = await desk.propose('shipped')
  await ben.post(`/api/actions/${asked.id}/decision`, { verdict: 'approve', revision: 1, digest: asked.digest })
  const edited: Action = (await desk.edit(asked, { id: 'o1', status: 'paid' })).body
  // The edit still needs two votes, as before.
  expect(edited).toMatchObject({ state: 'proposed', revision: 2, requires: { quorum: 2 }, votes: [{ by: { name: ADMIN_NAME } }] })
  const late = await ben.send('POST', `/api/actions/${asked.id}/decision`, {
    body: { verdict: 'decline', revision: 1, digest: asked.digest },
  })
  expect(late.status).toBe(409)
  await ben.post(`/api/actions/${asked.id}/decision`, { verdict: 'approve', revision: 2, digest: edited.digest })
  expect(await desk.now(asked)).toMatchObject({ state: 'succeeded', arguments: { id: 'o1', status: 'paid' } })
  const { items } = await desk.server.admin.get(`/api/actions/${asked.id}/revisions`)
  expect(items).toMatchObject([{ revision: 1, votes: [{ by: { name: 'Ben' }, verdict: 'approve' }] }])
})

test('an editor who was shown other values than there are now is asked once more', async () => {
  await using desk = await openDesk()
  const shown = await desk.propose()
  desk.orders.order('o1', { status: 'shipped' })
  const edited: Action = (await desk.edit(shown, { id: 'o1', status: 'pending' })).body
  expect(edited).toMatchObject({ state: 'proposed', revision: 2, votes: [], preview: [{ oldValue: 'shipped', newValue: 'pending' }] })
  await desk.server.admin.post(`/api/actions/${shown.id}/decision`, { verdict: 'approve', revision: 2, digest: edited.digest })
  expect((await desk.now(shown)).state).toBe('succeeded')
})

test('agents and services edit nothing, whatever they send', async () => {
  await using desk = await openDesk()
  const agent = await desk.server.as({ name: 'Bot', kind: 'agent', roles: ['agent'] })
  const own: Action = await agent.post('/api/actions', { tool: 'set', arguments: { id: 'o1', status: 'paid' } })
  const body = { verdict: 'approve', revision: 1, digest: own.digest, arguments: { id: 'o1', status: 'pending' } }
  expect(await agent.send('POST', `/api/actions/${own.id}/decision`, { body })).toMatchObject({ status: 403 })
  expect(await agent.send('POST', `/api/actions/${own.id}/preview`)).toMatchObject({ status: 403 })
  expect(await desk.now(own)).toMatchObject({ state: 'proposed', revision: 1 })
})

test('the arguments that were shown, sent back as an edit, are an approval of the revision that was shown', async () => {
  await using desk = await openDesk()
  const shown = await desk.propose('paid')
  const approved = await desk.edit(shown, { status: 'paid', id: 'o1' })
  expect(approved).toMatchObject({ status: 200, body: { state: 'approved', revision: 1, digest: shown.digest, revised: null } })
  expect(await desk.now(shown)).toMatchObject({ state: 'succeeded', revision: 1 })
})

test('an edit that the tool completes or writes in another way waits for a look at what it became', async () => {
  const ran: unknown[] = []
  const send = defineTool({
    name: 'export',
    description: 'Export rows',
    effect: 'write',
    input: z.object({ id: z.string().trim(), limit: z.number().default(100) }),
    execute: (args) => void ran.push(args),
  })
  await using server = await startTestServer({ config: { tools: { rows: { tools: [send] } }, policy: { default: 'ask' } } })
  const { admin } = server
  const propose = (args: object): Promise<Action> => admin.post('/api/actions', { tool: 'rows.export', arguments: args })
  const edit = ({ id, revision, digest }: Action, args: object) =>
    admin.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve', revision, digest, arguments: args } })

  const few = await propose({ id: 'A', limit: 5 })
  const all: Action = (await edit(few, { id: 'A' })).body
  expect(all, 'the editor took a limit away and never saw this one').toMatchObject({
    state: 'proposed',
    revision: 2,
    arguments: { id: 'A', limit: 100 },
    votes: [],
  })
  expect(all.revised?.reason).toContain('filled in a default or wrote a value in another way')
  await admin.post(`/api/actions/${all.id}/decision`, { verdict: 'approve', revision: 2, digest: all.digest })
  await server.settle()
  expect(ran).toEqual([{ id: 'A', limit: 100 }])

  const usual = await propose({ id: 'B', limit: 100 })
  for (const without of [{ id: 'B' }, { id: ' B ', limit: 100 }]) {
    const answer = await edit(usual, without)
    expect(answer, 'no edit at all is no approval').toMatchObject({ status: 422, body: { code: 'invalid_arguments' } })
    expect(answer.body.detail).toContain('was not changed')
  }
  await server.settle()
  expect(await admin.get(`/api/actions/${usual.id}`)).toEqual(usual)
  expect(ran).toHaveLength(1)
})
