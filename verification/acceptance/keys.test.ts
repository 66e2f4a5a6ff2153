import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createKey, drawKey } from '../../packages/server/src/identity/keys.ts'
import { openBeside } from '../../packages/server/src/store/index.ts'
import { databaseFlags, runCommandLine, spawnCommandLine } from '../testing/run-command.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

const talk = { config: { agents: { desk: { model: 'scripted/talk.json' } } }, scripts: { talk: [{ text: 'Hi.' }] } }
const withKey = (server: TestServer, key: string) => server.with({ authorization: `Bearer ${key}` })

test('a key is shown once, is nowhere in the database, and says who made it, for whom, and when it was used', async () => {
  await using server = await startTestServer(talk)
  const made = await server.makeKey({ name: 'CI', kind: 'agent', roles: ['agent'], expiresIn: 'P90D' })
  expect(made.key).toMatch(/^cs_[\w-]{43}$/)
  // The person who makes an agent's key owns the agent, unless they name another owner.
  expect(made.principal).toMatchObject({ kind: 'agent', name: 'CI', roles: ['agent'], personId: 'prn_local' })
  expect(JSON.stringify(await server.dump())).not.toContain(made.key)
  await withKey(server, made.key).get('/api/sessions')
  await expect.poll(async () => (await server.admin.get('/api/keys')).items[0].lastUsedAt).not.toBeNull()
  const [listed] = (await server.admin.get('/api/keys')).items
  expect(listed).toMatchObject({ id: made.id, name: 'CI', principal: made.principal, createdBy: { id: 'prn_local' }, revokedAt: null })
  expect(listed.expiresAt).toBe(made.expiresAt)
  expect(JSON.stringify(listed)).not.toContain(made.key)
})

test('no agent and no service can be given what persons do, and only an admin person gives out anything', async () => {
  await using server = await startTestServer(talk)
  const before = await server.dump()
  for (const kind of ['agent', 'service']) {
    for (const role of ['admin', 'approver', 'viewer']) {
      const answer = await server.admin.send('POST', '/api/keys', { body: { name: 'x', kind, roles: ['agent', role] } })
      expect(answer, `${kind} ${role}`).toMatchObject({ status: 422, body: { code: 'invalid_arguments' } })
    }
  }
  const refused = [
    { kind: 'agent', person: 'prn_nobody' },
    { kind: 'person', person: 'prn_nobody' },
    { kind: 'agent', principal: 'prn_local' },
    { kind: 'person', principal: 'prn_local', roles: ['viewer'] },
  ]
  for (const body of refused) expect((await server.admin.send('POST', '/api/keys', { body: { name: 'x', ...body } })).status).toBe(422)
  expect(await server.dump()).toEqual(before)

  for (const who of [
    { kind: 'agent' },
    { kind: 'service' },
    { kind: 'person', roles: ['approver'] },
    { kind: 'person', roles: ['viewer'] },
  ]) {
    const client = await server.as({ name: 'somebody', ...who } as Parameters<typeof server.as>[0])
    for (const [method, path] of [
      ['GET', '/api/keys'],
      ['POST', '/api/keys'],
      ['DELETE', '/api/keys/key_x'],
    ] as const) {
      const answer = await client.send(method, path, { body: method === 'POST' ? { name: 'y', kind: 'person' } : undefined })
      expect(answer.status, `${JSON.stringify(who)} ${method} ${path}`).toBe(403)
    }
  }
})

test('a further key of a person carries their roles or fewer, and what it is limited to holds on every way in', async () => {
  await using server = await startTestServer(talk)
  const ana = await server.as({ name: 'Ana', kind: 'person', roles: ['admin', 'approver'] })
  const further = async (limits: object) =>
    withKey(server, (await server.makeKey({ name: 'more', kind: 'person', person: ana.principal.id, ...limits })).key)
  const full = await further({})
  expect((await full.get('/api/me')).principal).toEqual(ana.principal)
  const approver = await further({ roles: ['approver'] })
  expect((await approver.get('/api/me')).principal).toEqual({ ...ana.principal, roles: ['approver'] })
  expect((await approver.send('GET', '/api/keys')).status).toBe(403)
  const reader = await further({ scopes: [] })
  expect((await reader.get('/api/sessions')).items).toEqual([])
  expect((await reader.send('POST', '/api/sessions', { body: {} })).status).toBe(403)
  expect((await reader.send('GET', '/api/keys')).status).toBe(403)

  // A console session has no more rights than the key that it was signed in with.
  const { key } = await server.makeKey({ name: 'more', kind: 'person', principal: ana.principal.id, scopes: ['propose'] })
  const console = server.with({ ...(await signInWithKey(server.url, key)), origin: server.url })
  expect((await console.get('/api/me')).principal.scopes).toEqual(['propose'])
  await console.post('/api/sessions', {})
  expect((await console.send('POST', '/api/keys', { body: { name: 'x', kind: 'person', roles: ['admin'] } })).status).toBe(403)
})

