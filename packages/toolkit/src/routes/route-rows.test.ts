import { afterAll, expect, test } from 'vitest'
import { context, preview, startShop } from '../testing/shop.ts'
import type { RouteTableInput } from './route-schema.ts'

const shop = await startShop()
afterAll(() => shop[Symbol.asyncDispose]())
const { lastSeen, open } = shop

const TEXT = { type: 'string' }
const INVITE: RouteTableInput['tools'][string] = {
  method: 'POST',
  path: '/teams/{team}/invites',
  query: { role: '{role}', notify: '{notify}', source: 'agent' },
  input: {
    type: 'object',
    required: ['team', 'email'],
    properties: { team: TEXT, email: TEXT, role: TEXT, notify: { type: 'boolean' } },
  },
  describe: 'Invite {email}',
}
const ARGS = { team: 't1', email: 'a@b.c', role: 'owner', notify: false }

test('what an agent puts into the query and the path of a POST is on its card, beside the body', async () => {
  const tool = open({ invite: INVITE })('invite')
  expect(await preview(tool, ARGS)).toEqual([
    { field: 'team, path', newValue: 't1' },
    { field: 'role, query', newValue: 'owner' },
    { field: 'notify, query', newValue: false },
    { field: 'email', newValue: 'a@b.c' },
  ])
  expect(await preview(tool, { team: 't1', email: 'a@b.c' })).toEqual([
    { field: 'team, path', newValue: 't1' },
    { field: 'email', newValue: 'a@b.c' },
  ])
  await tool.execute(ARGS, context())
  expect(lastSeen()).toMatchObject({ url: '/teams/t1/invites?role=owner&notify=false&source=agent', body: '{"email":"a@b.c"}' })
})

test('a value in the path that the headline of the card shows has no row of its own', async () => {
  const { describe: _, ...plain } = INVITE
  const tool = open({ named: { ...INVITE, describe: 'Invite {email} to {team}' }, plain })
  expect(tool('plain').describe(ARGS)).toBe('POST /teams/t1/invites')
  for (const name of ['named', 'plain'])
    expect((await preview(tool(name), ARGS))?.map(({ field }) => field)).toEqual(['role, query', 'notify, query', 'email'])
})

test('a POST without a body shows its query and its path, and one without arguments no row', async () => {
  const input = { type: 'object', required: ['id'], properties: { id: TEXT, force: { type: 'boolean' } } }
  const bare = { method: 'POST', path: '/orders/{id}/cancel', query: { force: '{force}' }, input, describe: 'Cancel an order' } as const
  const tool = open({ cancel: { ...bare, body: {} }, sync: { method: 'POST', path: '/sync', query: { all: true }, body: {} } })
  expect(await preview(tool('cancel'), { id: '7', force: true })).toEqual([
    { field: 'id, path', newValue: '7' },
    { field: 'force, query', newValue: true },
  ])
  expect(await preview(tool('sync'), {})).toEqual([])
})

test('a body with a name like the row of another place does not look the same', async () => {
  const input = { ...INVITE.input, additionalProperties: true }
  expect(await preview(open({ invite: { ...INVITE, input } })('invite'), { ...ARGS, 'role, query': 'none' })).toEqual(
    expect.arrayContaining([
      { field: 'role, query', newValue: 'owner' },
      { field: '"role, query"', newValue: 'none' },
    ]),
  )
})

test('no argument makes a POST another method, except where the route names it', () => {
  const open_ = { type: 'object', required: ['team'], properties: { team: TEXT }, additionalProperties: true }
  const named = { ...open_, properties: { team: TEXT, _method: { ...TEXT, enum: ['PUT'] } } }
  const route = { method: 'POST', path: '/teams/{team}' } as const
  const whole = { type: 'object', required: ['team', 'data'], properties: { team: TEXT, data: { type: 'object' } } }
  const tool = open({
    send: { ...route, input: open_ },
    named: { ...route, input: named },
    whole: { ...route, input: whole, body: '{data}' },
    fixed: { ...route, body: { _method: 'PUT' } },
    put: { ...route, method: 'PUT', input: open_ },
  })
  const message = expect.stringContaining('_method could make it another request')
  expect(tool('send').check({ team: 'a', _method: 'DELETE' })).toEqual({ ok: false, issues: [{ path: '/_method', message }] })
  expect(tool('whole').check({ team: 'a', data: { _method: 'DELETE' } })).toMatchObject({ ok: false })
  for (const [name, args] of [
    ['send', { team: 'a', note_method: 'x', data: { _method: 'x' } }],
    ['named', { team: 'a', _method: 'PUT' }],
    ['whole', { team: 'a', data: { note: { _method: 'x' } } }],
    ['fixed', { team: 'a' }],
    ['put', { team: 'a', _method: 'DELETE' }],
  ] as const)
    expect(tool(name).check(args), name).toMatchObject({ ok: true })
})
