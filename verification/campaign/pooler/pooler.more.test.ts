import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../packages/server/src/clock.ts'
import { requirePreparedStatements } from '../../../packages/server/src/store/postgres/pooler.ts'
import { openPostgres } from '../../../packages/server/src/store/postgres/postgres.ts'
import { startChildServer } from '../../testing/child-server.ts'
import { settled } from '../../testing/decisions.ts'
import { startTarget, toolsOf } from '../../testing/target.ts'
import { openTestDatabase } from '../../testing/test-database.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { findPgBouncer } from './pgbouncer-binary.ts'
import { type PoolerOptions, startPooler } from './pooler.ts'

// A small part of `npm run test:campaign -- --only pooler`.
const found = (() => {
  try {
    return { binary: findPgBouncer(), why: undefined }
  } catch (error) {
    return { binary: '', why: String(error) }
  }
})()
if (found.why !== undefined) console.warn(`pooler.test.ts is skipped: ${found.why}`)

async function openPooled(more: Partial<PoolerOptions> = {}) {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await openTestDatabase())
  const options = { binary: found.binary, databaseUrl: database.url, mode: 'transaction', maxPreparedStatements: 200 } as const
  const pooler = stack.use(await startPooler({ ...options, ...more }))
  const owned = stack.move()
  return { pooler, directUrl: database.url, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const refusalOf = (options: { url: string; directUrl?: string }) =>
  openPostgres({ ...options, onCommitted: () => undefined }).then(
    async (store) => {
      await store.close()
      return undefined
    },
    (error: Error) => error.message,
  )

describe.skipIf(found.why !== undefined)('behind PgBouncer', () => {
  test('without the direct address the server does not start, and says which variable to set', async () => {
    for (const mode of ['transaction', 'session'] as const) {
      await using pooled = await openPooled({ mode })
      expect(await refusalOf({ url: pooled.pooler.url })).toMatch(/^DATABASE_URL leads to a pooler.*set DATABASE_DIRECT_URL/)
    }
  })

  test('a direct address that leads to the pooler as well is refused', async () => {
    await using pooled = await openPooled()
    const { url } = pooled.pooler
    expect(await refusalOf({ url, directUrl: url })).toMatch(/^DATABASE_DIRECT_URL leads to a pooler/)
  })

  test('a pooler that is paused when the server starts is waited for', async () => {
    await using pooled = await openPooled()
    const { pooler, directUrl } = pooled
    pooler.signal('SIGUSR1')
    const opening = refusalOf({ url: pooler.url, directUrl })
    // The first attempt is refused or waits; SIGUSR2 resumes the pooler.
    setTimeout(() => pooler.signal('SIGUSR2'), 500)
    expect(await opening).toBe(undefined)
  })

  test('a pooler that loses prepared statements is refused at the start', async () => {
    await using pooled = await openPooled({ maxPreparedStatements: 0 })
    expect(await refusalOf({ url: pooled.pooler.url, directUrl: pooled.directUrl })).toMatch(/max_prepared_statements = 200/)
  })

  // Others take the backend where the statement is, and give it back: 17 of 40 such checks found nothing wrong.
  test('beside busy clients a pooler that loses prepared statements is refused every time, and one that keeps them never', async () => {
    const check = (url: string) =>
      requirePreparedStatements(url, systemClock).then(
        () => 'accepted',
        (error: Error) => error.message,
      )
    const checks = [
      { mode: 'transaction', maxPreparedStatements: 0, expected: /max_prepared_statements = 200/ },
      { mode: 'transaction', maxPreparedStatements: 200, expected: /^accepted$/ },
      { mode: 'session', maxPreparedStatements: 0, expected: /^accepted$/ },
    ] as const
    for (const { expected, ...options } of checks) {
      await using pooled = await openPooled(options)
      await using _busy = await busyClients(pooled.pooler.url, 4)
      for (let i = 0; i < 25; i++) expect(await check(pooled.pooler.url)).toMatch(expected)
    }
  })

  test('a pooler ends with the process that started it, also when that is killed', async () => {
    await using database = await openTestDatabase()
    const options = { binary: found.binary, databaseUrl: database.url, mode: 'transaction', maxPreparedStatements: 200 }
    const program = `import { startPooler } from ${JSON.stringify(new URL('./pooler.ts', import.meta.url).href)}
      console.log((await startPooler(${JSON.stringify(options)})).url)`
    const starter = spawn(process.execPath, ['--conditions=countersign-source', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(createInterface(starter.stdout), 'line')
    const port = Number(new URL(String(line)).port)
    const connection = connect(port, '127.0.0.1')
    // It accepts nobody who has not said something: this asks for TLS.
    connection.write(Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]))
    await once(connection, 'data')
    const closed = once(connection, 'close')
    starter.kill('SIGKILL')
    await closed
    // Of a process that dies, one socket goes after the other: the port may be open for a moment longer.
    const knock = async (): Promise<unknown> => {
      const socket = connect(port, '127.0.0.1')
      const refused = await once(socket, 'connect').catch(({ code }) => code)
      socket.destroy()
      return refused
    }
    await expect.poll(knock).toBe('ECONNREFUSED')
  })

  test('with both addresses decisions count and run once while the pooler is killed, paused and reloaded and its connections rotate', async () => {
    await using pooled = await openPooled({ serverLifetimeSeconds: 1 })
    const { pooler } = pooled
    using folder = temporaryFolder()
    await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
    const configFile = join(folder.path, 'countersign.json')
    writeFileSync(configFile, JSON.stringify({ tools: toolsOf(target) }))
    const environment = { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: pooled.directUrl }
    const start = () => startChildServer({ configFile, dataDir: join(folder.path, 'data'), environment })
    await using first = await start()
    await using second = await start()
    const troubles = [
      async () => pooler.killAndStart(),
      async () => pooler.signal('SIGHUP'),
      async () => {
        pooler.signal('SIGUSR1')
        pooler.signal('SIGUSR2')
      },
    ]
    const whats: string[] = []
    for (let round = 0; round < 6; round++) {
      const trouble = troubles[round % troubles.length]?.()
      await Promise.all(
        Array.from({ length: 8 }, async (_, i) => {
          const what = `round ${round}, ${i}`
          whats.push(what)
          const { id } = await first.admin.post('/api/actions', { tool: i % 2 === 0 ? 'keyed' : 'unkeyed', arguments: { what } })
          await second.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
          expect(await settled(first, id)).toMatchObject({ state: 'succeeded', attempt: 1 })
        }),
      )
      await trouble
    }
    expect(target.writes.map(({ body }) => (body as { what: string }).what).sort()).toEqual(whats.sort())
    await expect.poll(async () => (await second.admin.send('GET', '/readyz')).status).toBe(200)
  })

  test('the main job goes through PgBouncer whole: a chat asks, a person approves at another server, the tool runs once, the session goes on', {
    timeout: 600_000,
  }, async () => {
    await using stack = new AsyncDisposableStack()
    const { pooler, directUrl } = stack.use(await openPooled({ serverLifetimeSeconds: 1 }))
    const folder = stack.use(temporaryFolder())
    const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
    const steps = [{ calls: [{ tool: 'unkeyed', arguments: { what: 'the job' } }] }, { text: 'It is done.' }]
    writeFileSync(join(folder.path, 'job.json'), JSON.stringify({ steps }))
    const configFile = join(folder.path, 'countersign.json')
    const agents = { desk: { model: 'scripted/job.json', tools: ['unkeyed'] } }
    writeFileSync(configFile, JSON.stringify({ agents, tools: toolsOf(target) }))
    const environment = { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: directUrl }
    const start = async () => stack.use(await startChildServer({ configFile, dataDir: join(folder.path, 'data'), environment }))

    const first = await start()
    const stream = await first.admin.stream('/api/chat', { body: { message: 'Do the job.' } })
    const { sessionId } = await stream.next('session')
    const { proposal } = await stream.next('action_proposed')
    await stream.next('session_status', (data) => data.status === 'waiting_approval')
    expect(target.writes).toEqual([])
    // The process that made the proposal is gone when the person decides, and so are all its connections.
    await first.kill()
    await pooler.killAndStart()

    const second = await start()
    const { pendingApprovals } = await second.admin.get(`/api/sessions/${sessionId}`)
    expect(pendingApprovals).toEqual([proposal])
    using watching = await second.admin.stream(`/api/sessions/${sessionId}/events`)
    const { revision, digest } = proposal
    await second.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve', revision, digest })
    await watching.next('message', ({ message }) => message.role === 'assistant' && message.content === 'It is done.')
    await watching.next('done')
    expect(await second.admin.get(`/api/actions/${proposal.id}`)).toMatchObject({ state: 'succeeded', attempt: 1, result: { id: 1 } })
    expect(target.writes.map(({ body }) => body)).toEqual([expect.objectContaining({ what: 'the job' })])
    expect((await second.admin.get('/api/audit?limit=200')).items.map(({ kind }: { kind: string }) => kind)).toEqual(
      expect.arrayContaining(['proposed', 'approved', 'executing', 'succeeded']),
    )
    expect(await transactionsThrough(pooler.url)).toBeGreaterThan(10)
  })
})

/** How many transactions PgBouncer has passed on since it started. */
async function transactionsThrough(url: string): Promise<number> {
  const console = new URL(url)
  const database = console.pathname.slice(1)
  console.pathname = '/pgbouncer'
  const client = new Client({ connectionString: console.href })
  await client.connect()
  try {
    const { rows } = await client.query('show stats_totals')
    return Number(rows.find((row) => row.database === database)?.xact_count)
  } finally {
    await client.end()
  }
}

/** Clients that use the pooler all the time, each for a moment and with pauses. */
async function busyClients(url: string, count: number) {
  const clients = Array.from({ length: count }, () => new Client({ connectionString: url }))
  await Promise.all(clients.map((client) => client.connect()))
  let isOver = false
  const work = clients.map(async (client, i) => {
    for (let round = i; !isOver; round++) {
      await client.query(`select pg_sleep(${(round % 4) / 1000})`)
      await new Promise((resolve) => setTimeout(resolve, round % 5))
    }
    await client.end()
  })
  return {
    async [Symbol.asyncDispose]() {
      isOver = true
      await Promise.all(work)
    },
  }
}
