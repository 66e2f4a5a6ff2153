import type { Action } from '@countersign/core'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { disablePerson } from '../../packages/server/src/identity/people.ts'
import { openBeside } from '../../packages/server/src/store/index.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { raw } from '../testing/temp-store.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'
import { startTwoServers } from '../testing/two-servers.ts'

// A person has left: they no longer decide, allow, read or wait for anything.

const withKey = (server: TestServer, key: string) => server.with({ authorization: `Bearer ${key}` })

async function consoleOf(server: TestServer, key: string): Promise<ApiClient> {
  return server.with({ ...(await signInWithKey(server.url, key)), origin: server.url })
}

async function startDesk() {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const own = {
    prefix: false,
    routes: { baseUrl: target.url, tools: { mine: { method: 'POST', path: '/mine', executor: 'client' } } },
  } as const
  const server = stack.use(
    await startTestServer({
      config: {
        agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
        tools: { ...toolsOf(target), own },
        policy: {
          rules: [
            { name: 'two people', match: { tool: 'keyed' }, verdict: 'ask', requires: { quorum: 2, declineQuorum: 2 } },
            { name: 'one', match: { tool: '*' }, verdict: 'ask' },
          ],
        },
      },
      scripts: { desk: [{ calls: [{ tool: 'keyed', arguments: { what: 'money' } }] }, { text: 'Done.' }] },
    }),
  )
  const admin = await server.as({ name: 'Ada', kind: 'person', roles: ['admin', 'approver'] })
  const key = await server.makeKey({ name: 'Lea', kind: 'person', roles: ['admin', 'approver'] })
  const lea = { ...withKey(server, key.key), principal: key.principal }
  const bob = await server.as({ name: 'Bob', kind: 'person', roles: ['approver'] })
  const vic = await server.as({ name: 'Vic', kind: 'person', roles: [] })
  const bot = await server.as({ name: 'bot', kind: 'agent', person: null })
  const disable = (client: ApiClient, id: string) => client.post(`/api/people/${id}/disable`)
  return { server, target, admin, lea, leaKey: key, bob, vic, bot, disable, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('a disabled person is out at once: keys, agents, consoles and open streams of theirs end', async () => {
  await using desk = await startDesk()
  const { server, admin, lea, leaKey, disable } = desk
  const agent = await server.as({ name: 'Lea’s agent', kind: 'agent', person: lea.principal.id })
  const console = await consoleOf(server, leaKey.key)
  expect((await console.get('/api/me')).principal.name).toBe('Lea')
  using stream = await lea.stream('/api/events')
  using atConsole = await console.stream('/api/events')
  // Another one ended by itself two days ago, and its row is still there.
  await consoleOf(server, leaKey.key)
  const [last] = (await lea.get('/api/console-sessions')).items
  const beside = await openBeside(server.database)
  const longAgo = Date.now() - 2 * 86_400_000
  await beside.transact(() => raw(sql`update console_session set seen_at = ${longAgo}, created_at = ${longAgo} where id = ${last.id}`))
  await beside.close()

  const shown = await disable(admin, lea.principal.id)
  expect(shown).toMatchObject({ name: 'Lea', disabledAt: expect.any(String), disabledBy: { name: 'Ada' }, keys: [], consoleSessions: [] })
  await stream.ended()
  await atConsole.ended()
  for (const client of [lea, agent]) expect((await client.send('GET', '/api/sessions')).status).toBe(401)
  expect((await console.get('/api/me')).principal).toBeNull()
  const signIn = await server.with({ origin: server.url }).send('POST', '/api/sign-in', { body: { key: leaKey.key } })
  expect(signIn.status).toBe(401)

  // Every route refuses to create a key or a delegation for them.
  for (const [path, body] of [
    ['/api/keys', { name: 'x', kind: 'person', principal: lea.principal.id }],
    ['/api/keys', { name: 'x', kind: 'agent', person: lea.principal.id }],
    ['/api/delegations', { to: lea.principal.id, expiresIn: 'P1D' }],
    ['/api/delegations', { from: lea.principal.id, to: desk.vic.principal.id, expiresIn: 'P1D' }],
  ] as const) {
    expect((await admin.send('POST', path, { body })).status, `${path} ${JSON.stringify(body)}`).toBeGreaterThanOrEqual(400)
  }
  const names = async (client: ApiClient) => (await client.get('/api/people')).items.map(({ name }: { name: string }) => name)
  expect(await names(desk.bob)).not.toContain('Lea')
  expect(await names(admin)).toContain('Lea')

  const { items } = await server.admin.get('/api/audit?kind=person_disabled')
  expect(items).toMatchObject([
    {
      actor: { name: 'Ada' },
      data: {
        person: lea.principal.id,
        name: 'Lea',
        ended: { keys: expect.arrayContaining([leaKey.id]), grants: [], delegations: [], consoleSessions: 1 },
      },
    },
  ])
  expect(items[0].data.ended.keys).toHaveLength(2)

  await server.restart()
  expect((await withKey(server, leaKey.key).send('GET', '/api/sessions')).status).toBe(401)
  const back = await server.admin.post(`/api/people/${lea.principal.id}/enable`)
  expect(back).toMatchObject({ disabledAt: null, keys: [], roles: ['admin', 'approver'] })
  expect((await withKey(server, leaKey.key).send('GET', '/api/sessions')).status).toBe(401)
})

test('who left approves nothing: open votes are void, grants and delegations end, and what they approved is asked again before it starts', async () => {
  await using desk = await startDesk()
  const { server, target, admin, lea, bob, vic, bot, disable } = desk
  const propose = (tool: string, what: string) => bot.post('/api/actions', { tool, arguments: tool === 'mine' ? {} : { what } })
  const approve = (client: ApiClient, id: string, more = {}) =>
    client.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve', ...more } })

  const { id: sessionId } = await bot.post('/api/sessions', {})
  await bot.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  await server.settle()
  const { id: inSession } = (await admin.get(`/api/sessions/${sessionId}`)).pendingApprovals[0]
  const alone = await propose('keyed', 'alone')
  const lentVote = await propose('keyed', 'lent')
  for (const id of [inSession, alone.id]) expect((await approve(lea, id)).status).toBe(200)
  await lea.post('/api/delegations', { to: vic.principal.id, expiresIn: 'P1D' })
  expect((await approve(vic, lentVote.id)).body.votes).toHaveLength(1)
  const claimed = await propose('mine', '')
  expect((await approve(lea, claimed.id)).body.state).toBe('approved')
  const first = await propose('unkeyed', 'again')
  await approve(lea, first.id, { remember: { scope: 'agent', expiresIn: 'P1D', exact: true } })
  await server.settle()
  expect((await propose('unkeyed', 'again')).state).toBe('approved')
  await server.settle()
  const effects = target.writes.length
  using inbox = await admin.stream('/api/events')

  await disable(admin, lea.principal.id)
  for (const id of [inSession, alone.id, lentVote.id]) expect((await admin.get(`/api/actions/${id}`)).votes).toEqual([])
  const waiting = [inSession, alone.id, lentVote.id]
  // What happened before may arrive now, too.
  const voided = () => inbox.next('action_update', ({ proposalId, votes }) => waiting.includes(proposalId) && votes?.length === 0)
  const updates = [await voided(), await voided(), await voided()]
  expect(updates.map(({ proposalId }) => proposalId).sort()).toEqual(waiting.toSorted())
  // With the vote that approved what nobody has claimed yet.
  expect((await server.admin.get('/api/audit?kind=vote_voided')).items).toHaveLength(4)
  // One more vote is the first of two, not the second.
  for (const id of [inSession, alone.id, lentVote.id]) expect((await approve(bob, id)).body.state).toBe('proposed')
  expect((await approve(vic, lentVote.id)).status).toBe(404)
  // The grant no longer applies, and the action that they approved goes back for approval.
  expect((await propose('unkeyed', 'again')).state).toBe('proposed')
  expect((await bot.send('POST', `/api/actions/${claimed.id}/claim`, { body: {} })).status).toBe(409)
  expect(await admin.get(`/api/actions/${claimed.id}`)).toMatchObject({ state: 'proposed', revision: 2, revised: { why: 'decider' } })
  await server.settle()
  expect(target.writes).toHaveLength(effects)
  expect((await admin.get('/api/grants?state=standing')).items).toEqual([])

  // Once enabled again, they start without their old votes, keys and grants.
  await server.admin.post(`/api/people/${lea.principal.id}/enable`)
  for (const id of [inSession, alone.id]) expect((await admin.get(`/api/actions/${id}`)).votes).toHaveLength(1)
  expect((await propose('unkeyed', 'again')).state).toBe('proposed')
  expect((await approve(vic, lentVote.id)).status).toBe(404)
  expect((await approve(admin, alone.id)).body.state).not.toBe('proposed')
})

test('what somebody approved who was disabled since does not start once they are let in again, nor does what their grant allowed', async () => {
  await using desk = await startDesk()
  const { server, admin, lea, bot, disable } = desk
  const mine = (): Promise<Action> => bot.post('/api/actions', { tool: 'mine', arguments: {} })
  const approve = async (more: object): Promise<string> => {
    const { id } = await mine()
    expect(await lea.post(`/api/actions/${id}/decision`, { verdict: 'approve', ...more })).toMatchObject({ state: 'approved' })
    return id
  }
  const inGrace = await approve({ startAfter: 'PT1H' })
  const unclaimed = await approve({ remember: { scope: 'agent', expiresIn: 'P1D', exact: true, uses: 1 } })
  // That was its last use: the grant allows nothing more, but this action rests on it.
  const granted = await mine()
  expect(granted.policy.rule).toMatch(/^grant /)

  await disable(admin, lea.principal.id)
  await server.admin.post(`/api/people/${lea.principal.id}/enable`)
  for (const id of [inGrace, unclaimed]) expect(await admin.get(`/api/actions/${id}`)).toMatchObject({ state: 'approved', votes: [] })
  for (const [id, why] of [
    [unclaimed, 'decider'],
    [granted.id, 'grant'],
  ]) {
    expect(await bot.send('POST', `/api/actions/${id}/claim`, { body: {} })).toMatchObject({
      status: 409,
      body: { code: 'stale_preview', action: { state: 'proposed', revision: 2, revised: { why } } },
    })
  }
})

test('nobody disables themselves or changes their own roles; of two admins who disable each other at once, one stays', async () => {
  await using desk = await startDesk()
  const { server, admin, lea, bob, disable } = desk
  const refused = async (answer: Promise<{ status: number; body: { detail: string } }>, detail: RegExp) =>
    expect(await answer).toMatchObject({ status: 403, body: { detail: expect.stringMatching(detail) } })
  await refused(admin.send('POST', `/api/people/${admin.principal.id}/disable`), /cannot disable yourself/)
  await refused(admin.send('PATCH', `/api/people/${admin.principal.id}`, { body: { roles: ['admin', 'finance'] } }), /your own roles/)
  await refused(admin.send('PATCH', '/api/people/prn_local', { body: { roles: [] } }), /from the server itself/)
  await refused(bob.send('POST', `/api/people/${lea.principal.id}/disable`), /only an admin/)
  expect((await admin.send('POST', '/api/people/prn_nobody/disable')).status).toBe(404)

  const both = await Promise.all([
    admin.send('POST', `/api/people/${lea.principal.id}/disable`),
    lea.send('POST', `/api/people/${admin.principal.id}/disable`),
  ])
  expect(both.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1)
  const [left, gone] = both[0]?.status === 200 ? [admin, lea] : [lea, admin]
  // A request of theirs that was authenticated a moment before has no effect.
  const store = await openBeside(server.database)
  const late = store.transact((outbox) => disablePerson({ outbox, by: gone.principal, nowMs: Date.now(), signedIn: 0 }, left.principal.id))
  await expect(late).rejects.toMatchObject({ code: 'forbidden' })
  await store.close()
  // The bootstrap key belongs to a person like any other.
  await disable(left, 'prn_local')
  expect((await server.admin.send('GET', '/api/sessions')).status).toBe(401)
  await server.restart()
  expect((await server.admin.send('GET', '/api/sessions')).status).toBe(401)
})

test('roles are changed by an admin, hold at once, and are shown; a limited key gives out none but its own', async () => {
  await using desk = await startDesk()
  const { server, admin, bob, bot } = desk
  const { id } = await bot.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' } })
  const change = (client: ApiClient, roles: string[]) => client.send('PATCH', `/api/people/${bob.principal.id}`, { body: { roles } })
  expect(await change(admin, ['viewer'])).toMatchObject({ status: 200, body: { roles: ['viewer'], providedRoles: null } })
  expect((await bob.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })).status).toBe(403)
  const mine = { kind: 'person', principal: admin.principal.id } as const
  const limited = withKey(server, (await admin.post('/api/keys', { ...mine, name: 'a', roles: ['admin'] })).key)
  expect((await change(limited, ['approver', 'viewer'])).status).toBe(403)
  expect((await change(limited, [])).status).toBe(200)
  expect((await change(admin, ['approver'])).status).toBe(200)
  expect((await bob.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })).status).toBe(200)
  const { items } = await server.admin.get('/api/audit?kind=principal_changed')
  expect(items.filter((row: { actor: { name: string } }) => row.actor.name === 'Ada')).toHaveLength(3)
  const listed = (await admin.get('/api/people?q=Bob')).items
  expect(listed).toEqual([{ id: bob.principal.id, name: 'Bob', roles: ['approver'], disabledAt: null }])
  expect((await bob.get('/api/people?q=Bob')).items).toEqual([{ id: bob.principal.id, name: 'Bob' }])
})

