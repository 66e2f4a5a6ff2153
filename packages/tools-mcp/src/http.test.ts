import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { toolDefinitionHash } from '@countersign/toolkit/internal'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../verification/testing/free-port.ts'
import { makeCertificate } from '../../toolkit/src/testing/certificate.ts'
import { startModernServer, startSessionServer } from './testing/http-server.ts'
import { memoryPins, openSource } from './testing/open-source.ts'

test('over HTTP a call is sent once, whatever is answered', async () => {
  const server = await startSessionServer()
  const { call, tool } = await openSource({ url: server.url })
  expect(tool('note').destination).toBe(new URL(server.url).origin)
  expect(await call('note', {})).toBe('did note')
  await expect(call('moved', {})).rejects.toMatchObject({ kind: 'refused', message: expect.stringContaining('Redirects are not followed') })
  await expect(call('forbidden', {})).rejects.toMatchObject({ kind: 'refused', retryable: false })
  await expect(call('broken', {})).rejects.toMatchObject({ kind: 'ambiguous', message: expect.stringContaining('HTTP 502') })
  await expect(call('slow', {})).rejects.toMatchObject({ kind: 'ambiguous', message: expect.stringContaining('HTTP 408') })
  await expect(call('cut', {})).rejects.toMatchObject({ kind: 'ambiguous' })
  expect(server.calls).toEqual(['note', 'moved', 'forbidden', 'broken', 'slow', 'cut'])
})

test('over HTTPS a connection that is spoiled behind a call leaves the outcome unknown: the server has the call', async ({ skip }) => {
  const certificate = makeCertificate()
  if (!certificate) return skip('there is no openssl here')
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, certificate.cert])
  onTestFinished(() => setDefaultCACertificates(before))
  const server = await startSessionServer(certificate)
  const { call } = await openSource({ url: server.url })
  await expect(call('spoil', {})).rejects.toMatchObject({
    kind: 'ambiguous',
    message: expect.stringContaining('Whether it acted is not known'),
  })
  expect(server.calls).toEqual(['spoil'])
})

test('over HTTP a server that asks for a pause is not called again by itself before that, and the model is told', async () => {
  const { call } = await openSource({ url: (await startSessionServer()).url, tools: { '*': { effect: 'write' } } })
  await expect(call('limited', {})).rejects.toMatchObject({
    ...{ kind: 'refused', retryable: true, retryAfterMs: 7_000 },
    message: expect.stringContaining('It asks not to be called again for 7 s.'),
  })
  await expect(call('busy', {})).rejects.toMatchObject({ kind: 'ambiguous', retryAfterMs: 90_000 })
  await expect(call('broken', {})).rejects.toMatchObject({ kind: 'ambiguous', retryAfterMs: undefined })
})

test('over HTTP an answer without an end is broken off', async () => {
  const { call } = await openSource({ url: (await startSessionServer()).url })
  await expect(call('flood', {})).rejects.toMatchObject({ kind: 'ambiguous' })
})

test('over HTTP a session that the server forgot is found out before a write, and made anew', async () => {
  const server = await startSessionServer()
  const { call } = await openSource({ url: server.url, tools: { note: { effect: 'write' } } })
  server.forget()
  expect(await call('note', {})).toBe('did note')
  expect(server.calls).toEqual(['note'])
})

test('over HTTP what only reads is asked again where the session was gone', async () => {
  const server = await startSessionServer()
  const { call } = await openSource({ url: server.url, tools: { note: { effect: 'read' } } })
  server.forget()
  expect(await call('note', {})).toBe('did note')
  expect(server.calls).toEqual(['note'])
})

test('over HTTP a server that is away is sent nothing, and comes back', async () => {
  const server = await startSessionServer(undefined, { port: await freePort() })
  const { call } = await openSource({ url: server.url })
  await server.away()
  await expect(call('note', {})).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringContaining('Nothing was sent') })
  await server.back()
  await expect.poll(() => call('note', {}).catch(() => undefined), { interval: 50 }).toBe('did note')
  expect(server.calls).toEqual(['note'])
})

