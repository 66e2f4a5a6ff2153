import type { PolicyDocument } from '@countersign/core'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createClient, openInbox } from '../../packages/client/src/index.ts'
import { until } from '../../packages/client/src/testing/until.ts'
import { openBeside, tellAccess } from '../../packages/server/src/store/index.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { raw } from '../testing/temp-store.ts'
import { startTestServer } from '../testing/test-server.ts'

type Rule = PolicyDocument['rules'][number]
const ONE: Rule = { name: 'pay', match: { tool: 'keyed' }, verdict: 'ask', requires: { roles: ['finance'] } }
const TWO: Rule = { ...ONE, name: 'two', requires: { ...ONE.requires, quorum: 2 } }

/**
 * Starts a server with Fay, in whose place Del is to vote, and an agent that is nobody's.
 * @param calls The tools that the agent `desk` calls in the first step of a session.
 */
async function start({ rules = [ONE], calls = [], fayRoles = ['finance'], delRoles = [] }: Start = {}) {
  const target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: toolsOf(target), policy: { rules: [...rules] } },
    scripts: { desk: [{ calls: calls.map((tool) => ({ tool, arguments: { what: tool } })) }, { text: 'Done.' }] },
  })
  const fay = await server.as({ name: 'Fay', kind: 'person', roles: [...fayRoles] })
  const { key: delKey, principal } = await server.makeKey({ name: 'Del', kind: 'person', roles: [...delRoles] })
  const del = { ...server.with({ authorization: `Bearer ${delKey}` }), principal }
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  return {
    ...{ server, target, fay, del, delKey, bot },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

interface Start {
  rules?: readonly Rule[]
  calls?: readonly string[]
  fayRoles?: readonly string[]
  delRoles?: readonly string[]
}

test('who votes in somebody’s place sees what they have a vote on, here and in the inbox, and nothing else of what that person sees', async () => {
  await using it = await start({ rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }, ONE], calls: ['keyed'] })
  const { server, fay, del, bot } = it
  const { id: sessionId } = await bot.post('/api/sessions', {})
  await bot.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  await server.settle()
  const { pendingApprovals } = await fay.get(`/api/sessions/${sessionId}`)
  const { id } = pendingApprovals[0]
  const others = [
    await bot.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' } }),
    await bot.post('/api/actions', { tool: 'look', arguments: { what: 'x' } }),
  ]
  const routes = [
    `/api/actions/${id}`,
    `/api/actions/${id}?wait=1&until=decided`,
    `/api/actions/${id}/revisions`,
    `/api/actions/${id}/suggestion`,
  ]
  const statuses = async (paths: readonly string[]) => {
    const answers = await Promise.all(paths.map((path) => del.send('GET', path)))
    return [...new Set(answers.map(({ status }) => status))]
  }
  expect(await statuses(routes.filter((path) => !path.includes('wait')))).toEqual([404])

  const delegation = await fay.post('/api/delegations', { to: del.principal.id, expiresIn: 'PT1H' })
  expect(await statuses(routes)).toEqual([200])
  expect((await del.get('/api/actions?mine=true')).items.map((action: { id: string }) => action.id)).toEqual([id])
  const hidden = [
    ...others.map((action) => `/api/actions/${action.id}`),
    ...['', '/messages', '/events'].map((rest) => `/api/sessions/${sessionId}${rest}`),
  ]
  expect(await statuses(hidden)).toEqual([404])
  expect((await del.send('POST', `/api/approve-tool/${id}`, { body: { approved: true } })).status).toBe(404)
  expect((await del.get('/api/actions')).items).toEqual([])
  expect((await del.get('/api/sessions')).items).toEqual([])

  using inbox = await del.stream('/api/events')
  const more = await bot.post('/api/actions', { tool: 'keyed', arguments: { what: 'more' } })
  await bot.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'y' } })
  expect((await inbox.next('action_proposed')).proposal.id).toBe(more.id)
  // A read-only key has no vote, so the action stays hidden from it.
  const { key } = await server.makeKey({ name: 'half', kind: 'person', person: del.principal.id, scopes: [] })
  expect((await server.with({ authorization: `Bearer ${key}` }).send('GET', `/api/actions/${id}`)).status).toBe(404)

  await fay.send('DELETE', `/api/delegations/${delegation.id}`)
  expect(await statuses(routes.filter((path) => !path.includes('wait')))).toEqual([404])
  expect(await inbox.next('reset')).toMatchObject({ reason: 'you may see other actions than before', actions: [] })
  await fay.post(`/api/actions/${more.id}/decision`, { verdict: 'decline' })
  // What their own agent asks comes behind that: once it is in the stream, the stream has passed over the decline.
  const own = await server.as({ name: 'helper', kind: 'agent', person: del.principal.id })
  const behind = await own.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'z' } })
  expect((await inbox.next('action_proposed')).proposal.id).toBe(behind.id)
  const again = await fay.post('/api/delegations', { to: del.principal.id, expiresIn: 'PT1H' })
  await inbox.next('reset')
  const last = await bot.post('/api/actions', { tool: 'keyed', arguments: { what: 'last' } })
  expect((await inbox.next('action_proposed')).proposal.id).toBe(last.id)
  expect(inbox.seen.map(({ type }) => type)).toEqual(['action_proposed', 'reset', 'action_proposed', 'reset', 'action_proposed'])
  expect(again.id).toMatch(/^del_/)
})

