import type { Action, ActionStory, AuditEntryView, AuditList, PolicyDocument, SeenBy } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { type Sender, startFinanceDesk } from '../testing/finance-desk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

type SeenRow = { principal_id: string; revision: number; seen_at: number }

async function startDesk(rule: object = {}, passedMs = () => 0) {
  const desk = await startFinanceDesk(rule, passedMs)
  return { ...desk, rows: async () => (await desk.server.dump()).action_seen as SeenRow[] }
}

type Seen = Pick<Action, 'id' | 'revision' | 'digest'>
const look = (who: Sender, { id, revision, digest }: Seen, headers = {}) =>
  who.send('POST', `/api/actions/${id}/seen`, { body: { revision, digest }, headers })
const named = (seen: readonly SeenBy[] = []) => seen.map(({ by, revision }) => `${by.name} ${revision}`)

test('two people see that the other has an action on the screen; the first time counts, and nothing else about the action changes', async () => {
  await using desk = await startDesk()
  const { ana, ben, vera, server } = desk
  const action = await desk.propose()
  const recorded = async () => (await server.admin.get('/api/audit')).items.map(({ id }: { id: number }) => id)
  const [before, shown] = [await recorded(), await ana.get(`/api/actions/${action.id}`)]
  expect(shown.seenBy).toBeUndefined()
  for (let times = 0; times < 3; times++) expect(await look(ana, action)).toMatchObject({ status: 200 })
  const [first] = await desk.rows()
  expect(await look(ben, action)).toMatchObject({ status: 200, body: { seenBy: [{ by: { name: 'Ben' } }, { by: { name: 'Ana' } }] } })
  expect((await desk.rows()).filter(({ principal_id }) => principal_id === ana.principal.id)).toEqual([first])
  const { seenBy, ...rest } = await ben.get(`/api/actions/${action.id}`)
  expect(named(seenBy)).toEqual(['Ben 1', 'Ana 1'])
  expect(rest).toEqual(shown)
  expect(await recorded()).toEqual(before)
  // Who watches all of it counts too. Lists do not say it: they would cost a query a row.
  await look(vera, action)
  expect(named((await ana.get(`/api/actions/${action.id}`)).seenBy)).toContain('Vera 1')
  expect((await ana.get('/api/actions')).items[0].seenBy).toBeUndefined()
  // Reading is not looking.
  expect((await desk.rows()).length).toBe(3)
})