test('doctor says why an address was not reached from the start', async () => {
  const server = await startSessionServer(undefined, { port: await freePort() })
  await server.away()
  const { source } = await openSource({ url: server.url })
  expect((await source.check())[0]?.message).toMatch(/^The MCP server s is away: connect ECONNREFUSED 127\.0\.0\.1:\d+$/)
})

test('protocol 2026-07-28 is spoken where it is offered; what would ask people in the middle of a call ends with an unknown outcome', async () => {
  const server = await startModernServer()
  const { call, source } = await openSource({ url: server.url })
  expect((await source.check())[0]?.message).toBe('The MCP server s is modern 2, protocol 2026-07-28, 2 tools')
  expect(await call('note', { text: 'hello' })).toBe('noted hello')
  await expect(call('ask', {})).rejects.toMatchObject({
    kind: 'ambiguous',
    message: expect.stringContaining('Whether it acted is not known'),
  })
  expect(server.calls).toEqual(['note', 'ask'])
})

test('over HTTP a server of the older protocol that answers 500 to what it does not know is connected', async () => {
  const server = await startSessionServer(undefined, { unknownStatus: 500 })
  const { call, source } = await openSource({ url: server.url })
  expect((await source.check())[0]?.message).toMatch(/^The MCP server s is sessions 1, protocol 2025-11-25, /)
  expect(await call('note', {})).toBe('did note')
  expect(server.calls).toEqual(['note'])
})

test('over HTTP a server that fails at whatever it is asked is away, with the status it answered', async () => {
  const server = await startSessionServer(undefined, { unknownStatus: 503, initializeStatus: 502 })
  const { source } = await openSource({ url: server.url })
  expect((await source.check())[0]?.message).toMatch(/^The MCP server s is away: .* HTTP 503$/)
})

test('over HTTP the status that refuses the handshake of the older protocol is told', async () => {
  const server = await startSessionServer(undefined, { unknownStatus: 500, initializeStatus: 401 })
  const { source } = await openSource({ url: server.url })
  expect((await source.check())[0]?.message).toMatch(/^The MCP server s is away: HTTP 401: /)
})

test('over HTTP what is said of a server that is away holds no secret, also where its answer repeats one', async () => {
  const server = await startSessionServer(undefined, { unknownStatus: 500, initializeStatus: 401 })
  const { source, said } = await openSource({ url: server.url, headers: { authorization: `Bearer ${'tok-1234'.repeat(60)}` } })
  expect(source.away?.why).toContain('refused [redacted]')
  expect(JSON.stringify([source.away, said, await source.check()])).not.toContain('tok-1234')
})

test('an address is an http or https address, and a private one only where the configuration writes it', async () => {
  await expect(openSource({ url: 'file:///etc/passwd' })).rejects.toThrow('must be an http or https address')
  await expect(openSource({ url: 'http://name:secret@example.com/' })).rejects.toThrow('without a name or password')
})

test('an address from a variable is part of what an approval is for: another path of the same host is another tool', async () => {
  const { origin } = new URL((await startSessionServer()).url)
  const open = async (url: string) => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
    const { tool } = await openSource({ url: '${CRM_URL}' }, memoryPins(), { environment: { CRM_URL: url } })
    return tool('note')
  }
  const first = await open(`${origin}/tenant-a/mcp?key=planted-secret`)
  const others = [await open(`${origin}/tenant-b/mcp?key=planted-secret`), await open(`${origin}/tenant-a/mcp?key=another-secret`)]
  const hashes = [first, ...others].map(toolDefinitionHash)
  expect(new Set(hashes).size).toBe(3)
  expect(toolDefinitionHash(await open(`${origin}/tenant-a/mcp?key=planted-secret`))).toBe(hashes[0])
  // An address may hold a key: nothing that can be read or guessed is made of it.
  expect(JSON.stringify(first)).not.toContain('planted-secret')
})