test('an open inbox is told to read its list again when a delegation to its person expires', async () => {
  await using it = await start()
  const { server, fay, del, bot } = it
  const delegation = await fay.post('/api/delegations', { to: del.principal.id, expiresIn: 'PT1H' })
  using inbox = await del.stream('/api/events')
  const { id } = await bot.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } })
  expect((await inbox.next('action_proposed')).proposal.id).toBe(id)
  const store = await openBeside(server.database)
  await store.transact((outbox) => {
    tellAccess(outbox, del.principal.id)
    return raw(sql`update delegation set expires_at = ${Date.now() + SOON_MS} where id = ${delegation.id}`)
  })
  await store.close()
  await inbox.next('reset')
  expect((await del.send('GET', `/api/actions/${id}`)).status).toBe(404)
})

test('one person delegates to another ten times at once and no more, also by requests at the same moment, and the newest lender counts', async () => {
  await using it = await start()
  const { server, fay, del, bot } = it
  const mal = await server.as({ name: 'Mal', kind: 'person', roles: [] })
  const { id } = await bot.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } })
  const body = { to: del.principal.id, expiresIn: 'PT1H' }
  const answers = await Promise.all(Array.from({ length: 30 }, () => mal.send('POST', '/api/delegations', { body })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
  const refused = answers.filter(({ status }) => status !== 201).map(({ status, body: { code, detail } }) => ({ status, code, detail }))
  const detail = '10 delegations from Mal to Del are in force: end one of them first'
  expect(refused).toEqual(Array(20).fill({ status: 400, code: 'bad_request', detail }))
  await fay.post('/api/delegations', body)
  expect((await del.get('/api/actions?mine=true')).items.map((action: { id: string }) => action.id)).toEqual([id])
  const approved = await del.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  expect(approved.votes).toMatchObject([{ by: { id: del.principal.id }, for: { id: fay.principal.id } }])
})

/** The server is told of the end so long before it, and waits for it. */
const SOON_MS = 500

test('who was invited to a session and sees it no longer is told to read the list again, also when it is deleted with what waits', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: { desk: [{ calls: [{ tool: 'keyed', arguments: { what: 'x' } }] }, { text: 'Done.' }] },
  })
  const ana = await server.as({ name: 'Ana', kind: 'person', roles: ['member'] })
  const ben = await server.as({ name: 'Ben', kind: 'person', roles: ['member'] })
  for (const end of ['uninvite', 'delete']) {
    const { id } = await ana.post('/api/sessions', {})
    await ana.post(`/api/sessions/${id}/participants`, { person: ben.principal.id })
    using inbox = await ben.stream('/api/events')
    await ana.post(`/api/sessions/${id}/messages`, { content: 'go' })
    const { proposal } = await inbox.next('action_proposed')
    await ana.send('DELETE', end === 'delete' ? `/api/sessions/${id}` : `/api/sessions/${id}/participants/${ben.principal.id}`)
    await inbox.next('reset')
    expect((await ben.send('GET', `/api/actions/${proposal.id}`)).status).toBe(404)
  }
})

