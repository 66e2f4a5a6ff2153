import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecureContext, getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { createRedactor, openNetwork } from '../net/index.ts'
import { callHttp } from './http-call.ts'

/** A certificate for the loopback; undefined where there is no openssl to make one. */
function makeCertificate(): { key: string; cert: string } | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-tls-'))
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  try {
    execFileSync('openssl', ['req', ...kind, ...names, '-keyout', keyFile, '-out', certFile], { stdio: 'ignore' })
    return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8') }
  } catch {
    return undefined
  } finally {
    rmSync(folder, { recursive: true })
  }
}

// Application data that no key of the connection has made.
const SPOILED = Buffer.from([0x17, 0x03, 0x03, 0x00, 0x20, ...Array(32).fill(7)])

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