test('a page from before gives no role back that another admin has taken away, and takes none that they gave', async () => {
  await using desk = await startDesk()
  const { admin, bob } = desk
  const path = `/api/people/${bob.principal.id}`
  const change = (roles: string[], was: string[]) => admin.send('PATCH', path, { body: { roles, was } })
  const now = async () => (await admin.get(path)).roles
  const was = await now()
  expect((await change(['finance', 'viewer'], was)).status).toBe(200)
  const late = await change([...was, 'legal'], was)
  expect(late).toMatchObject({ status: 409, body: { code: 'revision_mismatch' } })
  expect(late.body.detail).toBe('the roles of Bob changed since they were shown: they are finance, viewer now. Nothing was changed')
  expect(await now()).toEqual(['finance', 'viewer'])
  expect((await change(['viewer', 'finance'], was)).status, 'what is so already changes nothing').toBe(200)
  expect((await change(['viewer', 'finance', 'legal'], ['viewer', 'finance'])).body.roles, 'in any order').toEqual([
    'finance',
    'legal',
    'viewer',
  ])
})

// SQLite allows one process at a time.
test.skipIf(inject('database') === 'sqlite')('who is disabled at one process is out of the other at once', async () => {
  await using servers = await startTwoServers()
  const { here, there } = servers
  const { key, principal } = await here.makeKey({ name: 'Lea', kind: 'person', roles: ['approver'] })
  const lea = withKey(here, key)
  const console = await consoleOf(here, key)
  using reading = await lea.stream('/api/events')
  using atConsole = await console.stream('/api/events')
  await there.admin.post(`/api/people/${principal.id}/disable`)
  await reading.ended()
  await atConsole.ended()
  for (const server of [here, there]) expect((await withKey(server, key).send('GET', '/api/sessions')).status).toBe(401)
})