test('a key for some roles of its person lends and allows nothing with the others', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const rule = (name: string, when: string, role: string) => ({
    ...{ name, match: { tool: 'keyed', when }, verdict: 'ask' as const, requires: { roles: [role] } },
  })
  await using server = await startTestServer({
    config: {
      ...talk.config,
      tools: toolsOf(target),
      policy: { rules: [rule('large', 'args.what == "large"', 'finance'), rule('small', 'args.what != "large"', 'approver')] },
    },
    scripts: talk.scripts,
  })
  const ana = await server.as({ name: 'Ana', kind: 'person', roles: ['approver', 'finance'] })
  const ben = await server.as({ name: 'Ben', kind: 'person', roles: [] })
  const bot = await server.as({ name: 'bot', kind: 'agent', person: null })
  const { key } = await server.makeKey({ name: 'half', kind: 'person', person: ana.principal.id, roles: ['approver'] })
  const half = withKey(server, key)
  const propose = (what: string) => bot.post('/api/actions', { tool: 'keyed', arguments: { what } })
  const decide = (who: typeof half, id: string, more = {}) =>
    who.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve', ...more } })
  const [large, small] = [await propose('large'), await propose('small')]
  expect((await decide(half, large.id)).status).toBe(404)

  const lend = (who: typeof half) => who.send('POST', '/api/delegations', { body: { to: ben.principal.id, expiresIn: 'PT1H' } })
  expect(await lend(half)).toMatchObject({ status: 403, body: { detail: expect.stringContaining('finance') } })
  expect((await decide(ben, large.id)).status).toBe(404)
  const remember = { scope: 'agent', expiresIn: 'PT1H', when: 'size(args.what) > 0' }
  expect((await decide(half, small.id, { remember })).status).toBe(403)
  expect((await half.send('POST', '/api/grants', { body: { actionId: small.id, ...remember } })).status).toBe(403)
  expect((await propose('large')).state).toBe('proposed')
  // The vote itself counts, and with all of their roles Ana does both.
  expect((await decide(half, small.id)).status).toBe(200)
  expect((await lend(ana)).status).toBe(201)
  expect((await decide(ben, large.id)).status).toBe(200)
})

test('a key for some roles of its person approves one action of a session, and never all that follow', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: { desk: [{ calls: [{ tool: 'keyed', arguments: { what: 'x' } }] }, { text: 'Done.' }] },
  })
  const ana = await server.as({ name: 'Ana', kind: 'person', roles: ['approver', 'finance'] })
  const { key } = await server.makeKey({ name: 'half', kind: 'person', person: ana.principal.id, roles: ['approver'] })
  const half = withKey(server, key)
  const { id } = await ana.post('/api/sessions', {})
  await ana.post(`/api/sessions/${id}/messages`, { content: 'go' })
  await server.settle()
  const approve = (verdict: string) => half.send('POST', `/api/sessions/${id}/approve`, { body: { verdict } })
  expect(await approve('approve_all')).toMatchObject({ status: 403, body: { detail: expect.stringContaining('finance') } })
  expect((await half.get(`/api/actions?session=${id}`)).items).toMatchObject([{ state: 'proposed' }])
  expect((await approve('approve')).status).toBe(200)
})

