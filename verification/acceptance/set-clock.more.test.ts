import { expect, inject, test } from 'vitest'
import { shiftedClock } from '../testing/shifted-clock.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const YEAR_MS = 365 * 86_400_000
// On Postgres the time is the database's.
test.skipIf(inject('database') !== 'sqlite')(
  'a server that starts years too early or late works, and goes on when its clock is right',
  async () => {
    const clock = shiftedClock()
    await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
    await using server = await startTestServer({
      clock,
      config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: toolsOf(target) },
      scripts: {
        desk: [1, 2, 3, 4, 5, 6].flatMap((n) => [{ calls: [{ tool: 'unkeyed', arguments: { what: `asked ${n}` } }] }, { text: 'Done.' }]),
      },
    })
    /** Does what people and agents do in a day, and looks at it. */
    const act = async () => {
      const { admin } = server
      const bot = await server.as({ name: `bot ${clock.nowMs()}`, kind: 'agent' })
      const proposed = await bot.post('/api/actions', { tool: 'unkeyed', arguments: { what: `${clock.nowMs()}` } })
      await admin.post(`/api/actions/${proposed.id}/decision`, { verdict: 'approve' })
      expect((await admin.get(`/api/actions/${proposed.id}?wait=60&until=settled`)).state).toBe('succeeded')
      using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
      const { proposal } = await stream.next('action_proposed')
      await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
      await stream.next('done')
      await server.settle()
      const audit = await admin.get('/api/audit')
      expect(audit.items.length).toBeGreaterThan(0)
      await expect.poll(async () => (await admin.send('GET', '/readyz')).body).toEqual({ status: 'ok' })
      expect((await admin.send('GET', '/metrics')).status).toBe(200)
      expect((await admin.send('GET', '/api/stats')).status).toBe(200)
    }
    await act()
    for (const jump of [-5 * YEAR_MS, 5 * YEAR_MS, 20 * YEAR_MS, -20 * YEAR_MS]) {
      clock.pass(jump)
      await act()
      await server.restart()
      await act()
    }
    expect(target.writes).toHaveLength(18)
    expect(server.errors).toEqual([])
  },
)
