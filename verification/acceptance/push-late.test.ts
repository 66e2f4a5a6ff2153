import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { systemClock } from '../../packages/server/src/clock.ts'
import { atConsole, openDesk, subscribe } from '../testing/push-desk.ts'
import { startPushService } from '../testing/push-service.ts'

const HOUR_MS = 3_600_000

/** Quiet hours that have begun and last for two hours at least. */
function quietFromNow() {
  const hour = new Date().getUTCHours()
  const time = (hours: number) => `${String((hours + 24) % 24).padStart(2, '0')}:00`
  return { from: time(hour - 1), to: time(hour + 3), timeZone: 'UTC' }
}

test('in quiet hours nothing is sent; what still waits is sent after them, and what was decided by then never', async () => {
  await using service = await startPushService()
  let passedMs = 0
  await using desk = await openDesk({ clock: { ...systemClock, nowMs: () => Date.now() + passedMs } })
  const [ana, bo] = await Promise.all([atConsole(desk.server, 'Ana'), atConsole(desk.server, 'Bo')])
  const [at, other] = await Promise.all([subscribe(ana, service), subscribe(bo, service)])
  const quietHours = quietFromNow()
  expect((await ana.send('PATCH', '/api/preferences', { body: { quietHours } })).body).toEqual({
    quietHours,
    undoTime: null,
    density: 'comfortable',
    views: [],
  })
  const [stays, decided] = [await desk.propose('stays'), await desk.propose('decided')]
  await expect.poll(() => service.said(other.endpoint)).toEqual(['show Keyed', 'show Keyed'])
  await bo.post(`/api/actions/${decided.id}/decision`, { verdict: 'decline' })
  await expect.poll(() => service.said(other.endpoint)).toEqual(['show Keyed', 'show Keyed', 'withdraw'])
  await desk.server.settle()
  const waiting = async () =>
    (await desk.server.dump()).webhook_delivery?.filter((row) => (row as { state: string }).state === 'waiting').length
  expect(await waiting()).toBeGreaterThan(0)
  expect(service.said(at.endpoint)).toEqual([])
  for (const wrong of [{ from: '24:00' }, { to: '7' }, { timeZone: 'Mars/Olympus' }, { to: quietHours.from }]) {
    const { status } = await ana.send('PATCH', '/api/preferences', { body: { quietHours: { ...quietHours, ...wrong } } })
    expect(status, JSON.stringify(wrong)).toBe(400)
  }
  passedMs = 4 * HOUR_MS
  await desk.server.restart()
  await expect.poll(waiting).toBe(0)
  expect(service.said(at.endpoint)).toEqual(['show Keyed'])
  expect(service.messages.at(-1)?.data).toMatchObject({ show: { tag: stays.id } })
})

test.each(['assigned', 'edited'])(
  'what is on the screen before quiet hours goes when the action is %s in them and then decided',
  async (how) => {
    await using service = await startPushService()
    await using desk = await openDesk()
    const [ana, bo] = await Promise.all([atConsole(desk.server, 'Ana'), atConsole(desk.server, 'Bo')])
    const at = await subscribe(ana, service)
    const action = await desk.propose('x', 'unkeyed')
    await expect.poll(() => service.said(at.endpoint)).toEqual(['show Unkeyed'])
    await ana.send('PATCH', '/api/preferences', { body: { quietHours: quietFromNow() } })
    const shows = async () =>
      (await desk.server.dump()).webhook_delivery?.filter((row) => (row as { type: string }).type === 'push.show') ?? []
    const before = (await shows()).length
    if (how === 'assigned') await bo.post(`/api/actions/${action.id}/assign`, { to: { person: ana.id } })
    else await bo.post(`/api/actions/${action.id}/decision`, { verdict: 'approve', arguments: { what: 'y' } })
    // The second message waits for the morning.
    await expect.poll(async () => (await shows()).length).toBe(before + 1)
    // It may be asked anew and assigned.
    if (how === 'edited') {
      await bo.post(`/api/actions/${action.id}/assign`, { to: { person: ana.id } })
      await expect.poll(async () => (await shows()).length).toBe(before + 2)
    }
    const { revision, digest }: Action = await desk.server.admin.get(`/api/actions/${action.id}`)
    await desk.server.admin.post(`/api/actions/${action.id}/decision`, { verdict: 'decline', revision, digest })
    await expect.poll(() => service.said(at.endpoint)).toEqual(['show Unkeyed', 'withdraw'])
  },
)

test('a withdrawal that the push service takes late does not take away what has been shown since', async () => {
  let status = 201
  await using service = await startPushService((response) => response.writeHead(status).end())
  await using desk = await openDesk()
  const ana = await atConsole(desk.server, 'Ana')
  await subscribe(ana, service)
  const action = await desk.propose()
  await expect.poll(() => service.said()).toEqual(['show Keyed'])
  status = 503
  await ana.post(`/api/actions/${action.id}/snooze`, { for: 'PT1H' })
  await expect.poll(() => service.said()).toEqual(['show Keyed', 'withdraw'])
  const statesOf = async () =>
    ((await desk.server.dump()).webhook_delivery ?? []) as { type: string; state: string; tries: number | string }[]
  await expect.poll(async () => Number((await statesOf()).find(({ type }) => type === 'push.withdraw')?.tries)).toBe(1)
  status = 201
  await ana.send('DELETE', `/api/actions/${action.id}/snooze`)
  await expect.poll(() => service.said().at(-1)).toBe('show Keyed')
  // The next process makes the second attempt.
  await desk.server.restart()
  await expect.poll(async () => (await statesOf()).filter(({ type, state }) => type === 'push.withdraw' && state === 'waiting')).toEqual([])
  expect(service.said()).toEqual(['show Keyed', 'withdraw', 'show Keyed'])
})

test('a message that the push service could not take is sent again, and one of a lost process by the next', async () => {
  let status = 503
  await using service = await startPushService((response) => response.writeHead(status).end())
  await using desk = await openDesk()
  const ana = await atConsole(desk.server, 'Ana')
  await subscribe(ana, service)
  await desk.propose()
  await expect.poll(() => service.messages.length).toBe(1)
  status = 201
  await desk.server.restart()
  await expect.poll(() => service.said()).toEqual(['show Keyed', 'show Keyed'])
  // The key is the same after a restart: otherwise every browser would have to subscribe again.
  const [one, other] = service.messages.map(({ headers }) => String(headers.authorization).split('k=')[1])
  expect(one).toBe(other)
})
