import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { BOOTSTRAP_KEY } from '../testing/bootstrap-key.ts'
import { stillClock } from '../testing/shifted-clock.ts'
import { shortWaits } from '../testing/short-waits.ts'
import { sendSignIn } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

// The record shows each refused attempt: who made it, what it was, where it came from and how often.

/** The minute in which repeats are counted ends with the server, however long that takes. */
const longMinute = shortWaits(60_000)

async function start(clock = longMinute) {
  const target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const server = await startTestServer({ config: { agents: {}, tools: toolsOf(target) }, clock })
  return {
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

/** Resolves with the rows about refusals, oldest first, once there are at least this many. */
async function refusedRows(server: TestServer, least: number) {
  for (;;) {
    const { items } = await server.admin.get('/api/audit?kind=refused&limit=200')
    if (items.length >= least) return items.toReversed()
    await turn()
  }
}

test('what an agent tries and may not is in the record: to approve its own action, to make a key, to change the policy', async () => {
  await using world = await start()
  const { server } = world
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  const action = await bot.post('/api/actions', { tool: 'keyed', arguments: { what: 'one' } })
  const path = `/api/actions/${action.id}/decision`
  expect((await bot.send('POST', path, { body: { verdict: 'approve' } })).status).toBe(403)
  // An answer does not wait for its row, and two rows may be stored in any order.
  await refusedRows(server, 1)
  expect((await bot.send('POST', '/api/keys', { body: { name: 'mine', kind: 'person', roles: ['admin'] } })).status).toBe(403)
  expect(await refusedRows(server, 2)).toMatchObject([
    { actor: { id: bot.principal.id, kind: 'agent' }, data: { route: 'POST /api/actions/:id/decision', path, code: 'forbidden' } },
    { actor: { id: bot.principal.id }, data: { route: 'POST /api/keys', code: 'forbidden', address: '127.0.0.1' } },
  ])
})

test('what nobody known tries is in the record with the address, and never with the key that was guessed', async () => {
  await using world = await start()
  const { server } = world
  const guess = 'cs_a_guess_of_somebody'
  await server.with({ authorization: `Bearer ${guess}` }).send('POST', '/api/actions', { body: { tool: 'keyed', arguments: {} } })
  const rows = await refusedRows(server, 1)
  expect(rows).toMatchObject([{ actor: { kind: 'system' }, data: { code: 'unauthenticated', address: '127.0.0.1' } }])
  expect(JSON.stringify(rows)).not.toContain(guess)
})

test('an action that one may not see: the try to decide it is in the record', async () => {
  await using world = await start()
  const { server } = world
  const [bot, stranger] = [
    await server.as({ name: 'bot', kind: 'agent' }),
    await server.as({ name: 'Eve', kind: 'person', roles: ['viewers'] }),
  ]
  const { id } = await bot.post('/api/actions', { tool: 'keyed', arguments: { what: 'one' } })
  expect((await stranger.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })).status).toBe(404)
  expect(await refusedRows(server, 1)).toMatchObject([
    { actor: { id: stranger.principal.id }, data: { path: `/api/actions/${id}/decision`, code: 'not_found' } },
  ])
})

test('a flood of refusals is some rows and their number, also when the server stops', async () => {
  await using world = await start()
  const { server } = world
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  const same = Array.from({ length: 50 }, () => bot.send('DELETE', '/api/keys/key_of_nobody'))
  const others = Array.from({ length: 50 }, (_, i) => bot.send('DELETE', `/api/keys/key_${i}`))
  for (const { status } of await Promise.all([...same, ...others])) expect([403, 404, 429]).toContain(status)
  await server.restart()
  const rows = await refusedRows(server, 20)
  expect(rows.length).toBeLessThanOrEqual(23)
  const times = rows.map(({ data }: { data: { times?: number } }) => data.times ?? 1)
  expect(times.reduce((sum: number, one: number) => sum + one, 0)).toBe(100)
})

