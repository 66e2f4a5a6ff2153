import { expect, test } from 'vitest'
import { decide, settled, waiting } from '../testing/decisions.ts'
import { endDeadline } from '../testing/end-deadline.ts'
import { startGatewayServer } from '../testing/gateway-server.ts'

// What a gateway is told when the same request comes again, by what became of the first one.
const refund = { body: '{"amount":5}' }

test('a decline is told to the same request for ten minutes, then it is asked about again', async () => {
  const { server, ask, clock } = await startGatewayServer()
  await ask('POST', '/refunds', refund)
  await decide(server, await waiting(server), { verdict: 'decline', reason: 'Not today' })
  const { status, detail } = await ask('POST', '/refunds', refund)
  expect([status, detail]).toEqual([403, expect.stringContaining('Not today')])
  clock.pass(10 * 60_000)
  expect((await ask('POST', '/refunds', refund)).detail).toContain('Waiting for approval')
})

test('after the clock was set back, a request passes once with each approval, and a decline is told for ten minutes', async () => {
  const { server, ask, clock } = await startGatewayServer()
  const passOnce = async () => {
    expect((await ask('POST', '/refunds', refund)).detail).toContain('Waiting for approval')
    const { id } = await decide(server, await waiting(server), { verdict: 'approve' })
    expect((await ask('POST', '/refunds', refund)).status).toBe(200)
    // The result is stored once the gateway has the answer.
    await expect.poll(async () => (await server.admin.get(`/api/actions/${id}`)).state).toBe('succeeded')
  }
  await passOnce()
  clock.set(clock.nowMs() - 5 * 60_000)
  for (let time = 0; time < 3; time++) await passOnce()

  await ask('DELETE', '/refunds/7')
  await decide(server, await waiting(server), { verdict: 'decline', reason: 'Not today' })
  clock.set(clock.nowMs() - 60 * 60_000)
  expect((await ask('DELETE', '/refunds/7')).detail).toContain('Waiting for approval')
})

test('a request about which nobody decided in time is told so', async () => {
  // On Postgres the database says when the time is over.
  const { server, ask } = await startGatewayServer({ rule: { expires: 'PT1S' }, isRealTime: true })
  const { headers } = await ask('DELETE', '/refunds/7')
  expect((await settled(server, String(headers['countersign-action']))).state).toBe('expired')
  const { status, detail } = await ask('DELETE', '/refunds/7')
  expect([status, detail]).toEqual([403, expect.stringContaining('Nobody decided about this in time')])
})

test('a request waits for a day at most, and its approval lasts no longer; a rule may say otherwise', async () => {
  const hours = ({ createdAt, expiresAt }: { createdAt: string; expiresAt: string | null }) =>
    (Date.parse(expiresAt ?? '') - Date.parse(createdAt)) / 3_600_000
  const plain = await startGatewayServer()
  await plain.ask('POST', '/refunds', refund)
  const card = await waiting(plain.server)
  expect(hours(card)).toBe(24)
  await decide(plain.server, card, { verdict: 'approve' })
  expect(hours(await plain.server.admin.get(`/api/actions/${card.id}`))).toBe(24)
  for (const [expires, expected] of [
    ['P3D', 72],
    ['PT1H', 1],
  ] as const) {
    const { server, ask } = await startGatewayServer({ rule: { expires } })
    await ask('DELETE', '/refunds/7')
    expect(hours(await waiting(server))).toBe(expected)
  }
})

test('an approval whose time is over lets nothing pass', async () => {
  const { server, ask } = await startGatewayServer({ rule: { expires: 'PT1H' }, isRealTime: true })
  await ask('DELETE', '/refunds/7')
  const card = await waiting(server)
  await decide(server, card, { verdict: 'approve' })
  expect((await server.admin.get(`/api/actions/${card.id}`)).state).toBe('approved')
  await endDeadline(server.database, card.id)
  expect((await ask('DELETE', '/refunds/7')).status).toBe(403)
  expect((await server.admin.get(`/api/actions/${card.id}`)).state).not.toBe('succeeded')
})

test('a request that a person changed passes as they changed it', async () => {
  const { server, ask } = await startGatewayServer()
  await ask('POST', '/refunds', refund)
  const card = await waiting(server)
  const { id, revision, digest } = card
  const body = { verdict: 'approve', revision, digest, arguments: { ...card.arguments, path: '/admin' } }
  const ofPath = await server.admin.send('POST', `/api/actions/${id}/decision`, { body })
  expect([ofPath.status, ofPath.body.issues], 'the path follows from the url').toMatchObject([422, [{ path: '/path' }]])
  await decide(server, card, { verdict: 'approve', arguments: { ...card.arguments, body: { amount: 4 } } })
  expect((await ask('POST', '/refunds', refund)).detail).toContain('"amount":4')
  expect((await ask('POST', '/refunds', { body: '{"amount":4}' })).status).toBe(200)
})

test('a sender whose request a person sent to another host or port is told both', async () => {
  const { server, ask } = await startGatewayServer()
  await ask('POST', '/refunds', refund)
  const card = await waiting(server)
  await decide(server, card, { verdict: 'approve', arguments: { ...card.arguments, host: 'test.example', port: 8443 } })
  const { detail } = await ask('POST', '/refunds', refund)
  expect(JSON.parse(detail.slice(detail.indexOf('{')))).toEqual({
    method: 'POST',
    host: 'test.example',
    port: 8443,
    url: '/refunds',
    contentType: 'application/json',
    body: { amount: 5 },
  })
  expect((await ask('POST', '/refunds', { ...refund, headers: { host: 'test.example:8443' } })).status).toBe(200)
})
