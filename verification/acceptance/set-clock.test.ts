import { expect, inject, test } from 'vitest'
import type { ApiClient } from '../testing/api-client.ts'
import { shiftedClock } from '../testing/shifted-clock.ts'
import { signInLocally } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

// On Postgres the time is the database's: the campaign's part `races` runs with processes whose clocks jump.
const onSqlite = test.skipIf(inject('database') !== 'sqlite')

onSqlite(
  'a clock that is set ahead and back: what expired stays expired, what waits waits as much longer, and nothing is done twice',
  async () => {
    const clock = shiftedClock()
    await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
    await using server = await startTestServer({
      clock,
      config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: toolsOf(target) },
      scripts: { desk: [{ text: 'Done.' }] },
    })
    const { admin } = server
    const bot = await server.as({ name: 'bot', kind: 'agent' })
    const propose = (what: string, more = {}) => bot.post('/api/actions', { tool: 'unkeyed', arguments: { what }, ...more })
    const approve = (id: string, more = {}) => admin.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve', ...more } })
    const stateOf = async (id: string) => (await admin.get(`/api/actions/${id}`)).state

    const [early, waiting] = [await propose('early', { expiresIn: 'PT10M' }), await propose('waiting', { expiresIn: 'PT2H' })]
    clock.pass(HOUR_MS)
    expect((await approve(early.id)).status).toBe(409)
    clock.pass(-HOUR_MS)
    expect([(await approve(early.id)).status, await stateOf(early.id)]).toEqual([409, 'expired'])

    const [inGrace, longer] = [await propose('in grace'), await propose('longer', { expiresIn: 'PT10M' })]
    expect((await approve(inGrace.id, { startAfter: 'PT1M' })).body.state).toBe('approved')
    clock.pass(-HOUR_MS)
    clock.pass(20 * MINUTE_MS)
    expect([await stateOf(longer.id), await stateOf(inGrace.id)]).toEqual(['proposed', 'approved'])
    expect((await approve(waiting.id)).status).toBe(200)
    await server.settle()
    expect([await stateOf(waiting.id), target.writes.length]).toEqual(['succeeded', 1])
    expect((await admin.send('POST', `/api/actions/${inGrace.id}/undo`, { body: {} })).body.state).toBe('proposed')
    clock.pass(HOUR_MS)
    expect([(await approve(waiting.id)).status, (await approve(longer.id)).status]).toEqual([200, 409])
    await server.settle()
    expect(target.writes.map(({ body }) => body)).toEqual([{ what: 'waiting' }])
    expect(server.errors).toEqual([])
  },
)

onSqlite(
  'a clock that is wrong for an hour locks nobody out: sign-ins, keys, tokens, grants and chat words end with it, and are good again',
  async () => {
    const clock = shiftedClock()
    await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
    await using server = await startTestServer({
      clock,
      config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: toolsOf(target) },
      scripts: { desk: [1, 2, 3].flatMap((n) => [{ calls: [{ tool: 'unkeyed', arguments: { what: `asked ${n}` } }] }, { text: 'Done.' }]) },
    })
    const { admin } = server
    const bot = await server.as({ name: 'bot', kind: 'agent', person: null })
    const portal = await server.as({ name: 'portal', kind: 'service', scopes: ['embed'], embedRoles: ['approver'], person: null })
    const propose = async (tool = 'unkeyed') =>
      (await bot.post('/api/actions', { tool, arguments: { what: `${tool} ${clock.nowMs()}` } })).id
    const withKey = (key: string) => server.with({ authorization: `Bearer ${key}` })
    /** Everything that somebody may hold, made now. */
    const comeIn = async (): Promise<Record<string, ApiClient>> => {
      const { key } = await server.makeKey({ name: 'for a while', kind: 'person', roles: ['approver'], expiresIn: 'PT30M' })
      const { token } = await portal.post('/api/embed-tokens', { person: 'ana', roles: ['approver'], expiresIn: 'PT30M' })
      const page = server.with({ ...(await signInLocally(server)), origin: server.url })
      return { 'a key': withKey(key), 'an embed token': withKey(token), 'a page': page }
    }
    const decides = async (who: ApiClient) =>
      (await who.send('POST', `/api/actions/${await propose()}/decision`, { body: { verdict: 'approve' } })).status
    const say = async () => {
      using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
      const { sessionId } = await stream.next('session')
      await stream.next('session_status', ({ status }) => status === 'waiting_approval')
      const typed = async (ms: number) => {
        clock.pass(ms)
        return (await admin.post(`/api/sessions/${sessionId}/messages`, { content: 'approve' })).decided?.length ?? 0
      }
      return typed
    }

    const early = await comeIn()
    const typedEarly = await say()
    await admin.post('/api/grants', { actionId: await propose('keyed'), scope: 'agent', expiresIn: 'PT30M', when: 'true' })
    const isGranted = async () => (await admin.get(`/api/actions/${await propose('keyed')}`)).state !== 'proposed'
    expect(await isGranted()).toBe(true)

    clock.pass(HOUR_MS)
    for (const [what, who] of Object.entries(early)) expect(await decides(who), what).toBe(what === 'a page' ? 200 : 401)
    expect(await isGranted()).toBe(false)
    const ahead = await comeIn()
    for (const [what, who] of Object.entries(ahead)) expect(await decides(who), what).toBe(200)
    const typedAhead = await say()

    clock.pass(-HOUR_MS)
    for (const [what, who] of [...Object.entries(early), ...Object.entries(ahead), ...Object.entries(await comeIn())])
      expect(await decides(who), what).toBe(200)
    expect(await isGranted()).toBe(true)
    expect([await typedAhead(0), await typedEarly(2_000)]).toEqual([1, 1])
    await server.settle()
    expect(server.errors).toEqual([])
  },
)