test('different attempts at one path are rows of their own, and a repeat within a minute shares the row of its reason', async () => {
  await using world = await start()
  const { server } = world
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  for (const tool of ['typo.one', 'bank.transferAll', 'bank.deleteAccount', 'typo.one'])
    expect((await bot.send('POST', '/api/actions', { body: { tool, arguments: {} } })).status).toBe(404)
  await server.restart()
  // All rows are stored when a server has stopped.
  const { items } = await server.admin.get('/api/audit?kind=refused')
  const said = items.map(({ data: { why, times } }: { data: { why: string; times?: number } }) => `${why} ${times ?? '-'}`)
  expect(said.sort()).toEqual([
    'there is no tool bank.deleteAccount -',
    'there is no tool bank.transferAll -',
    'there is no tool typo.one -',
    'there is no tool typo.one 1',
  ])
})

test('attempts with ever other reasons have 20 rows a minute, and their number', async () => {
  await using world = await start()
  const { server } = world
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  for (let i = 0; i < 40; i++)
    expect((await bot.send('POST', '/api/actions', { body: { tool: `typo.n${i}`, arguments: {} } })).status).toBe(404)
  await server.restart()
  const { items } = await server.admin.get('/api/audit?kind=refused&limit=200')
  expect(items.map(({ data: { times } }: { data: { times?: number } }) => times ?? 1)).toEqual([20, ...Array(20).fill(1)])
  expect(items[0].data.why).toBe('more refusals than have a row of their own')
})

test('a flood of somebody without a key does not hide what an agent tries', async () => {
  await using world = await start()
  const { server } = world
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  const flood = Array.from({ length: 40 }, (_, i) => server.with({ authorization: `Bearer cs_${i}` }).send('DELETE', `/api/keys/key_${i}`))
  await Promise.all(flood)
  await bot.send('POST', '/api/keys', { body: { name: 'mine', kind: 'person', roles: ['admin'] } })
  for (;;) {
    const { items } = await server.admin.get('/api/audit?kind=refused&limit=200')
    if (items.some(({ actor }: { actor: { id: string } }) => actor.id === bot.principal.id)) break
    await turn()
  }
})

test('reading what one may not writes nothing', async () => {
  await using world = await start()
  const { server } = world
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  expect((await bot.send('GET', '/api/audit')).status).toBe(403)
  await bot.send('POST', '/api/keys', { body: { name: 'mine', kind: 'person', roles: ['admin'] } })
  expect(await refusedRows(server, 1)).toHaveLength(1)
})

test('a sign-in at the console with the key of an agent, or from a page of another origin, is in the record', async () => {
  await using world = await start()
  const { server } = world
  const { key } = await server.makeKey({ name: 'bot', kind: 'agent' })
  expect((await sendSignIn(server.url, { key })).status).toBe(403)
  const [row] = await refusedRows(server, 1)
  expect(row).toMatchObject({ actor: { kind: 'system' }, data: { route: 'POST /api/sign-in', why: expect.stringContaining('persons') } })
  const fromElsewhere = () => sendSignIn(server.url, { key: BOOTSTRAP_KEY }, { origin: 'http://localhost:1' })
  for (let i = 0; i < 2; i++) expect((await fromElsewhere()).status).toBe(403)
  // A repeat from the same address within a minute: the restart stores its count as one more row.
  await server.restart()
  const rows = await refusedRows(server, 3)
  const refused = { route: 'POST /api/sign-in', why: expect.stringContaining('same Origin') }
  expect(rows).toMatchObject([{}, { data: refused }, { data: { ...refused, times: 1 } }])
  expect(JSON.stringify(rows)).not.toContain(key)
})

test('every refused sign-in is counted in the record, also the last ones before the server stops', async () => {
  // As time passes, more of them have a row.
  await using world = await start({ ...longMinute, nowMs: stillClock().nowMs })
  const { server } = world
  for (let i = 0; i < 25; i++) expect((await sendSignIn(server.url, { link: String(i).padStart(72, 'A') })).status).toBe(401)
  await server.restart()
  const { items } = await server.admin.get('/api/audit?kind=sign_in_refused&limit=200')
  expect(items.length).toBeLessThan(13)
  const counted = items.map(({ data }: { data: { unrecorded: number } }) => 1 + data.unrecorded)
  expect(counted.reduce((sum: number, one: number) => sum + one, 0)).toBe(25)
})
