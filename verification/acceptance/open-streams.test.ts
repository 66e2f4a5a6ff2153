import type { EventDataOf } from '@countersign/core'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { revokeKey } from '../../packages/server/src/identity/keys.ts'
import { openBeside, principals, tellAccess } from '../../packages/server/src/store/index.ts'
import type { ApiClient } from '../testing/api-client.ts'
import type { EventReader } from '../testing/event-reader.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { raw } from '../testing/temp-store.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'
import { startTwoServers } from '../testing/two-servers.ts'

const keyed = (what: string) => ({ tool: 'keyed', arguments: { what } })

async function startDesk(policy?: ConfigInput['policy']) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const server = stack.use(
    await startTestServer({
      config: {
        agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
        tools: toolsOf(target),
        ...(policy && { policy }),
      },
      scripts: { desk: [{ calls: [keyed('x')] }, { text: 'Done.' }] },
    }),
  )
  return { server, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** The default time without a request after which a session expires. */
const IDLE_MS = 12 * 3_600_000
/** The tests make a credential expire this soon. The server knows the time in advance and waits for it. */
const SOON_MS = 500

interface Open {
  streams: EventReader[]
  /** The status of a long poll: 401 once the caller's credential is no longer valid. */
  wait: Promise<number>
}

/** Opens all that a person can have open: a chat, a session, the inbox and a long poll. Resolves when each of them is listening. */
async function openAll(client: ApiClient): Promise<Open> {
  const chat = await client.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await chat.next('session')
  const { proposal } = await chat.next('action_proposed')
  const session = await client.stream(`/api/sessions/${sessionId}/events`)
  const inbox = await client.stream('/api/events')
  const wait = client.send('GET', `/api/actions/${proposal.id}?wait=60`).then(({ status }) => status)
  return { streams: [chat, session, inbox], wait }
}

async function expectOver({ streams, wait }: Open): Promise<void> {
  for (const stream of streams) await stream.ended()
  expect(await wait).toBe(401)
}

async function personWithKey(server: TestServer, more: object = {}) {
  const { key, id, principal } = await server.makeKey({ name: 'Ana', kind: 'person', roles: ['approver'], ...more })
  return { client: server.with({ authorization: `Bearer ${key}` }), key, id, principal }
}

async function signedIn(server: TestServer, key: string): Promise<ApiClient> {
  return server.with({ ...(await signInWithKey(server.url, key)), origin: server.url })
}

test('what is open ends with the key that opened it: revoked here, by a command beside the server, or expired', async () => {
  await using desk = await startDesk()
  const { server } = desk
  using ben = await (await personWithKey(server)).client.stream('/api/events')
  const here = await personWithKey(server)
  const opened = await openAll(here.client)
  await server.admin.send('DELETE', `/api/keys/${here.id}`)
  await expectOver(opened)

  const beside = await personWithKey(server)
  const openedThen = await openAll(beside.client)
  const store = await openBeside(server.database)
  try {
    await store.transact((outbox) => revokeKey(outbox, beside.id, null, Date.now()))
    await expectOver(openedThen)

    const other = await personWithKey(server)
    const reading = await other.client.stream('/api/events')
    await store.transact(function* (outbox) {
      yield* principals.savePrincipal({ ...other.principal, roles: [] }, Date.now())
      tellAccess(outbox, other.principal.id)
    })
    // The person still exists but has other rights, so the stream has to be opened again and checked anew.
    await reading.ended()

    const short = await personWithKey(server, { expiresIn: 'PT1H' })
    const untilThen = await openAll(short.client)
    await store.transact((outbox) => {
      tellAccess(outbox, short.principal.id)
      return raw(sql`update api_key set expires_at = ${Date.now() + SOON_MS} where id = ${short.id}`)
    })
    await expectOver(untilThen)
  } finally {
    await store.close()
  }
  // Other people's streams stay open.
  const { id } = await server.admin.post('/api/actions', keyed('y'))
  await ben.next('action_proposed', ({ proposal }) => proposal.id === id)
})

test('what is open ends with the session at the console: signed out here or everywhere, its key revoked, or at rest for too long', async () => {
  await using desk = await startDesk()
  const { server } = desk
  const { key, id } = await personWithKey(server)
  const [one, two, three] = [await signedIn(server, key), await signedIn(server, key), await signedIn(server, key)]
  const first = await openAll(one)
  const second = await openAll(two)
  await one.post('/api/sign-out', {})
  await expectOver(first)
  await three.post('/api/sign-out', { everywhere: true })
  await expectOver(second)
  const lost = await signedIn(server, key)
  const third = await openAll(lost)
  const kept = await signedIn(server, key)
  const { items } = await kept.get('/api/console-sessions')
  const [unknown] = items.filter(({ isCurrent }: { isCurrent: boolean }) => !isCurrent)
  await kept.send('DELETE', `/api/console-sessions/${unknown.id}`)
  await expectOver(third)
  const fourth = await openAll(await signedIn(server, key))
  await kept.send('DELETE', '/api/console-sessions')
  await expectOver(fourth)
  const last = await openAll(await signedIn(server, key))
  await server.admin.send('DELETE', `/api/keys/${id}`)
  await expectOver(last)

  const resting = await personWithKey(server)
  // Only a stream: the request of a late long poll would keep the session alive.
  const untilThen = await (await signedIn(server, resting.key)).stream('/api/events')
  const store = await openBeside(server.database)
  await store.transact((outbox) => {
    tellAccess(outbox, resting.principal.id)
    const seenAt = Date.now() - IDLE_MS + SOON_MS
    return raw(sql`update console_session set seen_at = ${seenAt} where principal_id = ${resting.principal.id}`)
  })
  await store.close()
  await untilThen.ended()
})

test('the download of the record breaks off when its key is revoked', async () => {
  await using desk = await startDesk({ rules: [{ name: 'no', match: {}, verdict: 'deny' }] })
  const { server } = desk
  const { key, id } = await server.makeKey({ name: 'Vera', kind: 'person', roles: ['viewer'] })
  const authorization = `Bearer ${key}`
  // Several heads of the record, with more in them than a connection takes in that nobody reads from.
  const isSealed = async () => (await server.admin.get('/api/audit?limit=1')).items[0].sealed
  for (let heads = 0; heads < 5; heads++) {
    await Promise.all(Array.from({ length: 12 }, () => server.admin.post('/api/actions', keyed('x'.repeat(250_000)))))
    await expect.poll(isSealed).toBe(true)
  }
  const download = await fetch(`${server.url}/api/audit/export?format=csv`, { headers: { authorization } })
  expect(download.status).toBe(200)
  await server.admin.send('DELETE', `/api/keys/${id}`)
  const end = await download.text().then(
    () => 'whole',
    () => 'broken off',
  )
  expect(end).toBe('broken off')
})

test('an export of actions breaks off when its key is revoked: also what was read ahead for a slow client is not sent', async () => {
  await using desk = await startDesk()
  const { server } = desk
  // One page of a reading, and more than the buffers between server and client hold.
  const letters = Array.from({ length: 60 }, (_, nth) => String(nth).padEnd(200_000, 'x'))
  for (const letter of letters) await server.admin.post('/api/actions', keyed(letter))
  const { client, key, id } = await personWithKey(server, { roles: ['viewer'] })
  const download = await fetch(`${server.url}/api/actions/export`, { headers: { authorization: `Bearer ${key}` } })
  expect(download.status).toBe(200)
  using inbox = await client.stream('/api/events')
  await server.admin.send('DELETE', `/api/keys/${id}`)
  await inbox.ended()
  const end = await download.text().then(
    () => 'whole',
    () => 'broken off',
  )
  expect(end).toBe('broken off')
  const whole = await server.admin.send('GET', '/api/actions/export')
  expect(whole.text.trim().split('\n')).toHaveLength(letters.length)
})

// SQLite allows one process at a time; the test above covers the command beside it.
test.skipIf(inject('database') === 'sqlite')('a key that one process revokes ends what is open at another', async () => {
  await using servers = await startTwoServers()
  const { here, there } = servers
  const { client, id } = await personWithKey(here)
  using reading = await client.stream('/api/events')
  await there.admin.send('DELETE', `/api/keys/${id}`)
  await reading.ended()
})

test('an action that comes to ask others is told to them in full: to who may decide an edit, and to those it is escalated to', async () => {
  await using desk = await startDesk({
    rules: [
      { name: 'big', match: { tool: 'keyed', when: 'args.what == "big"' }, verdict: 'ask', requires: { roles: ['leads'] } },
      {
        name: 'small',
        match: { tool: 'keyed', when: 'args.what != "big"' },
        verdict: 'ask',
        requires: { roles: ['finance'] },
      },
      {
        name: 'slow',
        match: { tool: 'unkeyed' },
        verdict: 'ask',
        requires: { roles: ['finance'] },
        escalate: { after: 'PT1S', roles: ['leads'] },
      },
    ],
  })
  const { server } = desk
  const person = (name: string, ...roles: string[]) => server.as({ name, kind: 'person', roles })
  const [fay, gil, lea] = [await person('Fay', 'finance'), await person('Gil', 'finance'), await person('Lea', 'leads')]
  // An edit also needs the roles that were required before, so the person who decides it has both.
  const dee = await person('Dee', 'finance', 'leads')
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  using toGil = await gil.stream('/api/events')
  using toLea = await lea.stream('/api/events')
  using toDee = await dee.stream('/api/events')

  const { id: sessionId } = await bot.post('/api/sessions', {})
  await bot.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  const { proposal } = await toGil.next('action_proposed')
  await fay.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve', arguments: { what: 'big' } })
  const isEdited = (data: { proposalId: string; revision?: number }) => data.proposalId === proposal.id && data.revision === 2
  const asksBoth = { arguments: { what: 'big' }, requires: { roles: ['finance'], alsoRoles: [['leads']] } }
  expect(await toDee.next('action_update', isEdited)).toMatchObject(asksBoth)
  // Gil could decide before and still sees the action, but may no longer decide it. A person with only the other role does not see it.
  expect(await toGil.next('action_update', isEdited)).toMatchObject(asksBoth)
  const approval = { verdict: 'approve', revision: 2 }
  const { digest } = await dee.get(`/api/actions/${proposal.id}`)
  expect((await gil.send('POST', `/api/actions/${proposal.id}/decision`, { body: { ...approval, digest } })).status).toBe(403)
  expect(JSON.stringify(toLea.seen)).not.toContain('big')
  await dee.post(`/api/actions/${proposal.id}/decision`, { ...approval, digest })

  const slow = await bot.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'slowly' } })
  expect((await toGil.next('action_proposed')).proposal.id).toBe(slow.id)
  const escalated = await toLea.next('action_proposed')
  expect(escalated.proposal).toMatchObject({ id: slow.id, arguments: { what: 'slowly' }, requires: { roles: ['finance', 'leads'] } })
  await lea.post(`/api/actions/${slow.id}/decision`, { verdict: 'decline' })
  await toLea.next('action_update', (data) => data.proposalId === slow.id && data.state === 'declined')
  const told = toLea.seen.flatMap(({ type, data }) =>
    type === 'action_proposed' ? [(data as EventDataOf<'action_proposed'>).proposal.id] : [],
  )
  expect(told).toEqual([slow.id])
})
