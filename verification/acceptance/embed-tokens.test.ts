import { expect, inject, test } from 'vitest'
import { type Clock, systemClock } from '../../packages/server/src/clock.ts'
import { acceptKey } from '../testing/accept-key.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { manualClock } from '../testing/manual-clock.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

// A host's server vouches for its own people with short-lived tokens. The tests think as the thief of a key or a token, as an admin who
// would be two people, and as an agent that would be one.

const EMBED = { kind: 'service', scopes: ['embed'], person: null } as const

async function startHost(requires: object = { roles: ['approver'] }, clock: Clock = systemClock) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  let asked = 0
  const server = stack.use(
    await startTestServer({
      config: {
        agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
        tools: toolsOf(target),
        policy: { rules: [{ name: 'people', match: { tool: 'keyed' }, verdict: 'ask', requires }] },
      },
      scripts: { desk: [{ text: 'Done.' }] },
      clock,
    }),
  )
  const bot = await server.as({ name: 'bot', kind: 'agent', person: null })
  const portal = await server.as({ name: 'portal', ...EMBED, scopes: [...EMBED.scopes], embedRoles: ['approver', 'finance'] })
  const mint = (person: unknown, roles = ['approver'], more = {}) =>
    portal.send('POST', '/api/embed-tokens', { body: { person, roles, ...more } })
  const withKey = (key: string): ApiClient => server.with({ authorization: `Bearer ${key}` })
  const as = async (person: unknown, roles?: string[], more?: object) => {
    const answer = await mint(person, roles, more)
    expect(answer.status).toBe(201)
    return { ...withKey(answer.body.token), token: answer.body.token as string, principal: answer.body.principal }
  }
  const propose = () => bot.post('/api/actions', { tool: 'keyed', arguments: { what: `refund ${++asked}` } })
  return { server, target, bot, portal, mint, withKey, as, propose, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('a host’s own person decides with a token: the vote is theirs, and the record says who vouched for them', async () => {
  await using host = await startHost()
  const { server, as, propose } = host
  const ana = await as({ id: 'user-42', name: 'Ana' })
  expect((await ana.get('/api/me')).principal).toMatchObject({ kind: 'person', name: 'Ana', roles: ['approver'], scopes: ['decide'] })
  const { id } = await propose()
  await server.settle()
  expect((await ana.get('/api/actions?state=proposed&mine=true')).items).toHaveLength(1)
  const decided = await ana.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  expect(decided.votes[0].by).toMatchObject({ id: ana.principal.id, kind: 'person', name: 'Ana', host: host.portal.principal.id })
  await server.settle()
  expect(host.target.writes).toHaveLength(1)
  const { items } = await server.admin.get('/api/audit')
  const row = (kind: string) => items.find((one: { kind: string }) => one.kind === kind)
  expect(row('embed_token_made')).toMatchObject({ actor: { name: 'portal' }, data: { person: ana.principal.id, host: 'user-42' } })
  expect(row('approved')).toMatchObject({ actor: { id: ana.principal.id, name: 'Ana' }, data: { signIn: 'embed token' } })
  // The same id is the same person, and another host's is not.
  expect((await as('user-42')).principal.id).toBe(ana.principal.id)
  const other = await server.as({ name: 'other', ...EMBED, scopes: ['embed'], embedRoles: ['approver'] })
  const theirs = await other.post('/api/embed-tokens', { person: 'user-42', roles: ['approver'] })
  expect(theirs.principal.id).not.toBe(ana.principal.id)
})

test('who has seen an action is the host’s own person, never the host’s server, and only with a token that decides', async () => {
  await using host = await startHost()
  const { server, portal, as, propose } = host
  const [ana, ben, mia] = [await as({ id: 'user-42', name: 'Ana' }), await as({ id: 'user-43', name: 'Ben' }), await as('user-44', [])]
  const { id, revision, digest } = await propose()
  const look = (who: Pick<ApiClient, 'send'>) => who.send('POST', `/api/actions/${id}/seen`, { body: { revision, digest } })
  expect((await look(portal)).status).toBe(403)
  expect((await look(mia)).status).toBe(404)
  expect((await look(ana)).body.seenBy).toMatchObject([{ by: { id: ana.principal.id, name: 'Ana' } }])
  // A second token of hers is no second person.
  expect((await look(await as({ id: 'user-42', name: 'Ana' }))).body.seenBy).toHaveLength(1)
  expect((await look(ben)).body.seenBy.map(({ by }: { by: { name: string } }) => by.name)).toEqual(['Ben', 'Ana'])
  const action_seen = (await server.dump()).action_seen as { principal_id: string }[]
  expect(action_seen.map(({ principal_id }) => principal_id).sort()).toEqual([ana.principal.id, ben.principal.id].sort())
  // Nor does the server learn who looks.
  expect((await portal.send('GET', `/api/actions/${id}`)).body.seenBy).toBeUndefined()
})

test('only an accepted service key with the scope embed makes tokens: no person, agent, other service or embed token', async () => {
  await using host = await startHost()
  const { server, as, bot } = host
  const ana = await as('ana')
  const plain = await server.as({ name: 'plain', kind: 'service', person: null })
  const manager = await server.as({ name: 'manager', kind: 'service', person: null, scopes: ['manage', 'decide', 'propose'] })
  for (const client of [server.admin, bot, plain, manager, ana]) {
    const answer = await client.send('POST', '/api/embed-tokens', { body: { person: 'ana', roles: ['approver'] } })
    expect(answer.status).toBe(403)
  }
  expect((await server.with({}).send('POST', '/api/embed-tokens', { body: { person: 'ana', roles: [] } })).status).toBe(401)
})

test('an admin cannot make themselves more people: a key for embed tokens made over the API waits for whoever runs the server', async () => {
  await using host = await startHost({ roles: ['approver'], quorum: 2 })
  const { server, withKey } = host
  const made = await server.admin.post('/api/keys', { name: 'mine', ...EMBED, embedRoles: ['approver'] })
  expect(made.acceptedAt).toBeNull()
  const client = withKey(made.key)
  const mint = () => client.send('POST', '/api/embed-tokens', { body: { person: 'sock puppet', roles: ['approver'] } })
  expect(await mint()).toMatchObject({ status: 403, body: { detail: expect.stringContaining('countersign key accept') } })
  for (const who of [server.admin, client]) {
    expect((await who.send('POST', `/api/keys/${made.id}/accept`, { body: {} })).status).toBeOneOf([403, 404])
  }
  expect((await mint()).status).toBe(403)
  await acceptKey(server.database, made.id)
  expect((await mint()).status).toBe(201)
})

test('a key that makes tokens is for a service alone, does nothing else, and never gives the role admin', async () => {
  await using host = await startHost()
  const { server, portal, mint } = host
  const refused = [
    { name: 'x', kind: 'agent', scopes: ['embed'], embedRoles: ['approver'] },
    { name: 'x', kind: 'person', scopes: ['embed'], embedRoles: ['approver'] },
    { name: 'x', kind: 'service', scopes: ['embed', 'propose'], embedRoles: ['approver'] },
    { name: 'x', kind: 'service', scopes: ['embed'] },
    { name: 'x', kind: 'service', embedRoles: ['approver'] },
    ...['admin', 'member', 'agent', 'monitor'].map((role) => ({ name: 'x', kind: 'service', scopes: ['embed'], embedRoles: [role] })),
    // What it proposes with one key, its people must not approve through another.
    { name: 'x', kind: 'service', principal: portal.principal.id },
  ]
  for (const body of refused) expect(await server.admin.send('POST', '/api/keys', { body })).toMatchObject({ status: 422 })
  const plain = await server.as({ name: 'plain', kind: 'service', person: null })
  const second = { name: 'x', ...EMBED, embedRoles: [], principal: plain.principal.id }
  expect((await server.admin.send('POST', '/api/keys', { body: second })).status).toBe(422)
  for (const roles of [['admin'], ['approver', 'admin'], ['legal']]) {
    expect(await mint('ana', roles)).toMatchObject({ status: 403, body: { detail: expect.stringContaining('may not give the role') } })
  }
  const proposed = await portal.send('POST', '/api/actions', { body: { tool: 'keyed', arguments: { what: 'x' } } })
  expect(proposed.status).toBe(403)
  expect((await server.dump()).action).toEqual([])
})

test('nothing that the thief of a token makes lasts longer than the token, and no key or sign-in comes out of it', async () => {
  await using host = await startHost()
  const { server, as, propose, bot } = host
  const ana = await as('ana')
  const bob = await server.as({ name: 'Bob', kind: 'person', roles: ['approver'] })
  const { id } = await propose()
  const remember = { scope: 'agent', expiresIn: 'P1D', exact: true }
  const { id: sessionId } = await server.admin.post('/api/sessions', {})
  const ways: [string, object][] = [
    [`/api/actions/${id}/decision`, { verdict: 'approve', remember }],
    ['/api/grants', { actionId: id, ...remember }],
    ['/api/delegations', { to: bob.principal.id, expiresIn: 'P1D' }],
    [`/api/actions/${id}/snooze`, { for: 'P30D' }],
    [`/api/actions/${id}/assign`, { to: { role: 'approver' } }],
    ['/api/keys', { name: 'mine', kind: 'person' }],
    ['/api/sessions', {}],
    ['/api/actions', { tool: 'keyed', arguments: { what: 'more' } }],
    ['/api/people/prn_local/disable', {}],
  ]
  for (const [path, body] of ways) expect({ path, status: (await ana.send('POST', path, { body })).status }).toEqual({ path, status: 403 })
  expect((await ana.send('POST', `/api/sessions/${sessionId}/approve`, { body: { verdict: 'approve_all' } })).status).toBeOneOf([403, 404])
  expect((await ana.send('PUT', '/api/policy', { body: { document: { rules: [] }, reason: 'mine' } })).status).toBe(403)
  await expect(signInWithKey(server.url, ana.token)).rejects.toThrow()
  // Nor does anybody lend them a right, or make them a key.
  expect((await bob.send('POST', '/api/delegations', { body: { to: ana.principal.id, expiresIn: 'P1D' } })).status).toBe(403)
  const key = { name: 'hers', kind: 'person', principal: ana.principal.id }
  expect((await server.admin.send('POST', '/api/keys', { body: key })).status).toBe(422)
  expect((await server.dump()).action_grant).toEqual([])
  expect((await bot.get(`/api/actions/${id}`)).state).toBe('proposed')
})

// On Postgres the time is the database's, which no test moves.
test.skipIf(inject('database') === 'postgres')('a token expires, at most after an hour and never after its key', async () => {
  const clock = manualClock(Date.now())
  await using host = await startHost(undefined, clock)
  const { server, as, mint } = host
  expect(await mint('ana', ['approver'], { expiresIn: 'PT2H' })).toMatchObject({
    status: 422,
    body: { detail: expect.stringContaining('PT1H') },
  })
  const ana = await as('ana')
  const hour = await as('ana', ['approver'], { expiresIn: 'PT1H' })
  clock.pass(15 * 60_000 - 1)
  expect((await ana.get('/api/me')).principal).not.toBeNull()
  clock.pass(1)
  expect((await ana.send('GET', '/api/me')).status).toBe(401)
  expect((await hour.get('/api/me')).principal.name).toBe('ana')
  const short = await server.as({ name: 'short', ...EMBED, scopes: ['embed'], embedRoles: ['approver'], expiresIn: 'PT5M' })
  const { expiresAt } = await short.post('/api/embed-tokens', { person: 'ana', roles: [], expiresIn: 'PT1H' })
  expect(Date.parse(expiresAt) - clock.nowMs()).toBe(5 * 60_000)
})

test('a disabled person gets no token, their tokens end at once, and stay ended when they are enabled', async () => {
  await using host = await startHost()
  const { server, as, mint } = host
  const ana = await as('ana')
  await server.admin.post(`/api/people/${ana.principal.id}/disable`, {})
  expect((await ana.send('GET', '/api/actions')).status).toBe(401)
  expect((await mint('ana')).status).toBe(403)
  await server.admin.post(`/api/people/${ana.principal.id}/enable`, {})
  expect((await ana.send('GET', '/api/actions')).status).toBe(401)
  expect((await (await as('ana')).send('GET', '/api/actions')).status).toBe(200)
})

test('tokens end with the key that made them, open streams too, and with the owner of the service', async () => {
  await using host = await startHost()
  const { server, as, portal } = host
  const ana = await as('ana')
  const stream = await fetch(`${server.url}/api/events`, { headers: { authorization: `Bearer ${ana.token}` } })
  expect(stream.status).toBe(200)
  const { items } = await server.admin.get('/api/keys')
  const { id } = items.find((one: { principal: { id: string } }) => one.principal.id === portal.principal.id)
  expect((await server.admin.send('DELETE', `/api/keys/${id}`)).status).toBe(200)
  // It ends by itself: reading it to the end would hang otherwise.
  await stream.text()
  expect((await ana.send('GET', '/api/actions')).status).toBe(401)
  expect((await portal.send('POST', '/api/embed-tokens', { body: { person: 'ana', roles: [] } })).status).toBe(401)
  expect((await server.dump()).embed_token).toEqual([])

  const owner = await server.as({ name: 'Olga', kind: 'person', roles: ['admin'] })
  const owned = await server.as({ name: 'owned', kind: 'service', scopes: ['embed'], embedRoles: ['approver'], person: owner.principal.id })
  const { token } = await owned.post('/api/embed-tokens', { person: 'ben', roles: ['approver'] })
  await server.admin.post(`/api/people/${owner.principal.id}/disable`, {})
  expect((await host.withKey(token).send('GET', '/api/actions')).status).toBe(401)
})

test('the host says which roles a person has now: a token of before loses those that were taken away, an admin gives none through it', async () => {
  await using host = await startHost({ roles: ['finance'] })
  const { server, as, propose } = host
  const both = await as('ana', ['approver', 'finance'])
  const { id } = await propose()
  await as('ana', ['approver'])
  expect((await both.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })).status).toBeOneOf([403, 404])
  await server.admin.send('PATCH', `/api/people/${both.principal.id}`, { body: { roles: ['admin', 'approver', 'legal'] } })
  expect((await both.get('/api/me')).principal.roles).toEqual(['approver'])
  expect((await both.send('GET', '/api/keys')).status).toBe(403)
})

test('a loop that makes tokens is stopped, and a repeat with the same Idempotency-Key makes no second token', async () => {
  // On a slow machine, enough time passes for another token.
  const nowMs = Date.now()
  await using host = await startHost(undefined, { ...systemClock, nowMs: () => nowMs })
  const { server, portal, mint } = host
  const headers = { 'idempotency-key': 'once' }
  const body = { person: 'ben', roles: ['approver'] }
  const first = await portal.send('POST', '/api/embed-tokens', { body, headers })
  const again = await portal.send('POST', '/api/embed-tokens', { body, headers })
  expect(again.body).toMatchObject({ token: null, message: expect.stringContaining('shown once'), principal: first.body.principal })
  expect((await server.dump()).embed_token).toHaveLength(1)
  expect(JSON.stringify(await server.dump())).not.toContain(first.body.token)
  const statuses: number[] = []
  for (let i = 0; i < 31; i++) statuses.push((await mint('ana')).status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(30)
  expect(statuses.at(-1)).toBe(429)
  // Nobody else is held up.
  expect((await mint('cleo')).status).toBe(201)
})
