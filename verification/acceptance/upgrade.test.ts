import { join } from 'node:path'
import type { Action } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { openOlderDatabase } from '../testing/older-database.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

// 17 is the newest migration of the last release before people, keys and caps changed; 22 the newest before that change.
for (const migration of [17, 22]) {
  test(`after an upgrade from migration ${migration}, keys and grants go on, old consoles end, caps count what waits and people are enabled`, async () => {
    await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
    using folder = temporaryFolder()
    const options = {
      config: { agents: {}, tools: toolsOf(target), policy: { limits: { waitingPerAgent: 3 }, rules: [] } },
    }
    const before = await startTestServer(options)
    const make = (name: string, kind: 'person' | 'agent', more = {}) => before.makeKey({ name, kind, ...more })
    const [ana, bot] = [await make('Ana', 'person', { roles: ['approver'] }), await make('bot', 'agent')]
    const limited = await make('half', 'person', { principal: ana.principal.id, scopes: ['propose'] })
    const bearer = ({ key }: { key: string }) => ({ authorization: `Bearer ${key}` })
    const consoleOfAna = await signInWithKey(before.url, ana.key)
    const propose = (server: typeof before, tool: string, what: string) =>
      server.with(bearer(bot)).send('POST', '/api/actions', { body: { tool, arguments: { what } } })
    const granted: Action = (await propose(before, 'unkeyed', 'daily')).body
    const remembered = { verdict: 'approve', remember: { scope: 'agent', expiresIn: 'P1D', exact: true } }
    await before.with(bearer(ana)).post(`/api/actions/${granted.id}/decision`, remembered)
    const waiting: Action[] = []
    for (const what of ['a', 'b', 'c']) waiting.push((await propose(before, 'keyed', what)).body)
    await before.settle()
    expect(target.writes).toHaveLength(1)
    const rows = await before.dump()
    // Before migration 25 an agent was called only what it said itself, which was nothing.
    for (const table of ['action', 'action_grant']) for (const row of rows[table] ?? []) Object.assign(row as object, { agent: null })
    await before[Symbol.asyncDispose]()

    const dataDir = join(folder.path, 'data')
    await using older = await openOlderDatabase({ migration, rows, dataDir, kind: inject('database') })
    await using server = await startTestServer({ ...options, place: { dataDir, environment: older.environment } })

    for (const one of [ana, bot, limited]) expect((await server.with(bearer(one)).get('/api/me')).principal.id).toBe(one.principal.id)
    expect((await server.with({ ...consoleOfAna, origin: server.url }).get('/api/me')).principal).toBeNull()
    const { console_session: sessions = [] } = await server.dump()
    expect(sessions.map((row) => (row as { ended_at: unknown }).ended_at)).not.toContain(null)
    expect(sessions).toHaveLength(1)
    expect(await server.admin.get(`/api/people/${ana.principal.id}`)).toMatchObject({ disabledAt: null })

    // Three of the bot's wait from before, which is its limit.
    expect(await propose(server, 'keyed', 'd')).toMatchObject({ status: 429, body: { code: 'too_many_waiting', limit: 3 } })
    const [first] = waiting
    expect(
      await server.with(bearer(limited)).send('POST', `/api/actions/${first?.id}/decision`, { body: { verdict: 'approve' } }),
    ).toMatchObject({
      status: 403,
    })
    const decided = await server.with(bearer(ana)).post(`/api/actions/${first?.id}/decision`, { verdict: 'approve' })
    expect(decided.requesters).toMatchObject([{ id: bot.principal.id }])
    await server.settle()
    expect(target.writes.map(({ body }) => body)).toEqual([{ what: 'daily' }, { what: 'a' }])
    expect((await propose(server, 'keyed', 'd')).status).toBe(201)
    // What was granted runs unasked.
    expect((await propose(server, 'unkeyed', 'daily')).body).toMatchObject({
      state: 'approved',
      policy: { rule: expect.stringMatching(/^grant /) },
    })
    await server.settle()
    expect(target.writes).toHaveLength(3)
  })
}
