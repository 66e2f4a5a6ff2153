import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Action } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { parse } from 'yaml'
import { type ChildServer, startChildServer } from '../testing/child-server.ts'
import { settled } from '../testing/decisions.ts'
import { openFaultProxy, throughProxy } from '../testing/fault-proxy.ts'
import { createDatabase, dumpInto, type PostgresCluster, runOn, startPostgres } from '../testing/postgres.ts'
import { startTarget, type Target, type TargetAnswer, toolsOf } from '../testing/target.ts'
import { openTestDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const onPostgres = test.skipIf(inject('database') !== 'postgres')

const SOON = { interval: 200 }

const bodiesOf = ({ writes }: Target) => writes.map(({ body }) => (body as { what: string }).what)

onPostgres('a dump that is restored into another database starts held, and a restart on the same database does not', async () => {
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const original = stack.use(await openTestDatabase())
  const copy = stack.use(await openTestDatabase({ isEmpty: true }))
  const never = Promise.withResolvers<TargetAnswer>()
  stack.defer(() => never.resolve({ status: 200 }))
  const target = stack.use(await startTarget((_request, nth) => (nth <= 2 ? never.promise : { status: 200 })))
  const start = async (url: string, flags = {}) =>
    stack.use(
      await startTestServer({
        config: { tools: toolsOf(target) },
        place: { dataDir: join(folder, 'data'), environment: { DATABASE_URL: url } },
        flags,
      }),
    )
  const first = await start(original.url, { maxExecutions: 2 })
  const approve = async (tool: string, what: string): Promise<Action> => {
    const { id } = await first.admin.post('/api/actions', { tool, arguments: { what } })
    return first.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  }
  await approve('keyed', 'k1')
  await approve('unkeyed', 'u1')
  await expect.poll(() => target.writes.length, SOON).toBe(2)
  await approve('unkeyed', 'u2')
  dumpInto(original.url, copy.url)

  const held = await start(copy.url)
  expect(await held.admin.get('/api/hold')).toMatchObject({ held: true, open: { approved: 1, executing: 2 } })
  await held.settle()
  expect(bodiesOf(target).sort()).toEqual(['k1', 'u1'])
  await first.stop()
  const second = await start(original.url)
  expect((await second.admin.get('/api/hold')).held).toBe(false)
  await expect.poll(() => bodiesOf(target).filter((what) => what === 'u2'), SOON).toEqual(['u2'])
})

/** The variables that `compose.yaml` sets to a place in the volume of the server, with this folder in its place. */
function composeEnvironment(dataDir: string): Record<string, string> {
  const { services } = parse(readFileSync(new URL('../../compose.yaml', import.meta.url), 'utf8'))
  const variables = Object.entries<string>(services.server.environment).filter(([, value]) => value.startsWith('/data/'))
  return Object.fromEntries(variables.map(([name, value]) => [name, value.replace('/data', dataDir)]))
}

onPostgres('with Compose, a dump that is put back into its own database is held, and a restart without that is not', async () => {
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const { url } = stack.use(await openTestDatabase())
  const dump = stack.use(await openTestDatabase({ isEmpty: true }))
  const target = stack.use(await startTarget(() => ({ status: 200 })))
  const start = async () =>
    stack.use(
      await startTestServer({
        config: { tools: toolsOf(target) },
        place: { dataDir: folder, environment: { DATABASE_URL: url } },
        environment: composeEnvironment(folder),
      }),
    )
  const first = await start()
  const { id } = await first.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'once' } })
  await first.settle()
  dumpInto(url, dump.url)
  await runOn(dump.url, `update action set state = 'approved' where id = '${id}'`)
  await first.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  expect((await settled(first, id)).state).toBe('succeeded')
  await first.stop()
  const same = await start()
  expect((await same.admin.get('/api/hold')).held).toBe(false)
  await same.stop()

  await runOn(url, 'drop schema graphile_worker, countersign_quiet, public cascade; create schema public')
  dumpInto(dump.url, url)
  const held = await start()
  expect(await held.admin.get('/api/hold')).toMatchObject({
    held: true,
    why: expect.stringContaining('older than what was already committed'),
  })
  await held.settle()
  expect(bodiesOf(target)).toEqual(['once'])
})

interface Pair extends AsyncDisposable {
  readonly primary: PostgresCluster
  readonly standby: PostgresCluster
  readonly target: Target
  readonly database: string
  /** Cuts the standby off from the primary, which then commits without it. */
  lag(): void
  /** Kills every process of the primary with SIGKILL, promotes the standby, and routes all connections to it. */
  failOver(beforeSwitch?: () => Promise<void>): Promise<void>
  start(environment?: Record<string, string>): Promise<ChildServer>
}

