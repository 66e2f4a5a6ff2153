import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openBeside } from '../../packages/server/src/store/open-beside.ts'
import { signInLocally } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { raw } from '../testing/temp-store.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

/** A server on which whatever is asked for needs the votes of two people. */
async function startDesk(requires: object) {
  const target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const server = await startTestServer({
    config: {
      agents: {},
      tools: toolsOf(target),
      policy: { rules: [{ name: 'needs approval', match: {}, verdict: 'ask', requires }] },
    },
  })
  return {
    target,
    server,
    propose: async (client: TestServer['admin']) =>
      (await client.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' }, expiresIn: 'P1D' })).id as string,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

const localPage = async (server: TestServer) => server.with({ ...(await signInLocally(server)), origin: server.url })

const stateOf = async ({ admin }: TestServer, id: string): Promise<string> => (await admin.get(`/api/actions/${id}`)).state

test('the person at this machine and the owner of the bootstrap key are one person: together they are one vote of two', async () => {
  await using desk = await startDesk({ quorum: 2 })
  const { server, target } = desk
  const page = await localPage(server)
  const ids = await Promise.all([page, server.admin].map(async (one) => (await one.get('/api/me')).principal.id))
  expect(ids).toEqual(['prn_local', 'prn_local'])
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  for (const voters of [
    [page, server.admin],
    [server.admin, page],
  ]) {
    const id = await desk.propose(bot)
    for (const voter of voters) await voter.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })
    expect(await stateOf(server, id)).toBe('proposed')
  }
  expect(target.writes).toEqual([])
})

test('who asked with the bootstrap key, or through an agent of it, does not approve at the console where the requester may not', async () => {
  await using desk = await startDesk({ notRequester: true })
  const { server, target } = desk
  const page = await localPage(server)
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  for (const requester of [server.admin, bot]) {
    const id = await desk.propose(requester)
    for (const voter of [page, server.admin]) {
      expect((await voter.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })).status).toBe(403)
    }
  }
  expect(target.writes).toEqual([])
})

test('after an upgrade the two persons of an older database count as one: votes, agents, keys and delegations', async () => {
  await using desk = await startDesk({ quorum: 2 })
  const { server, target } = desk
  const make = async (name: string, roles: string[]) => {
    const { key, principal } = await server.makeKey({ name, kind: 'person', roles })
    return { key, principal, ...server.with({ authorization: `Bearer ${key}` }) }
  }
  const other = await make('stands for the bootstrap key', ['admin', 'approver'])
  const vic = await make('Vic', [])
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  const voted = await desk.propose(bot)
  await other.post(`/api/actions/${voted}/decision`, { verdict: 'approve' })
  const lent = await desk.propose(bot)
  await other.post('/api/delegations', { to: vic.principal.id, expiresIn: 'PT1H' })
  const signedIn = await signInLocally(server)
  expect((await server.with(signedIn).get('/api/me')).principal.id).toBe('prn_local')

  // What the version before wrote: the owner of the bootstrap key as a person of their own.
  const store = await openBeside(server.database)
  const { id } = other.principal
  try {
    await store.transact(function* () {
      yield* raw(sql`insert into principal (id, kind, name, roles, person_id, created_at)
        select 'prn_bootstrap', kind, 'Bootstrap key', roles, 'prn_bootstrap', created_at from principal where id = ${id}`)
      yield* raw(sql`update vote set principal_id = 'prn_bootstrap' where principal_id = ${id}`)
      yield* raw(sql`update delegation set from_id = 'prn_bootstrap' where from_id = ${id}`)
      yield* raw(sql`update api_key set principal_id = 'prn_bootstrap' where principal_id = ${id}`)
      yield* raw(sql`update principal set person_id = 'prn_bootstrap' where id = ${bot.principal.id}`)
      yield* raw(sql`delete from migration where number = 23`)
    })
  } finally {
    await store.close()
  }
  await server.restart()

  const { votes } = await server.admin.get(`/api/actions/${voted}`)
  expect(votes).toMatchObject([{ by: { id: 'prn_bootstrap', name: 'Bootstrap key' }, verdict: 'approve' }])
  // A console from before the upgrade is signed out: its secret may have reached other ports.
  expect((await server.with(signedIn).get('/api/me')).principal).toBeNull()
  const { console_session: sessions } = await server.dump()
  expect((sessions as { ended_at: unknown }[]).map(({ ended_at }) => ended_at)).not.toContain(null)

  const page = await localPage(server)
  await page.post(`/api/actions/${voted}/decision`, { verdict: 'approve' })
  expect(await stateOf(server, voted)).toBe('proposed')
  // Vic votes in the place of the same person, whose own vote goes before it.
  const again = server.with({ authorization: `Bearer ${vic.key}` })
  await page.post(`/api/actions/${lent}/decision`, { verdict: 'approve' })
  await again.send('POST', `/api/actions/${lent}/decision`, { body: { verdict: 'approve' } })
  expect(await stateOf(server, lent)).toBe('proposed')
  // A key that was made for the bootstrap key's owner goes on, as a key of the one person.
  expect((await server.with({ authorization: `Bearer ${other.key}` }).get('/api/me')).principal.id).toBe('prn_local')
  expect(target.writes).toEqual([])
  const ana = await server.as({ name: 'Ana', kind: 'person', roles: ['approver'] })
  await ana.post(`/api/actions/${voted}/decision`, { verdict: 'approve' })
  expect((await server.admin.get(`/api/actions/${voted}?wait=30&until=settled`)).state).toBe('succeeded')
  expect(target.writes).toHaveLength(1)
})
