import { expect, test } from 'vitest'
import { rawRequest } from '../testing/raw-request.ts'
import { stillClock } from '../testing/shifted-clock.ts'
import { sendSignIn, signInLocally, tokenOf } from '../testing/sign-in.ts'
import { BOOTSTRAP_KEY, startTestServer } from '../testing/test-server.ts'

const talk = { config: { agents: { desk: { model: 'scripted/talk.json' } } }, scripts: { talk: [{ text: 'Hi.' }] } }

test('on loopback a link signs the local person in, and what the console has then acts from its own pages', async () => {
  await using server = await startTestServer(talk)
  const { url } = server
  const nobody = server.with({})
  expect(await nobody.get('/api/me')).toEqual({ principal: null, signIn: 'local' })
  expect((await nobody.send('GET', '/api/sessions')).status).toBe(401)

  const answer = await sendSignIn(url, { link: tokenOf(server.signInLink()) })
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ principal: { id: 'prn_local', kind: 'person', roles: ['admin', 'approver'] } })
  // All ports of a host share cookies, so the server sets none.
  expect(answer.headers.getSetCookie()).toEqual([])
  const signedIn = { 'countersign-console': answer.headers.get('countersign-console') ?? '' }

  const reader = server.with(signedIn)
  expect((await reader.get('/api/me')).principal.id).toBe('prn_local')
  expect((await reader.get('/api/sessions')).items).toEqual([])
  const console = server.with({ ...signedIn, origin: url })
  const { id } = await console.post('/api/sessions', { title: 'mine' })
  expect((await reader.get(`/api/sessions/${id}`)).title).toBe('mine')

  expect((await server.with(signedIn).send('POST', '/api/sessions', { body: {} })).status).toBe(403)
  await console.send('POST', '/api/sign-out')
  expect((await reader.get('/api/me')).principal).toBeNull()
})

test('a sign-in is good after a restart; a key signs a person in, an agent’s key does not', async () => {
  await using server = await startTestServer(talk)
  const signedIn = await signInLocally(server)
  const agentKey = (await server.makeKey({ name: 'bot', kind: 'agent' })).key
  const personKey = (await server.makeKey({ name: 'Ana', kind: 'person', roles: ['approver'] })).key
  await server.restart()
  expect((await server.with(signedIn).get('/api/me')).principal.id).toBe('prn_local')

  const page = server.with({ origin: server.url })
  expect((await page.send('POST', '/api/sign-in', { body: { key: agentKey } })).status).toBe(403)
  expect((await page.send('POST', '/api/sign-in', { body: { key: 'x'.repeat(30) } })).status).toBe(401)
  const answer = await page.send('POST', '/api/sign-in', { body: { key: personKey } })
  expect(answer.body.principal).toMatchObject({ kind: 'person', name: 'Ana' })
  const ana = { 'countersign-console': answer.headers.get('countersign-console') ?? '' }
  expect((await server.with(ana).get('/api/me')).principal.name).toBe('Ana')
})

test('a page whose name was made to resolve to this machine is not the local person', async () => {
  await using server = await startTestServer(talk)
  const { port } = new URL(server.url)
  const before = await server.dump()
  /** The link is valid, which must not help a foreign page. */
  const postLink = (headers: Record<string, string>) =>
    rawRequest(`${server.url}/api/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ link: tokenOf(server.signInLink()) }),
    })
  for (const host of [
    `evil.example:${port}`,
    'evil.example',
    `127.0.0.1.evil.example:${port}`,
    `localhost.evil.example:${port}`,
    `[::2]:${port}`,
  ]) {
    const headers = { host, origin: `http://${host}` }
    const me = await rawRequest(`${server.url}/api/me`, { headers })
    expect(JSON.parse(me.text), host).toEqual({ principal: null, signIn: 'key' })
    const answer = await postLink(headers)
    expect(answer.status, host).toBe(401)
    expect([answer.headers['set-cookie'], answer.headers['countersign-console']]).toEqual([undefined, undefined])
  }
  // A proxy on this machine that does not say for whom it acts still reveals itself by such a header.
  for (const header of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) {
    const answer = await postLink({ origin: server.url, [header]: '203.0.113.9' })
    expect(answer.status, header).toBe(401)
  }
  expect((await server.dump()).console_session).toEqual(before.console_session)
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`]) {
    const headers = { host, origin: `http://${host}` }
    expect((await postLink(headers)).status).toBe(200)
  }
})

test('a console secret that was changed or made up is nobody’s, and none is good as a cookie', async () => {
  await using server = await startTestServer(talk)
  const signedIn = await signInLocally(server)
  const value = signedIn['countersign-console']
  expect((await server.with(signedIn).get('/api/me')).principal.id).toBe('prn_local')
  const rows = (await server.dump()).console_session as { hash: string }[]
  const wrong = [
    'prn_local',
    '',
    'A'.repeat(43),
    `${value}=`,
    value.toUpperCase(),
    // The stored hash cannot be turned into a valid value.
    ...rows.map(({ hash }) => hash),
    ...rows.map(({ hash }) => Buffer.from(hash, 'hex').toString('base64url')),
    ...Array.from({ length: value.length }, (_, i) => `${value.slice(0, i)}${value[i] === 'a' ? 'b' : 'a'}${value.slice(i + 1)}`),
    ...Array.from({ length: value.length }, (_, i) => value.slice(0, i)),
  ]
  for (const forged of wrong) {
    const answer = await server.with({ 'countersign-console': forged, origin: server.url }).send('GET', '/api/sessions')
    expect(answer.status, forged).toBe(401)
  }
  // Over plain http a cookie would reach every port of this host. Older servers set one; an upgrade makes it invalid.
  for (const name of [`countersign_${new URL(server.url).port}`, 'countersign', '__Host-countersign', 'countersign-console']) {
    expect((await server.with({ cookie: `${name}=${value}` }).send('GET', '/api/sessions')).status, name).toBe(401)
  }
})