test('a vote in somebody’s place shows its action, and nothing of the conversation around it, also once the delegation has ended', async () => {
  await using it = await start({
    rules: [ONE, { name: 'hire', match: { tool: 'unkeyed' }, verdict: 'ask', requires: { roles: ['people'] } }],
    calls: ['keyed', 'unkeyed'],
  })
  const { server, fay, del, bot } = it
  const { id: sessionId } = await bot.post('/api/sessions', {})
  await bot.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  await server.settle()
  const { pendingApprovals } = await server.admin.get(`/api/sessions/${sessionId}`)
  const idOf = (tool: string) => pendingApprovals.find((action: { tool: string }) => action.tool === tool).id
  const [pay, hire] = [idOf('keyed'), idOf('unkeyed')]
  const delegation = await fay.post('/api/delegations', { to: del.principal.id, expiresIn: 'PT1H' })
  expect((await del.post(`/api/actions/${pay}/decision`, { verdict: 'approve' })).votes).toMatchObject([{ for: { name: 'Fay' } }])

  const sees = async () => {
    const paths = [`/api/actions/${pay}`, `/api/actions/${hire}`, ...['', '/messages'].map((rest) => `/api/sessions/${sessionId}${rest}`)]
    const statuses = await Promise.all(paths.map(async (path) => (await del.send('GET', path)).status))
    const [actions, sessions] = [await del.get('/api/actions'), await del.get('/api/sessions')]
    return [...statuses, actions.items.map(({ id }: { id: string }) => id), sessions.items.length]
  }
  const theirVote = [200, 404, 404, 404, [pay], 0]
  expect(await sees()).toEqual(theirVote)
  // Which model answered, and how much it read, is of the conversation.
  await server.settle()
  expect((await server.admin.get(`/api/actions/${pay}/story`)).toldAt).not.toBeNull()
  expect(await del.get(`/api/actions/${pay}/story`)).toMatchObject({ toldAt: null, answered: null })
  await fay.send('DELETE', `/api/delegations/${delegation.id}`)
  expect(await sees()).toEqual(theirVote)
})

test('a delegation that was ended and given again brings no earlier vote back, and the delegate is listed the action again', async () => {
  await using it = await start({ rules: [TWO] })
  const { server, target, fay, del, bot } = it
  const gil = await server.as({ name: 'Gil', kind: 'person', roles: ['finance'] })
  const { id } = await bot.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } })
  const approve = async (by: typeof fay) => (await by.post(`/api/actions/${id}/decision`, { verdict: 'approve' })).state
  const mine = async () => (await del.get('/api/actions?mine=true')).items.map((action: { id: string }) => action.id)
  const lend = () => fay.post('/api/delegations', { to: del.principal.id, expiresIn: 'PT1H' })

  const lent = await lend()
  expect(await approve(del)).toBe('proposed')
  expect(await mine()).toEqual([])
  await fay.send('DELETE', `/api/delegations/${lent.id}`)
  await lend()
  expect(await approve(gil)).toBe('proposed')
  expect(await mine()).toEqual([id])
  expect(await approve(del)).not.toBe('proposed')
  await server.settle()
  expect(target.writes).toHaveLength(1)
})

test('a vote whose delegation has run out is void wherever its action is shown, and stays void when others have decided', async () => {
  await using it = await start({ rules: [TWO], calls: ['keyed'] })
  const { server, fay, del, bot } = it
  const lent = await fay.post('/api/delegations', { to: del.principal.id, expiresIn: 'PT1H' })
  const { id: sessionId } = await bot.post('/api/sessions', {})
  await bot.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  await server.settle()
  const { pendingApprovals } = await fay.get(`/api/sessions/${sessionId}`)
  const { updatedAt } = await del.post(`/api/actions/${pendingApprovals[0].id}/decision`, { verdict: 'approve' })
  const endsAt = Date.parse(updatedAt)
  const store = await openBeside(server.database)
  await store.transact(() => raw(sql`update delegation set expires_at = ${endsAt} where id = ${lent.id}`))
  await store.close()

  const inMessages = (found: { actions?: object[] }[]) => found.flatMap(({ actions = [] }) => actions)
  const places = async () => {
    using stream = await fay.stream(`/api/sessions/${sessionId}/events?after=1000000`)
    return {
      list: (await fay.get('/api/actions')).items,
      messages: inMessages((await fay.get(`/api/sessions/${sessionId}/messages`)).items),
      timeline: inMessages((await fay.get(`/api/sessions/${sessionId}/timeline`)).items.map(({ message }: { message: object }) => message)),
      snapshot: (await stream.next('reset')).actions,
      file: [JSON.parse((await fay.send('GET', '/api/actions/export')).text)],
    }
  }
  const ofDel = { by: { name: 'Del' }, for: { name: 'Fay' }, counts: false }
  expect((await fay.get(`/api/sessions/${sessionId}`)).pendingApprovals).toMatchObject([{ votes: [ofDel] }])
  for (const [where, found] of Object.entries(await places())) expect(found, where).toMatchObject([{ votes: [ofDel] }])
  const [{ id }] = pendingApprovals
  for (const name of ['Gil', 'Hal']) {
    const person = await server.as({ name, kind: 'person', roles: ['finance'] })
    await person.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  }
  await server.settle()
  for (const [where, found] of Object.entries(await places()))
    expect(found, where).toMatchObject([{ state: 'succeeded', votes: [ofDel, { by: { name: 'Gil' } }, { by: { name: 'Hal' } }] }])
  const late = await fay.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'decline' } })
  expect(late.text).toContain('was already approved by Gil and Hal at')
})