/** Opens a primary with a streaming standby, and an address that routes to the one in use. */
async function openPair(): Promise<Pair> {
  const stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const primary = stack.use(await startPostgres({ fsync: false }))
  const link = stack.use(await openFaultProxy({ host: '127.0.0.1', port: primary.port }))
  const url = primary.url('postgres')
  const standby = stack.use(await startPostgres({ fsync: false, copyOf: { url, follows: throughProxy(url, link) } }))
  const databaseUrl = await createDatabase(primary.url('postgres'))
  const database = new URL(databaseUrl).pathname.slice(1)
  const upstream = { host: '127.0.0.1', port: primary.port }
  const address = stack.use(await openFaultProxy(upstream))
  const target = stack.use(await startTarget((_request, nth) => ({ status: 200, body: { id: nth } })))
  const configFile = join(folder, 'countersign.json')
  writeFileSync(configFile, JSON.stringify({ tools: toolsOf(target) }))
  return {
    primary,
    standby,
    target,
    database,
    lag() {
      link.refuse(true)
      link.cutAll()
    },
    async failOver(beforeSwitch = async () => {}) {
      await primary.stop('kill')
      await runOn(standby.url('postgres'), 'select pg_promote()')
      await beforeSwitch()
      upstream.port = standby.port
      address.cutAll()
    },
    start: async (environment = {}) =>
      stack.use(
        await startChildServer({
          configFile,
          dataDir: join(folder, 'data'),
          environment: { DATABASE_URL: throughProxy(databaseUrl, address), ...environment },
        }),
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Proposes and approves actions one by one until it is stopped. Returns the actions whose approval was acknowledged. */
function decideOn({ admin }: ChildServer, name: string) {
  let isStopped = false
  const acknowledged: string[] = []
  const ended = (async () => {
    for (let n = 1; !isStopped; n++) {
      const what = `${name}${n}`
      const proposed = await admin.send('POST', '/api/actions', { body: { tool: n % 2 ? 'unkeyed' : 'keyed', arguments: { what } } })
      if (proposed.status !== 201) continue
      const decided = await admin.send('POST', `/api/actions/${proposed.body.id}/decision`, { body: { verdict: 'approve' } })
      if (decided.status === 200) acknowledged.push(proposed.body.id)
    }
  })()
  return {
    acknowledged,
    async stop() {
      isStopped = true
      await ended
    },
  }
}

const readiness = async ({ admin }: ChildServer): Promise<unknown> => {
  const { status, body } = await admin.send('GET', '/readyz')
  return status === 200 ? body.status : status
}

onPostgres('failover to a synchronous standby is no copy: nobody is held and no acknowledged decision is lost', async () => {
  await using pair = await openPair()
  await runOn(pair.primary.url('postgres'), "alter system set synchronous_standby_names = '*'")
  await runOn(pair.primary.url('postgres'), 'select pg_reload_conf()')
  const servers = [await pair.start(), await pair.start()]
  const traffic = servers.map((server, i) => decideOn(server, 'ab'.charAt(i)))
  await expect.poll(() => Math.min(...traffic.map(({ acknowledged }) => acknowledged.length)), SOON).toBeGreaterThan(20)
  await pair.failOver()
  const before = traffic.map(({ acknowledged }) => acknowledged.length)
  await expect.poll(() => traffic.every(({ acknowledged }, i) => acknowledged.length > (before[i] ?? 0) + 5), SOON).toBe(true)
  for (const { stop } of traffic) await stop()
  const fresh = await pair.start()
  for (const server of [...servers, fresh]) {
    await expect.poll(() => readiness(server), SOON).toBe('ok')
    expect(await server.admin.get('/api/hold')).toMatchObject({ held: false, epoch: 1 })
  }
  const acknowledged = traffic.flatMap(({ acknowledged }) => acknowledged)
  for (const id of acknowledged) {
    const { state } = await settled(fresh, id)
    expect([id, state]).toEqual([id, expect.stringMatching(/^(succeeded|outcome_unknown)$/)])
  }
  const unkeyed = pair.target.writes.filter(({ path }) => path === '/unkeyed').map(({ body }) => JSON.stringify(body))
  expect(unkeyed.length).toBe(new Set(unkeyed).size)
})

onPostgres('a standby that lacks what was committed holds the processes that know it: what was done is not done again', async () => {
  await using pair = await openPair()
  const servers = [await pair.start(), await pair.start()]
  const [first] = servers
  if (!first) return
  const { id } = await first.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'once' } })
  await expect
    .poll(async () => (await runOn(pair.standby.url(pair.database), `select id from action where id = '${id}'`)).length, SOON)
    .toBe(1)
  pair.lag()
  await first.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  expect((await settled(first, id)).state).toBe('succeeded')
  // Puts the standby where the approval was replicated and the start was not.
  await pair.failOver(async () => {
    await runOn(pair.standby.url(pair.database), `update action set state = 'approved' where id = '${id}'`)
  })
  const expectHeld = async (server: ChildServer) => {
    await expect.poll(() => readiness(server), SOON).toBe('held')
    expect((await server.admin.get('/api/hold')).why).toContain('does not hold what was already committed')
  }
  for (const server of servers) await expectHeld(server)
  // One that starts before them holds everything as well, because nobody vouches for what was promoted: that is the next test.
  await expectHeld(await pair.start())
  expect(bodiesOf(pair.target)).toEqual(['once'])

  // A person accepts what is there: also the processes that know what it lacks go on, for several looks of each.
  await first.admin.post('/api/hold/accept')
  for (const server of servers) await expect.poll(() => readiness(server), SOON).toBe('ok')
  for (let look = 0; look < 10; look++) {
    await setTimeout(500)
    for (const server of servers) expect([look, (await server.admin.get('/api/hold')).held]).toEqual([look, false])
  }
  const { id: next } = await first.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'next' } })
  await first.admin.post(`/api/actions/${next}/decision`, { verdict: 'approve' })
  expect((await settled(first, next)).state).toBe('succeeded')
})

