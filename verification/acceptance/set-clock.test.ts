import { expect, inject, test } from 'vitest'
import { shiftedClock } from '../testing/shifted-clock.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

// On Postgres the time is the database's: the campaign's part `races` runs with processes whose clocks jump.
test.skipIf(inject('database') !== 'sqlite')(
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