test('a key for some roles of its person decides nothing by a delegation, which a key for all of them does', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({
    config: {
      ...talk.config,
      tools: toolsOf(target),
      policy: { rules: [{ name: 'finance decides', match: { tool: 'keyed' }, verdict: 'ask', requires: { roles: ['finance'] } }] },
    },
    scripts: talk.scripts,
  })
  const fay = await server.as({ name: 'Fay', kind: 'person', roles: ['finance'] })
  const eva = await server.as({ name: 'Eva', kind: 'person', roles: ['approver', 'member'] })
  const bot = await server.as({ name: 'bot', kind: 'agent', person: null })
  const further = async (limits: object) =>
    withKey(server, (await server.makeKey({ name: 'more', kind: 'person', person: eva.principal.id, ...limits })).key)
  await fay.post('/api/delegations', { to: eva.principal.id, expiresIn: 'PT1H' })
  const { id } = await bot.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } })
  const decide = (who: ReturnType<typeof withKey>) => who.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })
  const mine = async (who: ReturnType<typeof withKey>) =>
    (await who.get('/api/actions?mine=true')).items.map((one: { id: string }) => one.id)

  for (const roles of [['approver'], []]) {
    const half = await further({ roles })
    expect(await mine(half), `roles ${roles}`).toEqual([])
    expect((await decide(half)).status, `roles ${roles}`).toBe(404)
  }
  const full = await further({ scopes: ['decide'] })
  expect(await mine(full)).toEqual([id])
  expect(await decide(full)).toMatchObject({ status: 200, body: { votes: [{ by: { name: 'Eva' }, for: { name: 'Fay' } }] } })
})

test('a key for some roles of its person has no agent act with the others: it writes in no session', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const when = '"ops" in requester.roles'
  await using server = await startTestServer({
    config: {
      agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
      tools: toolsOf(target),
      policy: { rules: [{ name: 'ops may', match: { tool: 'keyed', when }, verdict: 'allow' }] },
    },
    scripts: { desk: [{ calls: [{ tool: 'keyed', arguments: { what: 'x' } }] }, { text: 'Done.' }] },
  })
  const eva = await server.as({ name: 'Eva', kind: 'person', roles: ['member', 'ops'] })
  const further = async (limits: object) =>
    withKey(server, (await server.makeKey({ name: 'more', kind: 'person', person: eva.principal.id, ...limits })).key)
  const half = await further({ roles: ['member'] })
  expect((await half.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } })).state).toBe('proposed')

  const { id: sessionId } = await half.post('/api/sessions', {})
  const tries: [string, object][] = [
    [`/api/sessions/${sessionId}/messages`, { content: 'go' }],
    ['/api/chat', { sessionId, message: 'go' }],
    ['/api/chat', { message: 'go' }],
    ['/api/agent-requests', { sessionId, message: 'go' }],
    ['/api/agent-requests', { message: 'go' }],
  ]
  for (const [path, body] of tries) {
    const refused = await half.send('POST', path, { body })
    expect(refused, path).toMatchObject({ status: 403, body: { detail: expect.stringContaining('it leaves out ops') } })
  }
  await server.settle()
  expect((await eva.get(`/api/sessions/${sessionId}/messages`)).items).toEqual([])
  expect(target.writes).toEqual([])

  const full = await further({ scopes: ['propose'] })
  await full.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  await server.settle()
  expect((await eva.get(`/api/actions?session=${sessionId}`)).items).toMatchObject([{ state: 'succeeded', policy: { rule: 'ops may' } }])
})

test('a key that only asks does not sign its person out everywhere', async () => {
  await using server = await startTestServer(talk)
  const ana = await server.as({ name: 'Ana', kind: 'person', roles: ['approver'] })
  const asks = await server.makeKey({ name: 'asks', kind: 'person', person: ana.principal.id, scopes: ['propose'] })
  const full = await server.makeKey({ name: 'full', kind: 'person', person: ana.principal.id })
  const signedIn = async (key: string) => server.with({ ...(await signInWithKey(server.url, key)), origin: server.url })
  const [program, person] = [await signedIn(asks.key), await signedIn(full.key)]
  expect((await program.send('POST', '/api/sign-out', { body: { everywhere: true } })).status).toBe(403)
  expect((await person.get('/api/me')).principal).toMatchObject({ id: ana.principal.id })
  expect((await program.send('POST', '/api/sign-out', { body: {} })).status).toBe(200)
  expect((await program.get('/api/me')).principal).toBeNull()
  expect((await person.send('POST', '/api/sign-out', { body: { everywhere: true } })).status).toBe(200)
})