onPostgres('a promoted database is held at a start that nothing vouches for, and not at one whose file does', async () => {
  await using pair = await openPair()
  await using folder = Object.assign(temporaryFolder(), { [Symbol.asyncDispose]: async () => {} })
  const environment = { COUNTERSIGN_INSTANCE_FILE: join(folder.path, 'instance') }
  const server = await pair.start(environment)
  const { id } = await server.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'later' } })
  await expect
    .poll(async () => (await runOn(pair.standby.url(pair.database), `select id from action where id = '${id}'`)).length, SOON)
    .toBe(1)
  await server.kill()
  await pair.failOver()
  const vouched = await pair.start(environment)
  expect(await vouched.admin.get('/api/hold')).toMatchObject({ held: false, epoch: 1 })
  await vouched.kill()
  // The same without the file: the timeline stored in the row shows a promotion.
  await runOn(pair.standby.url(pair.database), "update instance set timeline = '00000001'")
  const cold = await pair.start()
  expect(await cold.admin.get('/api/hold')).toMatchObject({ held: true, why: expect.stringContaining('promoted or restored') })
})

onPostgres('a database that was used with a token is held for whoever has another one', async () => {
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const { url } = stack.use(await openTestDatabase())
  const start = async (token?: string) =>
    stack.use(
      await startTestServer({
        config: {},
        place: { dataDir: folder, environment: { DATABASE_URL: url } },
        environment: token === undefined ? {} : { COUNTERSIGN_INSTANCE_TOKEN: token },
      }),
    )
  const first = await start('one')
  await expect(start('two')).rejects.toThrow('COUNTERSIGN_INSTANCE_TOKEN')
  await first.stop()
  const same = await start('one')
  expect((await same.admin.get('/api/hold')).held).toBe(false)
  await same.stop()
  const other = await start('two')
  expect(await other.admin.get('/api/hold')).toMatchObject({ held: true, why: expect.stringContaining('COUNTERSIGN_INSTANCE_TOKEN') })
})

onPostgres('a process that was away while the database was accepted does not hold those that work on it', async () => {
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const { url } = stack.use(await openTestDatabase())
  const start = async (name: string, flags = {}) =>
    stack.use(
      await startTestServer({
        config: {},
        place: { dataDir: folder, environment: { DATABASE_URL: url } },
        environment: { COUNTERSIGN_INSTANCE_FILE: join(folder, name) },
        flags,
      }),
    )
  const before = [await start('a'), await start('b'), await start('c')]
  for (const server of before) await server.stop()
  const stayed = await start('a', { hold: true })
  await stayed.admin.post('/api/hold/accept')
  const expectToGoOn = async () => expect(await stayed.admin.get('/api/hold')).toMatchObject({ held: false, epoch: 2 })

  await expect(start('b')).rejects.toThrow(`is of epoch 1 or of another database. Other processes are working on it: if this one belongs`)
  writeFileSync(join(folder, 'b'), 'unreadable')
  await expect(start('b')).rejects.toThrow(`remove ${join(folder, 'b')} and start it again`)
  await expectToGoOn()
  rmSync(join(folder, 'b'))
  const back = await start('b')
  expect(await back.admin.get('/api/hold')).toMatchObject({ held: false, epoch: 2 })
  await back.stop()
  const again = await start('b')
  expect((await again.admin.get('/api/hold')).held).toBe(false)
  await expectToGoOn()
  // Nobody shows that the database is right when the others are away: then it is held.
  await again.stop()
  await stayed.stop()
  expect((await (await start('c')).admin.get('/api/hold')).held).toBe(true)
})

onPostgres('a file of a later epoch holds the database, whoever works on it: it is older than what was committed', async () => {
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const database = stack.use(await openTestDatabase())
  const other = stack.use(await openTestDatabase())
  const start = async ({ url }: { url: string }, file?: string, flags = {}) =>
    stack.use(
      await startTestServer({
        config: {},
        place: { dataDir: folder, environment: { DATABASE_URL: url } },
        environment: file === undefined ? {} : { COUNTERSIGN_INSTANCE_FILE: join(folder, file) },
        flags,
      }),
    )
  const accepted = await start(other, 'later', { hold: true })
  await accepted.admin.post('/api/hold/accept')
  await accepted.stop()
  const running = await start(database)
  await start(database, 'later')
  await expect.poll(async () => (await running.admin.get('/api/hold')).held, SOON).toBe(true)
})