test('a vote whose person lost the role before the decision is void wherever its action is shown, also when they have it again', async () => {
  await using it = await start({ rules: [TWO], calls: ['keyed'] })
  const { server, fay, bot } = it
  const { id: sessionId } = await bot.post('/api/sessions', {})
  await bot.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  await server.settle()
  const { pendingApprovals } = await fay.get(`/api/sessions/${sessionId}`)
  const [{ id }] = pendingApprovals
  const people = []
  for (const name of ['Gil', 'Hal', 'Ida']) people.push(await server.as({ name, kind: 'person', roles: ['finance'] }))
  const [gil, hal, ida] = people
  const setRoles = (roles: string[]) => server.admin.send('PATCH', `/api/people/${gil?.principal.id}`, { body: { roles } })
  await gil?.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await setRoles(['member'])
  await hal?.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  const decided = await ida?.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  const votes = [{ by: { name: 'Gil' }, counts: false }, { by: { name: 'Hal' } }, { by: { name: 'Ida' } }]
  expect(decided, 'the answer').toMatchObject({ votes })
  await server.settle()
  for (const roles of [['member'], ['finance']]) {
    await setRoles(roles)
    const found = await fay.get(`/api/actions/${id}`)
    expect(found).toMatchObject({ state: 'succeeded', votes })
    expect(found.votes.slice(1).every((vote: object) => !('counts' in vote))).toBe(true)
    expect(JSON.parse((await fay.send('GET', '/api/actions/export')).text)).toMatchObject({ votes })
  }
})

test('the inbox of a delegate has what waits in the place of another from the start, and hears of a delegation while it is open', async () => {
  await using it = await start()
  const { server, fay, del, delKey, bot } = it
  const propose = async (what: string) => (await bot.post('/api/actions', { tool: 'keyed', arguments: { what } })).id
  const id = await propose('x')
  await bot.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'not for Fay' } })
  const open = () => openInbox(createClient({ baseUrl: server.url, key: delKey }))
  const before = open()
  expect((await until(before, ({ loaded }) => loaded)).items).toEqual([])

  const lent = await fay.post('/api/delegations', { to: del.principal.id, expiresIn: 'PT1H' })
  expect((await until(before, ({ waiting }) => waiting > 0)).items.map((action) => action.id)).toEqual([id])
  await del.post(`/api/actions/${id}/snooze`, { for: 'PT1H' })
  const after = open()
  expect((await until(after, ({ loaded }) => loaded)).items.map((action) => action.id)).toEqual([id])

  // What was only listed, by either of them, until its lender has decided it.
  const others = [await propose('y'), await propose('z')]
  const late = open()
  for (const inbox of [before, after, late]) await until(inbox, ({ loaded, waiting }) => loaded && waiting === 3)
  for (const [nth, other] of others.entries()) {
    await fay.post(`/api/actions/${other}/decision`, { verdict: 'decline' })
    for (const inbox of [before, after, late]) await until(inbox, ({ items }) => items.every((item) => item.id !== other))
    expect(late.get().items).toHaveLength(2 - nth)
  }
  late.close()

  await fay.send('DELETE', `/api/delegations/${lent.id}`)
  for (const inbox of [before, after]) {
    expect((await until(inbox, ({ waiting }) => waiting === 0)).items).toEqual([])
    inbox.close()
  }
})

for (const roles of [[], ['viewer']]) {
  test(`an open inbox of ${roles[0] ?? 'nobody in particular'} follows the delegations to its person and the roles of their lenders`, async () => {
    await using it = await start({ fayRoles: ['member'], delRoles: roles })
    const { server, fay, del, bot } = it
    const { id } = await bot.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } })
    const listed = async () => (await del.get('/api/actions?delegated=true')).items.map((action: { id: string }) => action.id)
    using inbox = await del.stream('/api/events')
    const delegation = await fay.post('/api/delegations', { to: del.principal.id, expiresIn: 'PT1H' })
    await inbox.next('reset')
    expect(await listed()).toEqual([])
    for (const [held, actions] of [
      [['finance'], [id]],
      [['member'], []],
    ]) {
      await server.admin.send('PATCH', `/api/people/${fay.principal.id}`, { body: { roles: held } })
      await inbox.next('reset')
      expect(await listed()).toEqual(actions)
    }
    await fay.send('DELETE', `/api/delegations/${delegation.id}`)
    await inbox.next('reset')
  })
}