test('a revoked or expired key is nobody’s at once, and what was signed in with it is over', async () => {
  await using server = await startTestServer(talk)
  const { key, id } = await server.makeKey({ name: 'Ana', kind: 'person', roles: ['approver'] })
  const signedIn = await signInWithKey(server.url, key)
  expect((await server.with(signedIn).get('/api/me')).principal.name).toBe('Ana')
  const revoked = await server.admin.send('DELETE', `/api/keys/${id}`)
  expect(revoked).toMatchObject({ status: 200, body: { id } })
  expect((await server.admin.send('DELETE', `/api/keys/${id}`)).body.revokedAt).toBe(revoked.body.revokedAt)
  expect((await withKey(server, key).send('GET', '/api/sessions')).status).toBe(401)
  expect((await server.with(signedIn).get('/api/me')).principal).toBeNull()
  expect((await server.admin.send('DELETE', '/api/keys/key_nobody')).status).toBe(404)

  const store = await openBeside(server.database)
  try {
    const old = drawKey()
    const body = { name: 'old', kind: 'agent' as const, person: null, expiresIn: 'P1D' }
    const made = await store.transact((outbox) => createKey({ outbox, by: null, nowMs: Date.now() - 86_460_000 }, body, old))
    const fresh = drawKey()
    await store.transact((outbox) => createKey({ outbox, by: null, nowMs: Date.now() - 86_000_000 }, body, fresh))
    const expired = { status: 401, body: { code: 'unauthenticated', detail: `this key expired at ${made.expiresAt}` } }
    expect(await withKey(server, old).send('GET', '/api/sessions')).toMatchObject(expired)
    expect((await withKey(server, fresh).send('GET', '/api/sessions')).status).toBe(200)
    // Of a key that was taken away nothing is told.
    await server.admin.send('DELETE', `/api/keys/${made.id}`)
    expect((await withKey(server, old).send('GET', '/api/sessions')).body.detail).toBe('this key is not known here')
  } finally {
    await store.close()
  }
})

test('the command gives out, lists and revokes keys beside the running server, and all of it is in the record', async () => {
  await using server = await startTestServer(talk)
  const command = (...args: string[]) => runCommandLine(['key', ...args, ...databaseFlags(server.database, server.dataDir)])
  const made = await command('create', '--name', 'Robin', '--kind', 'person', '--role', 'approver', '--scope', 'decide')
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^cs_[\w-]{43}\n$/) })
  const robin = withKey(server, made.stdout.trim())
  expect((await robin.get('/api/me')).principal).toMatchObject({ name: 'Robin', roles: ['approver'], scopes: ['decide'] })
  const id = /key_\w+/.exec(made.stderr)?.[0] ?? ''
  expect((await command('list')).stdout).toContain(id)
  expect(await command('revoke', id)).toMatchObject({ code: 0, stdout: expect.stringContaining('was revoked') })
  expect((await robin.send('GET', '/api/me')).status).toBe(401)
  const { audit } = await server.dump()
  const rows = (audit as { scope: string; kind: string; actor: string }[]).filter(({ scope }) => scope === 'system')
  expect(rows.map(({ kind, actor }) => `${kind} ${actor}`)).toEqual(expect.arrayContaining(['key_made system', 'key_revoked system']))
})

test('a key command on a folder without a database makes none, except for a new key, and then says so', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'desk')
  const command = (...args: string[]) => runCommandLine(['key', ...args, '--data', data])
  for (const args of [['list'], ['revoke', 'key_1'], ['accept', 'key_1']]) {
    const said = `countersign: there is no database in ${data}; name its folder with --data, or its Postgres with --database-url\n`
    expect(await command(...args), args.join(' ')).toEqual({ code: 1, stdout: '', stderr: said })
    expect(existsSync(data)).toBe(false)
  }
  const create = ['create', '--name', 'Ana', '--kind', 'person', '--role', 'admin']
  const said = `There was no database in ${data}: it was made. Servers with other data do not know this key.`
  expect(await command(...create)).toMatchObject({ code: 0, stderr: expect.stringContaining(said) })
  expect((await command(...create)).stderr).not.toContain('There was no database')
})

const FULL = '/dev/full'

test.skipIf(!existsSync(FULL))('a key that cannot be printed, as on a full disk, is revoked again: nobody has its secret', async () => {
  await using server = await startTestServer(talk)
  const where = databaseFlags(server.database, server.dataDir)
  const full = openSync(FULL, 'w')
  try {
    for (const flags of [[], ['--json']]) {
      const { ended } = spawnCommandLine(
        ['key', 'create', '--name', 'full', '--kind', 'agent', '--role', 'agent', ...flags, ...where],
        {},
        full,
      )
      const { code, stderr } = await ended
      const [newest] = (await server.admin.get('/api/keys')).items
      expect(newest).toMatchObject({ name: 'full', revokedAt: expect.any(String) })
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: `${[
          'the output cannot be written: ENOSPC: no space left on device, write',
          `the key could not be printed, so ${newest.id} was revoked again`,
        ]
          .map((line) => `countersign: ${line}\n`)
          .join('')}`,
      })
    }
  } finally {
    closeSync(full)
  }
})