test('no agent says that a person has looked, and none learns who did', async () => {
  await using desk = await startDesk()
  const { agent, ana, server } = desk
  const action = await desk.propose()
  await look(ana, action)
  expect(await look(agent, action)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  for (const field of ['by', 'person', 'principalId', 'at']) {
    const body = { revision: 1, digest: action.digest, [field]: ana.principal.id }
    expect((await agent.send('POST', `/api/actions/${action.id}/seen`, { body })).status).toBe(403)
    expect((await ana.send('POST', `/api/actions/${action.id}/seen`, { body })).status).toBe(400)
  }
  // A key of the person that only asks.
  const asks = await server.as({ name: 'asks', kind: 'person', person: ana.principal.id, scopes: ['propose'] })
  expect((await look(asks, action)).status).toBe(403)
  expect((await desk.rows()).map(({ principal_id }) => principal_id)).toEqual([ana.principal.id])
  const read: Action = await agent.get(`/api/actions/${action.id}`)
  expect(read.seenBy).toBeUndefined()
  const story: ActionStory = await agent.get(`/api/actions/${action.id}/story`)
  expect(story.seen).toEqual([])
})

test('for who may not see the action it does not exist, and who sees it but neither decides nor watches is not counted', async () => {
  await using desk = await startDesk()
  const { server } = desk
  const action = await desk.propose()
  const otto = await desk.person('Otto', ['approver'])
  const hidden = await look(otto, action)
  const nothing = await look(otto, { ...action, id: 'act_none' })
  expect([hidden, nothing]).toMatchObject([{ status: 404 }, { status: 404 }])
  const mia = await server.as({ name: 'Mia', kind: 'person', roles: ['member'] })
  const own: Action = await mia.post('/api/actions', { tool: 'keyed', arguments: { what: 'mine' } })
  await look(desk.ana, own)
  expect(await look(mia, own)).toMatchObject({ status: 200, body: { seenBy: [{ by: { name: 'Ana' } }] } })
  expect((await desk.rows()).map(({ principal_id }) => principal_id)).toEqual([desk.ana.principal.id])
})

test('a look names the revision and the digest that wait, as a decision does, and every revision is seen anew', async () => {
  await using desk = await startDesk({ requires: { roles: ['finance'], quorum: 2 } })
  const { ana, ben } = desk
  const first = await desk.propose()
  for (const body of [{}, { revision: 1 }, { digest: first.digest }, { revision: 0, digest: first.digest }])
    expect((await ana.send('POST', `/api/actions/${first.id}/seen`, { body })).status).toBe(400)
  await look(ana, first)
  const decision = { verdict: 'approve', revision: 1, digest: first.digest, arguments: { what: 'less' } }
  const second: Action = await ben.post(`/api/actions/${first.id}/decision`, decision)
  expect(second).toMatchObject({ state: 'proposed', revision: 2 })
  const mixed = [first, { ...second, revision: 1 }, { ...second, digest: first.digest }, { ...second, revision: 3 }]
  for (const seen of mixed) {
    expect(await look(ana, seen)).toMatchObject({ status: 409, body: { code: 'revision_mismatch', action: { revision: 2 } } })
  }
  expect((await ana.get(`/api/actions/${first.id}`)).seenBy).toBeUndefined()
  await look(ana, second)
  expect(named((await ana.get(`/api/actions/${first.id}`)).seenBy)).toEqual(['Ana 2'])
  const story: ActionStory = await ben.get(`/api/actions/${first.id}/story`)
  expect(named(story.seen)).toEqual(['Ana 1', 'Ana 2'])
})

test('an action that waits for nobody any more is not seen: declined, withdrawn or expired', async () => {
  let passedMs = 0
  await using desk = await startDesk({}, () => passedMs)
  const { ana, agent } = desk
  const [declined, withdrawn] = [await desk.propose({ arguments: { what: 'a' } }), await desk.propose({ arguments: { what: 'b' } })]
  await ana.post(`/api/actions/${declined.id}/decision`, { verdict: 'decline' })
  await agent.post(`/api/actions/${withdrawn.id}/withdraw`, {})
  const over = [declined, withdrawn]
  // On Postgres the time is the database's, which no test moves.
  if (inject('database') !== 'postgres') {
    const expired = await desk.propose({ arguments: { what: 'c' }, expiresIn: 'PT1H' })
    passedMs = 2 * 3_600_000
    // A late decision is what notices that it expired.
    expect((await ana.send('POST', `/api/actions/${expired.id}/decision`, { body: { verdict: 'approve' } })).status).toBe(409)
    over.push(expired)
  }
  for (const action of over) {
    expect(await look(ana, action)).toMatchObject({ status: 409, body: { code: 'already_decided' } })
  }
  expect(await desk.rows()).toEqual([])
})

test('the record says beside a decision when that revision was first on the screen of whoever decided, and beside no other row', async () => {
  await using desk = await startDesk({ requires: { roles: ['finance'], quorum: 2 } })
  const { ana, ben, server } = desk
  const record = async (id: string): Promise<Record<string, string>> => {
    const { items, seen }: AuditList = await server.admin.get(`/api/audit?action=${id}`)
    const of = ({ kind, actor }: AuditEntryView) => `${kind} by ${actor.name}`
    return Object.fromEntries(
      Object.entries(seen).map(([row, at]) => [of(items.find(({ id }) => id === Number(row)) as AuditEntryView), at]),
    )
  }
  const first = await desk.propose()
  await look(ana, first)
  // What was seen of an earlier revision counts for no decision about a later one.
  const edit = { verdict: 'approve', revision: 1, digest: first.digest, arguments: { what: 'less' } }
  const second: Action = await ben.post(`/api/actions/${first.id}/decision`, edit)
  await ana.post(`/api/actions/${first.id}/decision`, { verdict: 'approve', revision: 2, digest: second.digest })
  expect(await record(first.id)).toEqual({})
  const other = await desk.propose({ arguments: { what: 'other' } })
  await look(ana, other)
  await ana.post(`/api/actions/${other.id}/decision`, { verdict: 'approve' })
  await look(ben, other)
  await ben.post(`/api/actions/${other.id}/decision`, { verdict: 'decline' })
  const told = await record(other.id)
  expect(Object.keys(told).sort()).toEqual(['declined by Ben', 'voted by Ana'])
  const rows = await desk.rows()
  expect(told['voted by Ana']).toBe(
    new Date(Number(rows.filter(({ principal_id }) => principal_id === ana.principal.id).at(-1)?.seen_at)).toISOString(),
  )
})

test('a thousand looks of one person are one row, and of many people the newest twenty are named', async () => {
  await using desk = await startDesk()
  const { ana, server } = desk
  const action = await desk.propose()
  for (let round = 0; round < 10; round++) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => look(ana, action)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  }
  const { action_seen, once } = await server.dump()
  expect(action_seen).toHaveLength(1)
  expect(once).toEqual([])
  for (let number = 0; number < 25; number++) await look(await desk.person(`P${number}`), action)
  const { seenBy } = await ana.get(`/api/actions/${action.id}`)
  expect(seenBy).toHaveLength(20)
  expect(seenBy[0].by.name).toBe('P24')
})

test('who has seen an action is forgotten when it is redacted', async () => {
  await using desk = await startDesk()
  const { ana, server } = desk
  const action = await desk.propose()
  await look(ana, action)
  await ana.post(`/api/actions/${action.id}/decision`, { verdict: 'decline' })
  expect(await desk.rows()).toHaveLength(1)
  await server.admin.post(`/api/actions/${action.id}/redact`, { reason: 'personal' })
  expect(await desk.rows()).toEqual([])
  const story: ActionStory = await ana.get(`/api/actions/${action.id}/story`)
  expect(story.seen).toEqual([])
  expect((await look(ana, action)).status).toBe(410)
})

// On SQLite there is one process at a time.
test.skipIf(inject('database') !== 'postgres')('looks of one person at once in two processes are one row', async () => {
  await using database = await openServerDatabase()
  using folder = temporaryFolder()
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const policy = { default: 'ask', rules: [{ name: 'all', match: {}, verdict: 'ask' }] } as PolicyDocument
  const options = {
    config: { tools: toolsOf(target), policy, network: { allow: ['127.0.0.1'] } },
    place: { dataDir: folder.path, environment: database.environment },
  }
  await using here = await startTestServer(options)
  await using there = await startTestServer(options)
  const action: Action = await here.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } })
  const looks = Array.from({ length: 40 }, (_, number) => look((number % 2 ? here : there).admin, action))
  for (const { status } of await Promise.all(looks)) expect(status).toBe(200)
  expect((await here.dump()).action_seen).toHaveLength(1)
})
