import type { Socket } from 'node:net'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import type { ApiClient } from '../testing/api-client.ts'
import { COMMIT, openFaultProxy, throughProxy } from '../testing/fault-proxy.ts'
import { holdLock, WAITING } from '../testing/hold-lock.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openTestDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

// A request is authenticated, and then waits: for the target whose values the card shows, or for another transaction. What its credential
// was good for may end meanwhile.

const WHAT = { type: 'object', required: ['what'], additionalProperties: false, properties: { what: { type: 'string' } } }

/** A desk whose tool `set` shows the value before; the read of it can be held. */
async function startDesk(policy?: object) {
  const stack = new AsyncDisposableStack()
  let hold: { isReached: PromiseWithResolvers<void>; goesOn: PromiseWithResolvers<void> } | undefined
  const target = stack.use(
    await startTarget(async ({ method }) => {
      if (method === 'GET' && hold) {
        hold.isReached.resolve()
        await hold.goesOn.promise
      }
      return { status: 200, body: { value: 1 } }
    }),
  )
  const set = {
    ...{ method: 'POST' as const, path: '/set', input: WHAT, describe: 'Set {what}', idempotent: true },
    before: { get: '/value', compare: { value: '{what}' } },
  }
  const server = stack.use(
    await startTestServer({
      config: {
        agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
        tools: { target: { prefix: false, routes: { baseUrl: target.url, tools: { set } } } },
        ...(policy && { policy }),
      },
      scripts: { desk: [{ text: 'Done.' }] },
    }),
  )
  const client = (key: string) => server.with({ authorization: `Bearer ${key}` })
  return {
    ...{ target, server },
    /** Runs `take` while the read that `ask` began is held. */
    async during<T>(ask: () => Promise<T>, take: () => Promise<unknown>): Promise<T> {
      hold = { isReached: Promise.withResolvers(), goesOn: Promise.withResolvers() }
      const asked = ask()
      await hold.isReached.promise
      await take()
      hold.goesOn.resolve()
      hold = undefined
      return asked
    },
    async made(body: object) {
      const { key, id, principal } = await server.makeKey(body)
      return { key, id, principal, ...client(key), revoke: () => server.admin.send('DELETE', `/api/keys/${id}`) }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const ask = (who: Pick<ApiClient, 'send'>, what: string) => who.send('POST', '/api/actions', { body: { tool: 'set', arguments: { what } } })

test('nothing is proposed and nothing is edited with a key that was revoked while the target was read', async () => {
  await using desk = await startDesk()
  const { server, target, during, made } = desk
  const gone = await made({ name: 'gone', kind: 'agent' })
  expect(await during(() => ask(gone, 'late'), gone.revoke)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
  await server.settle()
  expect((await server.admin.get('/api/actions')).items).toEqual([])

  const bot = await made({ name: 'bot', kind: 'agent' })
  const ana = await made({ name: 'Ana', kind: 'person', roles: ['approver'] })
  const { id, digest } = (await ask(bot, 'asked')).body
  const edit = () =>
    ana.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve', revision: 1, digest, arguments: { what: 'edited' } } })
  expect((await during(edit, ana.revoke)).status).toBe(401)
  const ben = await made({ name: 'Ben', kind: 'person', roles: ['approver'] })
  const asBen = () =>
    ben.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve', revision: 1, digest, arguments: { what: 'edited' } } })
  const loseRole = () => server.admin.send('PATCH', `/api/people/${ben.principal.id}`, { body: { roles: ['viewer'] } })
  expect(await during(asBen, loseRole)).toMatchObject({ status: 409, body: { code: 'busy' } })
  await server.settle()
  expect(await server.admin.get(`/api/actions/${id}`)).toMatchObject({ state: 'proposed', revision: 1, arguments: { what: 'asked' } })
  expect(target.writes).toEqual([])
})

test('nothing is edited in the place of somebody who ended the delegation while the target was read', async () => {
  await using desk = await startDesk()
  const { server, during, made } = desk
  const bot = await made({ name: 'bot', kind: 'agent' })
  const lea = await made({ name: 'Lea', kind: 'person', roles: ['approver'] })
  const del = await made({ name: 'Del', kind: 'person', roles: [] })
  const { id: lent } = await lea.post('/api/delegations', { to: del.principal.id, expiresIn: 'PT1H' })
  const { id, digest } = (await ask(bot, 'asked')).body
  const edit = () =>
    del.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve', revision: 1, digest, arguments: { what: 'edited' } } })
  expect((await during(edit, () => lea.send('DELETE', `/api/delegations/${lent}`))).status).toBe(404)
  expect(await server.admin.get(`/api/actions/${id}`)).toMatchObject({ state: 'proposed', revision: 1, arguments: { what: 'asked' } })
})

test.skipIf(inject('database') !== 'postgres')(
  'no vote and no typed word counts of whom lost the right while it waited for another transaction',
  async () => {
    await using desk = await startDesk()
    const { server, target, made } = desk
    const bot = await made({ name: 'bot', kind: 'agent' })
    const answered: Record<string, unknown> = {}
    for (const how of ['key', 'role', 'session', 'delegation'] as const) {
      const lender = await made({ name: 'Lea', kind: 'person', roles: ['approver'] })
      const ana = await made({ name: 'Ana', kind: 'person', roles: how === 'delegation' ? [] : ['approver'] })
      const lent = how === 'delegation' && (await lender.post('/api/delegations', { to: ana.principal.id, expiresIn: 'PT1H' }))
      const { id } = (await ask(bot, how)).body
      const signedIn = how === 'session' && server.with({ ...(await signInWithKey(server.url, ana.key)), origin: server.url })
      const who = signedIn || ana
      const held = await holdLock(server, id)
      const vote = who.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })
      await held.isWaitedFor()
      if (how === 'key') await ana.revoke()
      if (how === 'role') await server.admin.send('PATCH', `/api/people/${ana.principal.id}`, { body: { roles: ['viewer'] } })
      if (lent) await lender.send('DELETE', `/api/delegations/${lent.id}`)
      if (signedIn) await signedIn.post('/api/sign-out', {})
      await held.letGo()
      const { status } = await vote
      await server.settle()
      answered[how] = [status, (await server.admin.get(`/api/actions/${id}`)).state]
    }
    expect(answered).toEqual({ key: [401, 'proposed'], role: [409, 'proposed'], session: [401, 'proposed'], delegation: [403, 'proposed'] })
    expect(target.writes).toEqual([])

    const ana = await made({ name: 'Ana', kind: 'person', roles: ['approver'] })
    const { id: sessionId } = await ana.post('/api/sessions', {})
    await server.settle()
    const held = await holdLock(server, sessionId)
    const said = ana.send('POST', `/api/sessions/${sessionId}/messages`, { body: { content: 'approve' } })
    await held.isWaitedFor()
    await ana.revoke()
    await held.letGo()
    expect((await said).status).toBe(401)
    expect((await server.admin.get(`/api/sessions/${sessionId}/messages`)).items).toEqual([])
  },
)

test.skipIf(inject('database') !== 'postgres')(
  'nobody extends, assigns or takes back an approval in the place of somebody who ended the delegation while they waited',
  async () => {
    await using desk = await startDesk({ rules: [{ name: 'all', match: {}, verdict: 'ask', expires: 'P1D', extend: 'PT1H' }] })
    const { server, made } = desk
    const bot = await made({ name: 'bot', kind: 'agent' })
    const ana = await made({ name: 'Ana', kind: 'person', roles: ['approver'] })
    const lea = await made({ name: 'Lea', kind: 'person', roles: ['approver'] })
    const del = await made({ name: 'Del', kind: 'person', roles: [] })
    const deeds = { extend: {}, assign: { to: { person: lea.principal.id } }, undo: {} }
    for (const [deed, body] of Object.entries(deeds)) {
      const { id: lent } = await lea.post('/api/delegations', { to: del.principal.id, expiresIn: 'PT1H' })
      const { id } = (await ask(bot, deed)).body
      if (deed === 'undo') await ana.post(`/api/actions/${id}/decision`, { verdict: 'approve', startAfter: 'PT1H' })
      const before = await server.admin.get(`/api/actions/${id}`)
      const held = await holdLock(server, id)
      const done = del.send('POST', `/api/actions/${id}/${deed}`, { body })
      await held.isWaitedFor()
      await lea.send('DELETE', `/api/delegations/${lent}`)
      await held.letGo()
      expect([deed, (await done).status]).toEqual([deed, 404])
      expect(await server.admin.get(`/api/actions/${id}`)).toEqual(before)
    }
  },
)

/** Two processes on one Postgres. What the first one sends to the database can be held at the COMMIT of a vote. */
async function startBesideProxy() {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const database = stack.use(await openTestDatabase())
  const folder = stack.use(temporaryFolder())
  const { hostname: host, port } = new URL(database.url)
  const proxy = stack.use(await openFaultProxy({ host, port: Number(port) }))
  const start = async (url: string) =>
    stack.use(
      await startTestServer({
        config: {
          agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
          tools: toolsOf(target),
          policy: { rules: [{ name: 'people', match: {}, verdict: 'ask', requires: { roles: ['approver'] } }] },
        },
        scripts: { desk: [{ text: 'Done.' }] },
        place: { dataDir: folder.path, environment: { DATABASE_URL: url, DATABASE_DIRECT_URL: database.url } },
      }),
    )
  const here = await start(throughProxy(database.url, proxy))
  const there = await start(database.url)
  const client = new Client({ connectionString: database.url })
  await client.connect()
  stack.defer(() => client.end())
  const waiting = async () => (await client.query(WAITING)).rowCount
  return {
    ...{ target, here, there },
    isWaiting: () => expect.poll(waiting, { interval: 10 }).toBe(1),
    /** Resolves when the next transaction that writes about an action has sent its COMMIT, which does not arrive. */
    holdCommit() {
      const isHeld = Promise.withResolvers<void>()
      let writer: Socket | undefined
      proxy.onRequest = (bytes, client) => {
        if (['lock-and-id\0', 'lock-under-rights-and-id\0'].some((name) => bytes.includes(name))) writer ??= client
        // Transactions that only read end with a COMMIT, too.
        if (client !== writer || !bytes.includes(COMMIT)) return 'pass'
        isHeld.resolve()
        return 'hold'
      }
      return isHeld.promise
    },
    letGo() {
      proxy.onRequest = () => 'pass'
      proxy.release()
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

test.skipIf(inject('database') !== 'postgres')(
  'who has taken a right away at one process, and got the answer, sees nothing happen by it later that was under way at another',
  async () => {
    await using desk = await startBesideProxy()
    const { here, there } = desk
    const bot = await here.as({ name: 'bot', kind: 'agent' })
    const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
    const approver = () => here.makeKey({ name: 'Ana', kind: 'person', roles: ['approver'] })
    const ways = {
      async key() {
        const { key, id } = await approver()
        return [bearer(key), () => there.admin.send('DELETE', `/api/keys/${id}`)] as const
      },
      async role() {
        const { key, principal } = await approver()
        return [bearer(key), () => there.admin.send('PATCH', `/api/people/${principal.id}`, { body: { roles: [] } })] as const
      },
      async session() {
        const { key } = await approver()
        const signedIn = await signInWithKey(here.url, key)
        const signOut = () => there.with({ ...signedIn, origin: there.url }).send('POST', '/api/sign-out', { body: {} })
        return [{ ...signedIn, origin: here.url }, signOut] as const
      },
      async delegation() {
        const lender = here.with(bearer((await approver()).key))
        const { key, principal } = await here.makeKey({ name: 'Del', kind: 'person', roles: [] })
        const { id } = await lender.post('/api/delegations', { to: principal.id, expiresIn: 'PT1H' })
        return [bearer(key), () => there.admin.send('DELETE', `/api/delegations/${id}`)] as const
      },
    }
    for (const [how, begin] of Object.entries(ways)) {
      const { id } = await bot.post('/api/actions', { tool: 'unkeyed', arguments: { what: how } })
      const [headers, takeAway] = await begin()
      const isHeld = desk.holdCommit()
      const vote = here.with(headers).send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })
      await isHeld
      const afterwards = takeAway().then(async ({ status }) => [status < 300, (await there.admin.get(`/api/actions/${id}`)).state])
      await Promise.race([afterwards, desk.isWaiting()])
      desk.letGo()
      expect((await vote).status, how).toBe(200)
      const [isTaken, state] = await afterwards
      expect([how, isTaken, state]).toEqual([how, true, expect.not.stringMatching('proposed')])
      // The next COMMIT that is held has to be that of the next vote.
      for (const server of [here, there]) await server.settle()
    }
  },
)
