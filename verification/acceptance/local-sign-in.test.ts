import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../testing/free-port.ts'
import { asOtherUser, postAsOtherUser, whyNoOtherUser } from '../testing/other-user.ts'
import { rawRequest } from '../testing/raw-request.ts'
import { stillClock } from '../testing/shifted-clock.ts'
import { redeem, sendSignIn, signInLocally, signInWithKey } from '../testing/sign-in.ts'
import { BOOTSTRAP_KEY, startTestServer, temporaryFolder } from '../testing/test-server.ts'

const talk = { config: { agents: { desk: { model: 'scripted/talk.json' } } }, scripts: { talk: [{ text: 'Hi.' }] } }

test('a local process without a sign-in link is nobody, whatever name of this machine it uses', async () => {
  await using server = await startTestServer(talk)
  const { port } = new URL(server.url)
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, 'localhost', '127.0.0.1']) {
    for (const body of [undefined, '{}', '{"link":""}', '{"link":"x"}', `{"link":"${'A'.repeat(72)}"}`]) {
      const headers = { host, origin: `http://${host}`, ...(body !== undefined && { 'content-type': 'application/json' }) }
      const answer = await rawRequest(`${server.url}/api/sign-in`, { method: 'POST', headers, ...(body !== undefined && { body }) })
      expect(answer.status, `${host} ${body}`).toBeGreaterThanOrEqual(400)
      expect(answer.headers['set-cookie'], `${host} ${body}`).toBeUndefined()
      expect(answer.headers['countersign-console'], `${host} ${body}`).toBeUndefined()
    }
  }
  expect((await server.dump()).console_session).toEqual([])
})

test('an agent whose key may not decide does not become the local person beside it, and its attempts are in the record', async () => {
  await using server = await startTestServer(talk)
  const { key } = await server.admin.post('/api/keys', { name: 'bot', kind: 'agent' })
  const attempts: Record<string, string>[] = [
    { origin: server.url },
    { origin: server.url, authorization: `Bearer ${key}` },
    { origin: server.url, 'countersign-console': key },
    { origin: server.url, cookie: `countersign_${new URL(server.url).port}=${'A'.repeat(43)}` },
  ]
  for (const headers of attempts) {
    const answer = await server.with(headers).send('POST', '/api/sign-in', { body: {} })
    expect(answer).toMatchObject({ status: 401, body: { detail: expect.stringContaining('countersign sign-in') } })
  }
  const { items } = await server.admin.get('/api/audit?kind=sign_in_refused')
  expect(items).toHaveLength(attempts.length)
  for (const { actor, data } of items) {
    expect(actor).toMatchObject({ kind: 'system' })
    expect(data).toEqual({ how: 'local', reason: 'no_link', address: '127.0.0.1', unrecorded: 0 })
  }
})

test('the file of an earlier server is replaced, whatever its mode, and a link in its place is not followed', async () => {
  using folder = temporaryFolder()
  const place = { dataDir: join(folder.path, 'data'), environment: {} }
  const port = await freePort()
  mkdirSync(place.dataDir)
  const file = join(place.dataDir, `sign-in-${port}.json`)
  const elsewhere = join(folder.path, 'for-everybody')
  writeFileSync(elsewhere, 'as it was')
  chmodSync(elsewhere, 0o666)
  symlinkSync(elsewhere, file)
  await using server = await startTestServer({ ...talk, place, flags: { port } })
  expect(readFileSync(elsewhere, 'utf8')).toBe('as it was')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(file, 'utf8')).origin).toBe(new URL(server.signInLink()).origin)
})

