import { randomBytes } from 'node:crypto'
import { Webhook as Signer } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { verifyWebhook } from './verify-webhook.ts'

const drawSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const event = { type: 'webhook.test', timestamp: '2026-01-01T00:00:00.000Z', data: { webhookId: 'whk_ü' } }
const body = JSON.stringify(event)

function signed(secrets: readonly string[], at = new Date()) {
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Signer(secret).sign('evt_1', at, body)).join(' '),
  }
}

test('what the reference implementation signed is taken, as text or bytes, with headers of either kind', async () => {
  const secret = drawSecret()
  const headers = signed([secret])
  expect(await verifyWebhook({ secret, headers, body })).toEqual(event)
  expect(await verifyWebhook({ secret, headers: new Headers(headers), body: new TextEncoder().encode(body) })).toEqual(event)
})

test('while a secret is rotated either of the two is enough', async () => {
  const [one, two] = [drawSecret(), drawSecret()]
  for (const secret of [one, two]) expect(await verifyWebhook({ secret, headers: signed([two, one]), body })).toEqual(event)
  await expect(verifyWebhook({ secret: drawSecret(), headers: signed([two, one]), body })).rejects.toThrow('no signature')
})

test('a changed body, id or time, an old request and missing headers are refused', async () => {
  const secret = drawSecret()
  const headers = signed([secret])
  const refused = (more: Partial<Parameters<typeof verifyWebhook>[0]>) => verifyWebhook({ secret, headers, body, ...more })
  await expect(refused({ body: `${body} ` })).rejects.toThrow('no signature')
  await expect(refused({ headers: { ...headers, 'webhook-id': 'evt_2' } })).rejects.toThrow('no signature')
  await expect(refused({ headers: { ...headers, 'webhook-signature': 'v1a,xyz v1, v1,%%%' } })).rejects.toThrow('no signature')
  // On one clock: time that passes in between brings a request of the future closer.
  const nowMs = Date.now()
  for (const minutes of [-6, 6]) {
    const old = signed([secret], new Date(nowMs + minutes * 60_000))
    await expect(refused({ headers: old, nowMs })).rejects.toThrow('five minutes')
    expect(await refused({ headers: old, nowMs: nowMs + minutes * 60_000 })).toEqual(event)
  }
  for (const hours of [-1, 1]) {
    await expect(refused({ headers: signed([secret], new Date(nowMs + hours * 3_600_000)) })).rejects.toThrow('five minutes')
  }
  await expect(refused({ headers: { ...headers, 'webhook-timestamp': 'NaN' } })).rejects.toThrow('five minutes')
  for (const name of Object.keys(headers)) await expect(refused({ headers: { ...headers, [name]: undefined } })).rejects.toThrow(name)
  await expect(refused({ secret: 'whsec_' })).rejects.toThrow('whsec_')
})
