import { join } from 'node:path'
import type { Action } from '@countersign/core'
import { expect, onTestFinished, test } from 'vitest'
import { endDeadline } from '../testing/end-deadline.ts'
import { bodiesOf, openHeld, read, settled } from '../testing/held-place.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { BOOTSTRAP_KEY, startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

// Tests what a server held with --hold still does and what it refuses, on both databases.

test('a held server carries nothing out, calls no model and refuses every change but those that end the hold', async () => {
  await using place = await openHeld()
  const { server, target, waiting, approved, sessionId } = place
  const { admin } = server
  await server.settle()
  expect(bodiesOf(target).sort()).toEqual(['k1', 'u1'])
  await expect.poll(() => admin.get('/readyz')).toEqual({ status: 'held', why: 'Countersign was started with --hold.' })
  expect(await admin.get('/api/hold')).toMatchObject({
    held: true,
    epoch: 1,
    open: { approved: 3, executing: 2, waiting: 1, outcomeUnknown: 0 },
  })

  const refused: [string, object][] = [
    [`/api/actions/${waiting.id}/decision`, { verdict: 'approve' }],
    ['/api/actions', { tool: 'unkeyed', arguments: { what: 'new' } }],
    [`/api/sessions/${sessionId}/messages`, { content: 'hello' }],
    ['/api/chat', { message: 'hello' }],
    [`/api/actions/${approved[0].id}/retry`, {}],
    ['/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }],
  ]
  for (const [path, body] of refused) {
    const answer = await admin.send('POST', path, { body })
    expect([path, answer.status, answer.body.code]).toEqual([path, 503, 'not_ready'])
    expect(answer.body.detail).toContain('looks like a copy')
  }
  await server.settle()
  expect(bodiesOf(target).sort()).toEqual(['k1', 'u1'])
  expect((await admin.get(`/api/sessions/${sessionId}/messages`)).items).toEqual([])
})

test('people release, void and mark what a held server holds, each of it is in the record, and the rest stays held', async () => {
  await using place = await openHeld()
  const { server, target, approved, unkeyed, waiting } = place
  const [released, voided, other] = approved
  const { admin } = server
  await admin.post(`/api/actions/${released.id}/release`, {})
  expect(await settled(server, released)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(await admin.post(`/api/actions/${released.id}/release`, {})).toMatchObject({ state: 'succeeded' })
  expect(await admin.post(`/api/actions/${voided.id}/void`, { note: 'The original did it.' })).toMatchObject({ state: 'cancelled' })
  expect(await admin.post(`/api/actions/${waiting.id}/void`, { note: 'Nobody wants it.' })).toMatchObject({ state: 'cancelled' })
  expect(await admin.post(`/api/actions/${unkeyed.id}/resolve`, { outcome: 'succeeded', note: 'It is there.' })).toMatchObject({
    state: 'succeeded',
    resolution: { outcome: 'succeeded', note: 'It is there.' },
  })
  expect((await admin.send('POST', `/api/actions/${voided.id}/release`)).status).toBe(409)
  expect((await admin.send('POST', `/api/actions/${unkeyed.id}/void`, { body: { note: 'late' } })).status).toBe(409)
  expect((await read(server, other)).state).toBe('approved')
  expect(bodiesOf(target).sort()).toEqual(['k1', 'u1', 'u2'])

  const kinds = async (action?: Action) =>
    (await admin.get(`/api/audit${action ? `?action=${action.id}` : ''}`)).items.map(({ kind }: { kind: string }) => kind)
  expect(await kinds()).toContain('held')
  expect(await kinds(released)).toContain('released')
  expect(await kinds(voided)).toContain('voided')
  expect(await kinds(unkeyed)).toEqual(expect.arrayContaining(['outcome_unknown', 'resolved']))
})

test('before a copy is accepted an admin shuts out again who was shut out since the backup', async () => {
  await using place = await openHeld()
  const { server, ada } = place
  const { admin } = server
  const ended = server.with({ authorization: `Bearer ${ada.key}` })
  expect((await ended.get('/api/hold')).open).toMatchObject({ approved: 3 })

  expect(await admin.send('DELETE', `/api/keys/${ada.id}`)).toMatchObject({ status: 200, body: { revokedAt: expect.any(String) } })
  expect((await ended.send('POST', '/api/hold/accept')).status).toBe(401)
  expect(await admin.post(`/api/people/${ada.principal.id}/disable`)).toMatchObject({ disabledAt: expect.any(String) })
  // Grants and delegations are ended as well: 404 is the answer about one that is not there.
  for (const path of ['/api/grants/gnt_none', '/api/delegations/dlg_none'])
    expect((await admin.send('DELETE', path)).status, path).toBe(404)
  // Nobody gets a right before that.
  for (const path of [`/api/people/${ada.principal.id}/enable`, '/api/keys']) {
    expect((await admin.send('POST', path, { body: { name: 'Ada', kind: 'person', roles: ['admin'] } })).status, path).toBe(503)
  }
  await server.settle()
  expect(await admin.get('/api/hold')).toMatchObject({ held: true, open: { approved: 3, executing: 2, waiting: 1 } })
})

test('before a copy is accepted an admin takes away what is back by it: roles, an invitation, a policy that allowed more', async () => {
  await using place = await openHeld()
  const { server, target, approved, eva, sessionId } = place
  const { admin } = server
  const give = (roles: string[]) => admin.send('PATCH', `/api/people/${eva.principal.id}`, { body: { roles } })
  // Nobody gets a role before that.
  for (const roles of [['approver', 'finance'], ['finance']]) {
    const { status, body } = await give(roles)
    expect([status, body.code, body.detail]).toEqual([503, 'not_ready', expect.stringContaining('finance')])
  }
  expect(await give([])).toMatchObject({ status: 200, body: { roles: [] } })
  const ended = await admin.send('DELETE', `/api/sessions/${sessionId}/participants/${eva.principal.id}`)
  expect(ended).toMatchObject({ status: 200, body: { participants: [] } })
  const stricter = { rules: [{ name: 'closed', match: { tool: 'unkeyed' }, verdict: 'deny' }] }
  const { version } = await admin.get('/api/policy?format=json')
  // The editor asks for a check while somebody writes.
  const checked = await admin.send('POST', '/api/policy/check', { body: { document: stricter } })
  expect(checked).toMatchObject({ status: 200, body: { problems: [] } })
  const body = { document: stricter, reason: 'As before the restore' }
  expect((await admin.send('PUT', '/api/policy', { body, headers: { 'if-match': `"${version}"` } })).status).toBe(200)
  expect(await admin.get('/api/hold')).toMatchObject({ held: true, open: { approved: 3, executing: 2, waiting: 1 } })

  await admin.post('/api/hold/accept', {})
  await server.settle()
  expect(bodiesOf(target).sort()).toEqual(['k1', 'u1'])
  expect((await Promise.all(approved.map((action) => read(server, action)))).map(({ state }) => state)).toEqual([
    'declined',
    'declined',
    'proposed',
  ])
})

test('an accepted copy carries out what was approved once, and of what was under way the outcome is unknown, keyed or not', async () => {
  await using place = await openHeld()
  const { server, target, approved, keyed, unkeyed, waiting } = place
  const { admin } = server
  await admin.post(`/api/actions/${approved[0].id}/void`, { note: 'Done by the original.' })
  expect(await admin.post('/api/hold/accept', {})).toMatchObject({ held: false, why: null, epoch: 2 })
  expect(await admin.post('/api/hold/accept', {})).toMatchObject({ held: false, epoch: 2 })
  for (const action of approved.slice(1)) expect(await settled(server, action)).toMatchObject({ state: 'succeeded', attempt: 1 })
  for (const action of [keyed, unkeyed]) {
    expect(await read(server, action)).toMatchObject({ state: 'outcome_unknown', attempt: 1, error: { kind: 'ambiguous' } })
  }
  await server.settle()
  expect(bodiesOf(target).sort()).toEqual(['k1', 'k2', 'u1', 'u3'])
  await expect.poll(() => admin.get('/readyz')).toEqual({ status: 'ok' })
  expect((await admin.get('/api/audit?kind=copy_accepted')).items).toMatchObject([{ actor: { kind: 'person' }, data: { epoch: 2 } }])

  // It works like any server, also after the next start.
  await admin.post(`/api/actions/${waiting.id}/decision`, { verdict: 'approve' })
  expect(await settled(server, waiting)).toMatchObject({ state: 'succeeded' })
  await server.stop()
  const again = await place.start({})
  expect((await again.admin.get('/api/hold')).held).toBe(false)
})

test('a hold outlives a restart without the flag, and --accept-copy ends it from the command line', async () => {
  await using place = await openHeld()
  await place.server.stop()
  const second = await place.start({})
  expect((await second.admin.get('/api/hold')).held).toBe(true)
  await second.stop()
  const third = await place.start({ acceptCopy: true })
  expect(await third.admin.get('/api/hold')).toMatchObject({ held: false, epoch: 2 })
  for (const action of place.approved) expect(await settled(third, action)).toMatchObject({ state: 'succeeded' })
  expect(await read(third, place.unkeyed)).toMatchObject({ state: 'outcome_unknown' })
  expect(bodiesOf(place.target).sort()).toEqual(['k1', 'k2', 'u1', 'u2', 'u3'])
  expect((await third.admin.get('/api/audit?kind=copy_accepted')).items).toMatchObject([{ actor: { kind: 'system' } }])
})

test('a session that is cancelled while everything is held calls its model no more once the copy is accepted, and another one does', async () => {
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const { environment } = stack.use(await openServerDatabase())
  const target = stack.use(await startTarget(() => ({ status: 200 })))
  const config = { agents: { desk: { model: 'scripted/work.json', tools: ['unkeyed'] } }, tools: toolsOf(target) }
  const work = [{ calls: [{ tool: 'unkeyed', arguments: { what: 'x' } }] }, { text: 'I go on.' }]
  const start = async (flags: object) =>
    stack.use(await startTestServer({ config, scripts: { work }, place: { dataDir: join(folder, 'data'), environment }, flags }))
  const first = await start({})
  const open = async (): Promise<string> => {
    const { id } = await first.admin.post('/api/sessions', {})
    await first.admin.post(`/api/sessions/${id}/messages`, { content: 'Do it.' })
    return id
  }
  const [unwanted, wanted] = [await open(), await open()]
  await first.settle()
  await first.stop()

  const held = await start({ hold: true })
  const { admin } = held
  expect(await admin.post(`/api/sessions/${unwanted}/cancel`, {})).toMatchObject({ id: unwanted, pendingApprovals: [] })
  const [action] = (await admin.get(`/api/sessions/${wanted}`)).pendingApprovals
  await admin.post(`/api/actions/${action.id}/void`, { note: 'The original did it.' })
  await admin.post('/api/hold/accept', {})
  await expect.poll(() => saidIn(held, wanted)).toContain('I go on.')
  await held.settle()
  expect(await saidIn(held, unwanted)).not.toContain('I go on.')
  expect(target.writes).toEqual([])
})

const saidIn = async ({ admin }: TestServer, sessionId: string): Promise<string[]> =>
  (await admin.get(`/api/sessions/${sessionId}/messages`)).items.map(({ content }: { content: string }) => content)

test('while everything is held nothing expires, and people sign in; once the copy is accepted what is past its deadline expires', async () => {
  const temporary = temporaryFolder()
  onTestFinished(() => temporary[Symbol.dispose]())
  const database = await openServerDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const target = await startTarget(() => ({ status: 200, body: {} }))
  onTestFinished(() => target[Symbol.asyncDispose]())
  const place = { dataDir: join(temporary.path, 'data'), environment: database.environment }
  const start = async (flags: object) => {
    const server = await startTestServer({ config: { tools: toolsOf(target) }, place, flags })
    onTestFinished(() => server[Symbol.asyncDispose]())
    return server
  }
  const first = await start({})
  const due: Action = await first.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'due' }, expiresIn: 'PT1H' })
  await first.stop()
  await endDeadline(first.database, due.id)

  const held = await start({ hold: true })
  const heldAtMs = Date.now()
  await expect.poll(() => Date.now()).toBeGreaterThan(heldAtMs + 1_000)
  const page = held.with({ origin: held.url })
  expect((await page.send('POST', '/api/sign-in', { body: { key: BOOTSTRAP_KEY } })).status).toBe(200)
  const { nextCursor: _, items } = await held.admin.get('/api/audit')
  expect(items.map(({ kind }: { kind: string }) => kind)).not.toContain('expired')
  const { state } = await read(held, due)
  expect(state).toBe('proposed')

  await held.admin.post('/api/hold/accept', {})
  expect((await settled(held, due)).state).toBe('expired')
})