test.skipIf(whyNoOtherUser !== undefined)(
  'another user of this machine cannot read the sign-in file and comes in by no request (needs root, to become that user)',
  async () => {
    await using server = await startTestServer(talk)
    const { port } = new URL(server.url)
    // Lets the other user into the folder, so that only the mode of the file protects it.
    chmodSync(server.dataDir, 0o755)
    expect(await asOtherUser('id', '-u')).toMatchObject({ code: 0, stdout: '65534\n' })
    const file = join(server.dataDir, `sign-in-${port}.json`)
    expect(await asOtherUser('cat', file)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Permission denied') })
    expect((await asOtherUser('cat', `/proc/${process.pid}/environ`)).code).toBe(1)
    for (const body of ['{}', `{"link":"${'A'.repeat(72)}"}`]) {
      const { status, text } = await postAsOtherUser(port, '/api/sign-in', body)
      expect(status).toBe(401)
      expect(text.toLowerCase()).not.toMatch(/^(set-cookie|countersign-console):/m)
    }
    expect((await server.dump()).console_session).toEqual([])
  },
)

test('wrong links are told to wait and fold into few rows of the record; a good one at the same address is not stopped', async () => {
  // The clock stands still, so that nothing becomes free during the requests.
  const clock = stillClock()
  await using server = await startTestServer({ ...talk, environment: { COUNTERSIGN_MAX_FAILURES: '40' }, logLevel: 'warn', clock })
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => sendSignIn(server.url, { link: String(i).padStart(72, 'A') })))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([...Array(40).fill(401), ...Array(20).fill(429)])
  expect((await server.with(await signInLocally(server)).get('/api/me')).principal.id).toBe('prn_local')
  const { items } = await server.admin.get('/api/audit?kind=sign_in_refused')
  expect(items).toHaveLength(10)
  // Each 401 is in the log, without the value that was tried.
  const logged = server.errors.filter((line) => line.includes('sign_in.refused'))
  expect(logged).toHaveLength(40)
  expect(logged.join('')).not.toContain('AAAA')
})

test('a wrong key at the sign-in is in the record, without the key', async () => {
  await using server = await startTestServer(talk)
  const key = 'cs_a-key-that-nobody-gave-out-0123456789abcde'
  expect((await sendSignIn(server.url, { key })).status).toBe(401)
  const { items } = await server.admin.get('/api/audit?kind=sign_in_refused')
  expect(items).toMatchObject([{ data: { how: 'key', reason: 'unknown' } }])
  expect(JSON.stringify(items)).not.toContain(key)
})

test('the link leads to localhost only where nobody else can be listening there', async () => {
  const port = await freePort()
  const squatter = createServer((socket) => socket.destroy())
  squatter.listen({ port, host: '::1', ipv6Only: true })
  const hasIpv6 = await Promise.race([once(squatter, 'listening').then(() => true), once(squatter, 'error').then(() => false)])
  try {
    await using server = await startTestServer({ ...talk, flags: { port } })
    expect(new URL(server.signInLink()).origin).toBe(`http://${hasIpv6 ? '127.0.0.1' : 'localhost'}:${port}`)
  } finally {
    squatter.close()
  }
  if (!hasIpv6) return
  await once(squatter, 'close')
  await using server = await startTestServer({ ...talk, flags: { port } })
  expect(new URL(server.signInLink()).origin).toBe(`http://localhost:${port}`)
  expect((await rawRequest(`http://[::1]:${port}/healthz`, {})).status).toBe(200)
  expect(await redeem(server.signInLink())).toMatchObject({ status: 200 })
})

test('what people sign in with over https is a __Host- cookie; the same person at plain http is given none', async () => {
  const page = 'https://approve.example'
  await using server = await startTestServer({ ...talk, environment: { COUNTERSIGN_PUBLIC_URL: page } })
  expect(server.signInLink()).toBe('')
  const answer = await server.with({ origin: page }).send('POST', '/api/sign-in', { body: { key: BOOTSTRAP_KEY } })
  const [cookie = ''] = answer.headers.getSetCookie()
  for (const attribute of ['HttpOnly', 'Secure', 'SameSite=Strict', 'Path=/']) expect(cookie).toContain(attribute)
  expect(cookie).toMatch(/^__Host-countersign=[\w-]{43};/)
  expect(cookie).not.toContain('Domain')
  expect(answer.headers.get('countersign-console')).toBeNull()
  const signedIn = server.with({ cookie: cookie.split(';')[0] ?? '', origin: page })
  expect((await signedIn.get('/api/me')).principal.id).toBe('prn_local')
  expect((await signedIn.send('POST', '/api/sessions', { headers: { origin: 'https://evil.example' }, body: {} })).status).toBe(403)

  const plain = await signInWithKey(server.url, BOOTSTRAP_KEY)
  expect((await server.with(plain).get('/api/me')).principal.id).toBe('prn_local')
})
