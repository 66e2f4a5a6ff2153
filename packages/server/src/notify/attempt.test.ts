import { openNetwork } from '@countersign/toolkit'
import fc from 'fast-check'
import { Webhook as Verifier } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { isWholeRequest, startRawSink } from '../../../../verification/testing/raw-sink.ts'
import { startReceiver } from '../../../../verification/testing/receiver.ts'
import { systemClock } from '../clock.ts'
import { NOT_PUBLIC } from './address.ts'
import { attempt } from './attempt.ts'
import { retryAfterMs } from './schedule.ts'
import { drawSecret, signatureOf } from './signature.ts'

const sendTo = (url: string, network: ReturnType<typeof openNetwork>) =>
  attempt({ network, clock: systemClock, url, id: 'evt_1', body: '{}', secrets: [drawSecret()], signal: new AbortController().signal })

test('a name that leads inside is not called, also when it led outside a moment ago, and nobody is told where it leads', async () => {
  await using inside = await startReceiver()
  const addresses = ['10.1.2.3', '169.254.169.254', '127.0.0.1', 'fd00:ec2::254', '::ffff:127.0.0.1', '100.64.0.1', '0.0.0.0']
  for (const address of addresses) {
    let asked = 0
    const network = openNetwork({
      // The first lookup is for the check, the second for the connection; here one answer serves both.
      resolve: async () => [{ address: asked++ === 1 ? '203.0.113.9' : address, family: address.includes(':') ? 6 : 4 }],
    })
    const attempted = await sendTo(`http://hooks.example.com:${inside.port}/hook`, network)
    expect(attempted, address).toEqual({ status: null, answer: null, error: NOT_PUBLIC })
    expect(JSON.stringify(attempted)).not.toContain(address)
    expect(asked).toBe(1)
  }
  expect(inside.events).toEqual([])
})

test('one of several addresses of a name that is inside is enough to refuse it', async () => {
  await using inside = await startReceiver()
  const network = openNetwork({
    resolve: async () => ['8.8.8.8', '127.0.0.1'].map((address) => ({ address, family: 4 })),
  })
  expect((await sendTo(`http://hooks.example.com:${inside.port}/`, network)).error).toBe(NOT_PUBLIC)
  expect(inside.events).toEqual([])
})

test('a receiver that upgrades the connection unasked has failed at once, and holds nothing up', async () => {
  const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
  await using sink = await startRawSink((socket, received) => isWholeRequest(received) && socket.write(upgrade))
  const attempted = await sendTo(sink.url, openNetwork({ allow: ['127.0.0.1'] }))
  expect(attempted).toEqual({ status: null, answer: null, error: 'the connection failed (HPE_INVALID_STATUS)' })
})

test('every signature is taken by the verifier of Standard Webhooks, and none of it after a change', () => {
  const anId = fc.stringMatching(/^evt_[0-9a-z]{25}$/)
  fc.assert(
    fc.property(anId, fc.string({ unit: 'binary' }), fc.nat(1), (id, text, at) => {
      const body = JSON.stringify({ text: text.toWellFormed() })
      const secrets = [drawSecret(), drawSecret()]
      const timestamp = Math.floor(Date.now() / 1_000)
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatureOf({ id, timestamp, body }, secrets),
      }
      const verifier = new Verifier(secrets[at] ?? '')
      expect(verifier.verify(body, headers)).toEqual(JSON.parse(body))
      for (const changed of [
        { ...headers, 'webhook-id': `${id}x` },
        { ...headers, 'webhook-timestamp': String(timestamp - 1) },
      ]) {
        expect(() => verifier.verify(body, changed)).toThrow('No matching')
      }
      expect(() => verifier.verify(`${body} `, headers)).toThrow('No matching')
    }),
    { numRuns: 50 },
  )
})

test('a wait is what the schedule says and up to a fifth more, and after the tenth failure there is none', () => {
  const first = Array.from({ length: 9 }, (_, n) => retryAfterMs(n + 1, 0) ?? 0)
  expect(first).toEqual([...first].sort((a, b) => a - b))
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.double({ min: 0, max: 1, noNaN: true }), (failed, random) => {
      const least = first[failed - 1] ?? 0
      const waitMs = retryAfterMs(failed, random) ?? 0
      expect(waitMs).toBeGreaterThanOrEqual(least)
      expect(waitMs).toBeLessThanOrEqual(1.2 * least)
    }),
  )
  for (const failed of [10, 11, 100]) expect(retryAfterMs(failed, 0)).toBeUndefined()
})