test('a key is known, or it is nobody’s; it is never read from the address', async () => {
  await using server = await startTestServer(talk)
  const key = BOOTSTRAP_KEY
  const wrong = [
    ...['', 'Bearer', 'Bearer ', `Bearer  ${key}`, `Bearer ${key}x`, `Bearer ${key.slice(0, -1)}`, `bearer ${key} x`],
    ...[`Basic ${Buffer.from(`x:${key}`).toString('base64')}`, key, `Token ${key}`, `Bearer ${'x'.repeat(501)}`],
  ]
  for (const authorization of wrong) {
    const answer = await server.with({ authorization }).send('GET', '/api/sessions')
    expect(answer, authorization).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    expect(answer.text).not.toContain(key)
    const isWritten = /^Bearer \S{1,500}$/.test(authorization)
    const why = isWritten ? 'this key is not known here' : 'send Authorization: Bearer <key>'
    expect(answer.body.detail, authorization).toBe(why)
  }
  for (const name of ['key', 'token', 'access_token', 'api_key', 'authorization', 'apiKey']) {
    expect((await server.with({}).send('GET', `/api/sessions?${name}=${key}`)).status, name).toBe(401)
  }
  // A signed-in console does not make a wrong key valid.
  const signedIn = await signInLocally(server)
  expect((await server.with({ ...signedIn, authorization: 'Bearer nobody' }).send('GET', '/api/sessions')).status).toBe(401)
})

test('where one is signed in is listed for oneself alone, and ended one by one or all but here', async () => {
  // When somebody was last seen is noted each minute: on this clock no minute passes between two looks at the list.
  await using server = await startTestServer({ ...talk, clock: stillClock() })
  const { url } = server
  const [here, there, third] = [await signInLocally(server), await signInLocally(server), await signInLocally(server)]
  type SignedIn = typeof here
  const page = (signedIn: SignedIn) => server.with({ ...signedIn, origin: url })
  const isIn = async (signedIn: SignedIn) => (await page(signedIn).get('/api/me')).principal !== null
  const open = async () => (await page(here).get('/api/console-sessions')).items
  const listed = await open()
  expect(listed.map(({ how, isCurrent }: { how: string; isCurrent: boolean }) => [how, isCurrent])).toEqual([
    ['local', false],
    ['local', false],
    ['local', true],
  ])
  for (const { createdAt, seenAt, endsAt } of listed) expect(createdAt <= seenAt && seenAt < endsAt).toBe(true)
  expect(JSON.stringify(listed)).not.toMatch(/hash|token/)
  const { items, nextCursor } = await page(here).get('/api/console-sessions?limit=2')
  const rest = await page(here).get(`/api/console-sessions?limit=2&cursor=${nextCursor}`)
  expect([...items, ...rest.items]).toEqual(listed)

  // Other people see only their own sessions, and get the same answers as if these did not exist.
  const ana = await server.as({ name: 'Ana', kind: 'person', roles: ['admin'] })
  expect((await ana.get('/api/console-sessions')).items).toEqual([])
  const [newest, , oldest] = listed
  expect((await ana.send('DELETE', `/api/console-sessions/${newest.id}`)).status).toBe(404)
  await ana.send('DELETE', '/api/console-sessions')
  expect(await open()).toEqual(listed)

  expect((await page(here).send('DELETE', `/api/console-sessions/${newest.id}`)).status).toBe(200)
  expect([await isIn(here), await isIn(there), await isIn(third)]).toEqual([true, true, false])
  expect((await page(here).send('DELETE', `/api/console-sessions/${newest.id}`)).status).toBe(404)
  expect((await page(here).send('DELETE', '/api/console-sessions')).status).toBe(200)
  expect([await isIn(here), await isIn(there)]).toEqual([true, false])
  expect(await open()).toEqual([{ ...oldest, seenAt: expect.any(String) }])
  const { items: rows } = await server.admin.get('/api/audit?kind=signed_out')
  const data = rows.map((row: { data: object }) => row.data)
  expect(data).toHaveLength(3)
  for (const part of [
    { everywhere: true, kept: oldest.id },
    { everywhere: true, kept: null },
    { everywhere: false, session: newest.id },
  ])
    expect(data).toContainEqual(expect.objectContaining(part))
})

test('a console that was signed in with a key is not listed any more once the key is revoked', async () => {
  await using server = await startTestServer(talk)
  const { key, id, principal } = await server.makeKey({ name: 'Ana', kind: 'person', roles: ['approver'] })
  const ana = server.with({
    authorization: `Bearer ${(await server.makeKey({ name: 'more', kind: 'person', person: principal.id })).key}`,
  })
  await server.with({ origin: server.url }).send('POST', '/api/sign-in', { body: { key } })
  expect((await ana.get('/api/console-sessions')).items).toMatchObject([{ how: 'key', isCurrent: false }])
  await server.admin.send('DELETE', `/api/keys/${id}`)
  expect((await ana.get('/api/console-sessions')).items).toEqual([])
})
