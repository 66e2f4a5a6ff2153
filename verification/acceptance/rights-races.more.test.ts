import type { Action, AuditEntryView } from '@countersign/core'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import type { ApiAnswer, ApiClient } from '../testing/api-client.ts'
import { holdLock } from '../testing/hold-lock.ts'
import { sendSignIn, tokenOf } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

// Rights are changed at the moment they are used, many times over. On Postgres the two sides come in through two servers.

const ROUNDS = 20

/** A busy machine may show only one side of a race for a while. Then there are further rounds, until the time of the test is over. */
const isOneSided = ({ allowed, asked }: { allowed: number; asked: number }): boolean => Math.min(allowed, asked) === 0

/** One server on SQLite, two on one Postgres, where a test fails when transactions waited in a circle. */
async function startDesk(policy?: object) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const database = stack.use(await openServerDatabase())
  const folder = stack.use(temporaryFolder())
  const isShared = inject('database') === 'postgres'
  const start = async () =>
    stack.use(
      await startTestServer({
        config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: toolsOf(target), ...(policy && { policy }) },
        scripts: { desk: [{ text: 'Done.' }] },
        place: { dataDir: folder.path, environment: database.environment },
      }),
    )
  const here = await start()
  const there = isShared ? await start() : here
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  return {
    ...{ target, here, there, databaseUrl: database.environment.DATABASE_URL },
    /** Somebody with a key of their own, who comes in at either server. */
    async made(body: Parameters<typeof here.makeKey>[0]) {
      const { key, id, principal } = await here.makeKey(body)
      return { id, principal, here: here.with(bearer(key)), there: there.with(bearer(key)) }
    },
    /** The record, oldest row first. */
    async record(): Promise<AuditEntryView[]> {
      const rows: AuditEntryView[] = []
      for (let cursor = ''; ; ) {
        const page = await here.admin.get(`/api/audit?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
        rows.push(...page.items)
        if (page.nextCursor === null) return rows.reverse()
        cursor = page.nextCursor
      }
    },
    async settle() {
      for (const server of [here, there]) await server.settle()
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const refused = (answers: readonly ApiAnswer[]) => answers.flatMap(({ status, body }) => (status < 300 ? [] : [body]))
const propose = (who: ApiClient, what: string) => who.send('POST', '/api/actions', { body: { tool: 'keyed', arguments: { what } } })
const decide = (who: ApiClient, id: string) => who.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })

test('a host makes tokens while an admin changes roles: nobody waits in a circle', async () => {
  await using desk = await startDesk()
  const portal = await desk.made({ name: 'portal', kind: 'service', person: null, scopes: ['embed'], embedRoles: ['approver', 'finance'] })
  const { principal } = await desk.made({ name: 'Ben', kind: 'person', roles: ['approver'] })
  const mint = (person: string, role: string) => portal.there.send('POST', '/api/embed-tokens', { body: { person, roles: [role] } })
  const give = (...roles: string[]) => desk.here.admin.send('PATCH', `/api/people/${principal.id}`, { body: { roles } })
  for (let round = 0; round < ROUNDS; round++) {
    const role = round % 2 === 0 ? 'finance' : 'approver'
    // A person who is new, and one whose roles changed: both are written by the same request that makes the token.
    const answers = await Promise.all([mint(`new-${round}`, role), give(role), mint('known', role), give('viewer')])
    expect(refused(answers), `round ${round}`).toEqual([])
  }
})

test('an agent repeats what it asked while people decide and an admin changes roles: nobody waits in a circle', async () => {
  await using desk = await startDesk()
  const bot = await desk.made({ name: 'bot', kind: 'agent' })
  const ana = await desk.made({ name: 'Ana', kind: 'person', roles: ['approver'] })
  const { principal } = await desk.made({ name: 'Ben', kind: 'person', roles: ['approver'] })
  const give = (role: string) => desk.here.admin.send('PATCH', `/api/people/${principal.id}`, { body: { roles: [role] } })
  for (let round = 0; round < ROUNDS; round++) {
    const what = `round ${round}`
    const { body } = await propose(bot.here, what)
    const role = round % 2 === 0 ? 'viewer' : 'approver'
    const answers = await Promise.all([propose(bot.here, what), decide(ana.there, body.id), give(role), propose(bot.there, what)])
    expect(refused(answers), `round ${round}`).toEqual([])
  }
})

test.skipIf(inject('database') !== 'postgres')(
  'what is decided under another policy than before stands behind its row in the record',
  async () => {
    await using desk = await startDesk()
    const bot = await desk.made({ name: 'bot', kind: 'agent' })
    const ana = await desk.made({ name: 'Ana', kind: 'person', roles: ['approver'] })
    const { body: waiting } = await propose(bot.here, 'one')
    const held = await holdLock(desk.here, 'rights')
    const body = { document: { rules: [{ name: 'deny', match: {}, verdict: 'deny' }] }, reason: 'race' }
    const saved = desk.there.admin.send('PUT', '/api/policy', { body, headers: { 'if-match': '"1"' } })
    await held.isWaitedFor()
    // It has its session already, and waits behind the change of the policy.
    const decided = decide(ana.here, waiting.id)
    await held.isWaitedFor(2)
    await held.letGo()
    expect((await saved).status).toBe(200)
    await decided
    await desk.settle()
    const record = await desk.record()
    const change = record.findLastIndex(({ kind }) => kind === 'policy_saved')
    const rows = record.flatMap(({ kind, actionId }, at) => (actionId === waiting.id && kind !== 'proposed' ? [at > change] : []))
    expect(rows.length).toBeGreaterThan(0)
    expect(rows).not.toContain(false)
  },
)

test.skipIf(inject('database') !== 'postgres')(
  'two tokens for a person whose name changes meanwhile: nobody waits in a circle',
  async () => {
    await using desk = await startDesk()
    const portal = await desk.made({ name: 'portal', kind: 'service', person: null, scopes: ['embed'], embedRoles: ['approver'] })
    const mint = (who: ApiClient) => who.send('POST', '/api/embed-tokens', { body: { person: 'known', roles: ['approver'] } })
    const { body: first } = await mint(portal.here)
    const held = await holdLock(desk.here, 'rights')
    const both = [mint(portal.here), mint(portal.there)]
    await held.isWaitedFor(2)
    await held.change('update principal set name = $1 where id = $2', ['Another', first.principal.id])
    await held.commit()
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([201, 201])
  },
)

test.skipIf(inject('database') !== 'postgres')(
  'whoever signs in while they are disabled is not signed in when they are enabled again',
  async () => {
    await using desk = await startDesk()
    const { here, there } = desk
    const ada = await desk.made({ name: 'Ada', kind: 'person', roles: ['admin'] })
    const link = here.signInLink()
    const held = await holdLock(here, 'system')
    const disabled = ada.there.send('POST', '/api/people/prn_local/disable')
    await held.isWaitedFor()
    const signedIn = sendSignIn(here.url, { link: tokenOf(link) })
    await held.isWaitedFor(2)
    await held.letGo()
    expect((await disabled).status).toBe(200)
    const secret = (await signedIn).headers.get('countersign-console')
    expect((await ada.there.send('POST', '/api/people/prn_local/enable')).status).toBe(200)
    if (secret !== null) expect((await there.with({ 'countersign-console': secret }).send('GET', '/api/me')).body.principal).toBeUndefined()
    const { console_session } = await here.dump()
    expect((console_session as { ended_at: number | null }[]).filter(({ ended_at }) => ended_at === null)).toEqual([])
  },
)

test.skipIf(inject('database') !== 'postgres')(
  'whoever is uninvited while they ask the agent for something has asked for nothing',
  async () => {
    await using desk = await startDesk()
    const ana = await desk.made({ name: 'Ana', kind: 'person', roles: ['member'] })
    const bo = await desk.made({ name: 'Bo', kind: 'person', roles: ['approver'] })
    const { id: sessionId } = await ana.here.post('/api/sessions', {})
    const path = `/api/sessions/${sessionId}`
    await ana.here.post(`${path}/participants`, { person: bo.principal.id })
    const { requestId } = await bo.here.post('/api/agent-requests', { sessionId, message: 'later' })
    const before = (await ana.here.get(`${path}/messages`)).items
    const held = await holdLock(desk.here, sessionId)
    const asked = [
      bo.here.send('POST', `/api/agent-requests/${requestId}/execute`, { body: {} }),
      bo.there.send('POST', '/api/agent-requests', { body: { sessionId, message: 'more' } }),
    ]
    await held.isWaitedFor(2)
    await held.change('delete from session_participant where principal_id = $1', [bo.principal.id])
    await held.commit()
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([404, 404])
    await desk.settle()
    expect((await ana.here.get(`${path}/messages`)).items).toEqual(before)
  },
)

test('a grant that expires while calls are proposed allows what was proposed before that, and nothing begins by it later', async () => {
  // On a fast machine, calls are proposed sooner than they begin: those that have not begun when the grant expires wait for people again.
  await using desk = await startDesk({ rules: [], limits: { waitingPerAgent: 10_000 } })
  const bot = await desk.made({ name: 'bot', kind: 'agent' })
  const seen = { allowed: 0, asked: 0 }
  for (let round = 0; isOneSided(seen) || round < ROUNDS / 4; round++) {
    const call = (who: ApiClient, key: string): Promise<Action> =>
      who.post('/api/actions', { tool: 'keyed', arguments: { what: `round ${round}` } }, { 'idempotency-key': `${round}-${key}` })
    const { id } = await call(bot.here, 'first')
    await desk.here.admin.post(`/api/actions/${id}/decision`, {
      verdict: 'approve',
      // Longer in later rounds, for a machine on which the first of the calls comes after a second.
      remember: { scope: 'agent', exact: true, expiresIn: `PT${1 + Math.floor(round / ROUNDS)}S` },
    })
    const [grant] = (await desk.there.admin.get('/api/grants')).items
    const untilAsked = async (who: ApiClient, name: string): Promise<Action[]> => {
      const made: Action[] = []
      do made.push(await call(who, `${name}-${made.length}`))
      while (made.at(-1)?.state !== 'proposed')
      return made
    }
    const made = (await Promise.all([untilAsked(bot.here, 'a'), untilAsked(bot.there, 'b'), untilAsked(bot.here, 'c')])).flat()
    await desk.settle()
    const record = await desk.record()
    for (const action of made) {
      const isAllowed = action.policy.rule?.startsWith('grant ') ?? false
      // Another way round, the database is the judge: between this time and its own, a grant may end.
      if (isAllowed) expect([round, action.createdAt < grant.expiresAt]).toEqual([round, true])
      const began = record.find(({ kind, actionId }) => kind === 'executing' && actionId === action.id)
      if (began) expect([round, began.at < grant.expiresAt]).toEqual([round, true])
      seen[isAllowed ? 'allowed' : 'asked']++
    }
  }
})

test('a grant that is withdrawn while calls are proposed allows what stands before that in the record, and nothing after', async () => {
  await using desk = await startDesk()
  const bot = await desk.made({ name: 'bot', kind: 'agent' })
  const seen = { allowed: 0, asked: 0 }
  for (let round = 0; isOneSided(seen) || round < ROUNDS; round++) {
    const call = (who: ApiClient, key: string) =>
      who.post('/api/actions', { tool: 'keyed', arguments: { what: `round ${round}` } }, { 'idempotency-key': `${round}-${key}` })
    const { id } = await call(bot.here, 'first')
    const remember = { scope: 'agent', exact: true, expiresIn: 'P1D' }
    await desk.here.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', remember })
    const [grant] = (await desk.there.admin.get('/api/grants')).items
    const revoke = () => desk.there.admin.send('DELETE', `/api/grants/${grant.id}`)
    const calls = (from: number) => [bot.here, bot.there, bot.here].map((who, nth) => call(who, `${from + nth}`))
    const [some, revoked, others] = await Promise.all([Promise.all(calls(0)), revoke(), Promise.all(calls(10))])
    expect(revoked.status).toBe(200)
    for (const late of await Promise.all(calls(20))) expect(late.state).toBe('proposed')
    await desk.settle()
    const record = await desk.record()
    const end = record.findIndex(({ kind, data }) => kind === 'grant_revoked' && (data as { grant?: string }).grant === grant.id)
    for (const action of [...some, ...others] as Action[]) {
      const isAllowed = action.policy.rule?.startsWith('grant ') ?? false
      const proposed = record.findIndex(({ actionId }) => actionId === action.id)
      expect([round, isAllowed, proposed < end]).toEqual([round, isAllowed, isAllowed])
      const began = record.findIndex(({ kind, actionId }) => kind === 'executing' && actionId === action.id)
      expect([round, began < end]).toEqual([round, true])
      seen[isAllowed ? 'allowed' : 'asked']++
    }
  }
})

test('an action that a policy comes to deny while it is decided begins before that in the record, or never', async () => {
  await using desk = await startDesk()
  const bot = await desk.made({ name: 'bot', kind: 'agent' })
  const ana = await desk.made({ name: 'Ana', kind: 'person', roles: ['approver'] })
  let version = 1
  const save = async (verdict: string) => {
    const body = { document: { rules: [{ name: verdict, match: {}, verdict }] }, reason: 'race' }
    const { status } = await desk.there.admin.send('PUT', '/api/policy', { body, headers: { 'if-match': `"${version}"` } })
    expect(status).toBe(200)
    version++
  }
  const began: string[] = []
  const kept: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const { body: waiting } = await propose(bot.here, `round ${round}`)
    expect(waiting.state).toBe('proposed')
    const [, , { body: meanwhile }] = await Promise.all([decide(ana.here, waiting.id), save('deny'), propose(bot.there, `other ${round}`)])
    expect(meanwhile.state).toBe(meanwhile.policy.rule === 'deny' ? 'declined' : 'proposed')
    await desk.settle()
    const record = await desk.record()
    const saved = record.findLastIndex(({ kind }) => kind === 'policy_saved')
    const start = record.findIndex(({ kind, actionId }) => kind === 'executing' && actionId === waiting.id)
    const { state } = await desk.here.admin.get(`/api/actions/${waiting.id}`)
    if (start >= 0) expect([round, start < saved]).toEqual([round, true])
    else expect([round, state]).toEqual([round, expect.not.stringMatching('succeeded')])
    ;(start >= 0 ? began : kept).push(state)
    await save('ask')
  }
  expect(desk.target.writes).toHaveLength(began.length)
})

test('who is disabled, loses a role or a delegation while they decide fifty at once decides some before that, and none after', async () => {
  await using desk = await startDesk({ rules: [{ name: 'people', match: {}, verdict: 'ask', requires: { roles: ['approver'] } }] })
  const bot = await desk.made({ name: 'bot', kind: 'agent' })
  const cuts: number[] = []
  for (const how of ['person_disabled', 'principal_changed', 'delegation_ended'] as const) {
    const isLent = how === 'delegation_ended'
    const lender = await desk.made({ name: 'Lea', kind: 'person', roles: ['approver'] })
    const ana = await desk.made({ name: 'Ana', kind: 'person', roles: isLent ? [] : ['approver'] })
    const { id } = isLent ? await lender.here.post('/api/delegations', { to: ana.principal.id, expiresIn: 'PT1H' }) : ana.principal
    const items: Pick<Action, 'id' | 'revision' | 'digest'>[] = []
    for (let nth = 0; nth < 50; nth++) {
      const { body } = await propose(bot.here, `${how} ${nth}`)
      items.push({ id: body.id, revision: body.revision, digest: body.digest })
    }
    const first = bot.here.get(`/api/actions/${items[0]?.id}?wait=60&until=decided`)
    const many = ana.here.send('POST', '/api/actions/decisions', { body: { items, verdict: 'approve' } })
    await first
    const take = {
      person_disabled: ['POST', `/api/people/${id}/disable`],
      principal_changed: ['PATCH', `/api/people/${id}`],
      delegation_ended: ['DELETE', `/api/delegations/${id}`],
    }[how]
    const taken = await desk.there.admin.send(take[0] ?? '', take[1] ?? '', how === 'principal_changed' ? { body: { roles: [] } } : {})
    expect([how, taken.status < 300]).toEqual([how, true])
    await many
    await desk.settle()
    const record = await desk.record()
    const end = record.findLastIndex(({ kind }) => kind === how)
    const approved = record.flatMap(({ kind, actionId }, at) =>
      kind === 'approved' && items.some((item) => item.id === actionId) ? [at] : [],
    )
    expect([how, approved.filter((at) => at > end)]).toEqual([how, []])
    cuts.push(approved.length)
  }
  expect(Math.min(...cuts), JSON.stringify(cuts)).toBeGreaterThan(0)
})

test('tokens that a key makes while it is revoked at another server end with it, at every server', async () => {
  await using desk = await startDesk()
  for (let round = 0; round < ROUNDS; round++) {
    const portal = await desk.made({ name: 'portal', kind: 'service', person: null, scopes: ['embed'], embedRoles: ['approver'] })
    const mint = (who: ApiClient, person: string) => who.send('POST', '/api/embed-tokens', { body: { person, roles: ['approver'] } })
    await mint(portal.here, 'known')
    const [made, revoked] = await Promise.all([
      Promise.all([mint(portal.here, 'known'), mint(portal.here, 'new'), mint(portal.there, 'known')]),
      desk.there.admin.send('DELETE', `/api/keys/${portal.id}`),
    ])
    expect(revoked.status).toBe(200)
    expect((await mint(portal.here, 'late')).status).toBe(401)
    for (const { body } of made.filter(({ status }) => status === 201)) {
      for (const server of [desk.here, desk.there]) {
        expect((await server.with({ authorization: `Bearer ${body.token}` }).send('GET', '/api/me')).status).toBe(401)
      }
    }
    // Nothing is left that would come back to life.
    const { embed_token } = await desk.here.dump()
    expect(embed_token).toEqual([])
  }
})

test.skipIf(inject('database') !== 'postgres')(
  'who stands still while they change rights holds others up for 10 s at most; then these go on, and what only reads went on all the time',
  async () => {
    await using desk = await startDesk()
    const bot = await desk.made({ name: 'bot', kind: 'agent' })
    const ana = await desk.made({ name: 'Ana', kind: 'person', roles: ['approver'] })
    const ids: string[] = []
    for (let nth = 0; nth < 12; nth++) ids.push((await propose(bot.here, `${nth}`)).body.id)
    // As the database sees a server whose process is stopped: a transaction with the timeout of our connections, and nothing more.
    const stopped = new Client({ connectionString: desk.databaseUrl, idle_in_transaction_session_timeout: 10_000 })
    const isEnded = Promise.withResolvers<Error>()
    stopped.on('error', isEnded.resolve)
    await stopped.connect()
    await stopped.query('begin')
    await stopped.query(`select pg_advisory_xact_lock(hashtextextended('rights', 4319))`)
    const votes = Promise.all(ids.map((id, nth) => decide(nth % 2 === 0 ? ana.here : ana.there, id)))
    let isDone = false
    const done = votes.then(() => {
      isDone = true
    })
    expect((await desk.here.admin.get('/api/actions?state=proposed')).items).toHaveLength(12)
    expect(isDone).toBe(false)
    expect(refused(await votes)).toEqual([])
    await done
    expect(String(await isEnded.promise)).toContain('terminat')
  },
)
