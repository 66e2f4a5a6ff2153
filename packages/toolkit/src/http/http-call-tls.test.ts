import { once } from 'node:events'
import { createServer } from 'node:net'
import { createSecureContext, getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { createRedactor, openNetwork } from '../net/index.ts'
import { makeCertificate, SPOILED } from '../testing/certificate.ts'
import { callHttp } from './http-call.ts'

for (const [what, kind] of [
  ['that is spoiled behind the request', 'ambiguous'],
  ['to somebody whose certificate nobody vouches for', 'unreachable'],
] as const) {
  test(`an encrypted connection ${what} is ${kind}`, async ({ skip }) => {
    const certificate = makeCertificate()
    if (!certificate) return skip('there is no openssl here')
    const before = getCACertificates('default')
    if (kind === 'ambiguous') setDefaultCACertificates([...before, certificate.cert])
    onTestFinished(() => setDefaultCACertificates(before))
    let received = 0
    const server = createServer((raw) => {
      raw.on('error', () => {})
      const secured = new TLSSocket(raw, { isServer: true, secureContext: createSecureContext(certificate) })
      secured.on('error', () => {})
      secured.once('data', () => {
        received++
        raw.write(SPOILED)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0
    const call = callHttp({
      method: 'POST',
      url: new URL(`https://127.0.0.1:${port}/pay`),
      headers: {},
      redactor: createRedactor([]),
      network: openNetwork(),
      own: `https://127.0.0.1:${port}`,
      body: { amount: 1 },
      idempotencyKey: 'act_1.1',
      signal: new AbortController().signal,
      timeoutMs: 240_000,
    })
    await expect(call).rejects.toMatchObject({ kind })
    expect(received).toBe(kind === 'ambiguous' ? 1 : 0)
  })
}
