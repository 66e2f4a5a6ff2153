import type { Action, ActionList, PolicyDocument } from '@countersign/core'
import { expect, test } from 'vitest'
import { systemClock } from '../../packages/server/src/clock.ts'
import { startPushService } from '../testing/push-service.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** A server whose clock can be moved on, an agent that asks, and people at consoles of their own. */
async function startDesk(rule: object = {}) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const policy = { default: 'ask', rules: [{ name: 'all', match: {}, verdict: 'ask', ...rule }] } as PolicyDocument
  let passedMs = 0
  const clock = { ...systemClock, nowMs: () => Date.now() + passedMs }
  const config = { tools: toolsOf(target), policy, network: { allow: ['127.0.0.1'] } }
  const server = stack.use(await startTestServer({ config, clock }))
  const agent = await server.as({ name: 'Bot', kind: 'agent' })
  const signIns = new Map<string, { id: string; cookie: Record<string, string> }>()
  /** A person's client, at the address that the server has now. */
  async function person(name: string, roles = ['approver']) {
    let known = signIns.get(name)
    if (!known) {
      const made = await server.makeKey({ name, kind: 'person', roles })
      known = { id: made.principal.id, cookie: await signInWithKey(server.url, made.key) }
      signIns.set(name, known)
    }
    return { ...server.with({ ...known.cookie, origin: server.url }), id: known.id }
  }
  return {
    server,
    agent,
    person,
    propose: (more: object = {}): Promise<Action> => agent.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' }, ...more }),
    pass: (ms: number) => {
      passedMs += ms
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

type Reader = { get(path: string): Promise<ActionList> }
const mine = async (who: Reader) => (await who.get('/api/actions?state=proposed&mine=true')).items.map(({ id }) => id)
const snoozed = async (who: Reader) => (await who.get('/api/actions?state=proposed&snoozed=true')).items.map(({ id }) => id)

test('a snoozed action leaves the inbox of who snoozed it, and nobody else’s, and returns by itself, also after a restart', async () => {
  await using desk = await startDesk()
  const [ana, ben] = [await desk.person('Ana'), await desk.person('Ben')]
  const [later, now] = [await desk.propose(), await desk.propose({ arguments: { what: 'y' } })]
  const recorded = async () => (await desk.server.admin.get('/api/audit')).items.map(({ id }: { id: number }) => id)
  const before = await recorded()
  const snooze = await ana.post(`/api/actions/${later.id}/snooze`, { for: 'PT1H' })
  expect(snooze).toMatchObject({ actionId: later.id })
  expect(await mine(ana)).toEqual([now.id])
  expect(await snoozed(ana)).toEqual([later.id])
  expect((await ana.get('/api/snoozes')).items).toEqual([snooze])
  expect(await mine(ben)).toEqual([now.id, later.id])
  expect(await snoozed(ben)).toEqual([])
  // It is how one person looks at it: nothing about the action, and nothing for the record.
  expect(await ana.get(`/api/actions/${later.id}`)).toEqual(later)
  expect(await recorded()).toEqual(before)

  desk.pass(30 * MINUTE_MS)
  await desk.server.restart()
  expect(await mine(await desk.person('Ana'))).toEqual([now.id])
  desk.pass(31 * MINUTE_MS)
  await desk.server.restart()
  const again = await desk.person('Ana')
  expect(await mine(again)).toEqual([now.id, later.id])
  expect((await again.get('/api/snoozes')).items).toEqual([])
})

test('a snoozed action can be decided by everybody who may, also by who snoozed it', async () => {
  await using desk = await startDesk()
  const [ana, ben] = [await desk.person('Ana'), await desk.person('Ben')]
  const [one, other] = [await desk.propose(), await desk.propose({ arguments: { what: 'y' } })]
  for (const { id } of [one, other]) await ana.post(`/api/actions/${id}/snooze`, { for: 'PT1H' })
  expect(await ben.post(`/api/actions/${one.id}/decision`, { verdict: 'decline' })).toMatchObject({ state: 'declined' })
  expect(await ana.post(`/api/actions/${other.id}/decision`, { verdict: 'decline' })).toMatchObject({ state: 'declined' })
  expect(await snoozed(ana)).toEqual([])
  // There is nothing left to snooze.
  const late = await ana.send('POST', `/api/actions/${one.id}/snooze`, { body: { for: 'PT1H' } })
  expect(late).toMatchObject({ status: 409, body: { code: 'illegal_transition', action: { state: 'declined' } } })
})

test('nobody snoozes for somebody else, no agent snoozes, and what one may not see cannot be told from what is not there', async () => {
  await using desk = await startDesk({ requires: { roles: ['finance'] } })
  const { id } = await desk.propose()
  const [fay, ana] = [await desk.person('Fay', ['finance']), await desk.person('Ana')]
  for (const body of [
    { for: 'PT1H', person: fay.id },
    { for: 'PT1H', principalId: fay.id },
    { for: 'PT1H', until: '2030-01-01T00:00:00Z' },
    {},
  ]) {
    expect((await ana.send('POST', `/api/actions/${id}/snooze`, { body })).status, JSON.stringify(body)).toBe(400)
  }
  expect((await desk.agent.send('POST', `/api/actions/${id}/snooze`, { body: { for: 'PT1H' } })).status).toBe(403)
  for (const hidden of [id, 'act_none']) {
    expect((await ana.send('POST', `/api/actions/${hidden}/snooze`, { body: { for: 'PT1H' } })).status).toBe(404)
  }
  await fay.post(`/api/actions/${id}/snooze`, { for: 'PT1H' })
  // Ending it is for its own person as well: another one ends a snooze of their own, which is not there.
  await desk.server.admin.send('DELETE', `/api/actions/${id}/snooze`)
  expect(await snoozed(fay)).toEqual([id])
  expect((await fay.send('DELETE', `/api/actions/${id}/snooze`)).status).toBe(200)
  expect([await mine(fay), await snoozed(fay)]).toEqual([[id], []])
})

test('no action, a high-risk one included, is snoozed past five minutes before its deadline', async () => {
  await using desk = await startDesk({ risk: 'high', expires: 'PT1H' })
  const ana = await desk.person('Ana')
  const action = await desk.propose()
  expect(action.risk.level).toBe('high')
  const latest = new Date(Date.parse(action.expiresAt ?? '') - 5 * MINUTE_MS).toISOString()
  for (const body of [{ for: 'PT2H' }, { until: action.expiresAt }]) {
    expect(await ana.post(`/api/actions/${action.id}/snooze`, body)).toMatchObject({ until: latest })
  }
  desk.pass(56 * MINUTE_MS)
  expect(await mine(ana)).toEqual([action.id])
  const late = await ana.send('POST', `/api/actions/${action.id}/snooze`, { body: { for: 'PT1M' } })
  expect(late).toMatchObject({ status: 409, body: { detail: expect.stringContaining('within five minutes') } })
})

test('a snooze ends in the future, and within 30 days', async () => {
  await using desk = await startDesk()
  const ana = await desk.person('Ana')
  const { id } = await desk.propose()
  const yesterday = new Date(Date.now() - 24 * HOUR_MS).toISOString()
  for (const body of [{ until: yesterday }, { for: 'P31D' }, { for: 'soon' }]) {
    expect((await ana.send('POST', `/api/actions/${id}/snooze`, { body })).status, JSON.stringify(body)).toBe(400)
  }
  expect(await mine(ana)).toEqual([id])
})

test('a new revision ends every snooze of an action', async () => {
  await using desk = await startDesk({ requires: { quorum: 2 } })
  const [ana, ben] = [await desk.person('Ana'), await desk.person('Ben')]
  const { id, digest } = await desk.propose()
  await ana.post(`/api/actions/${id}/snooze`, { for: 'PT2H' })
  await ben.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision: 1, digest, arguments: { what: 'z' } })
  expect(await mine(ana)).toEqual([id])
})

test('a browser takes the notification of a snoozed action back, and shows it again when the snooze ends, also after a restart', async () => {
  await using service = await startPushService()
  await using desk = await startDesk({ remind: 'P1D' })
  const [ana, ben] = [await desk.person('Ana'), await desk.person('Ben')]
  const [at, other] = [service.subscribe(), service.subscribe()]
  await ana.post('/api/push-subscriptions', at)
  await ben.post('/api/push-subscriptions', other)
  const { id } = await desk.propose()
  await expect.poll(() => service.messages.length).toBe(2)
  await ana.post(`/api/actions/${id}/snooze`, { for: 'PT1H' })
  await expect.poll(() => service.said(at.endpoint)).toEqual(['show Keyed', 'withdraw'])
  desk.pass(61 * MINUTE_MS)
  await desk.server.restart()
  await expect.poll(() => service.said(at.endpoint)).toEqual(['show Keyed', 'withdraw', 'show Keyed'])
  expect(service.said(other.endpoint)).toEqual(['show Keyed'])
})
