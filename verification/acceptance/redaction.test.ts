import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Action, Grant } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { openForArchive, retention } from '../../packages/server/src/store/index.ts'
import { ADMIN_NAME } from '../testing/bootstrap-key.ts'
import { settled as untilSettled, waiting as waitingFor } from '../testing/decisions.ts'
import { holdLock } from '../testing/hold-lock.ts'
import { exported, kindsOf, recordOf, verify } from '../testing/read-record.ts'
import { runCommandLine } from '../testing/run-command.ts'
import { call, startTalk } from '../testing/talk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

test('redaction ends the grants that were made from an action, and takes away the values in them', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using desk = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = desk
  const bot = await desk.as({ name: 'bot', kind: 'agent', roles: [] })
  const propose = (what: string): Promise<Action> => bot.post('/api/actions', { tool: 'unkeyed', arguments: { what } })
  const allow = (actionId: string, terms: object): Promise<Grant> =>
    admin.post('/api/grants', { actionId, scope: 'agent', expiresIn: 'P1D', ...terms })
  const [{ id }, other] = [await propose('ORD-17'), await propose('ORD-18')]
  const exact = await allow(id, { exact: true })
  const rule = await allow(id, { when: 'args.what == "ORD-17"', uses: 5 })
  const kept = await allow(other.id, { exact: true })
  const { body: before } = await admin.send('DELETE', `/api/grants/${(await allow(id, { exact: true })).id}`)
  await admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await untilSettled({ admin }, id)

  await admin.post(`/api/actions/${id}/redact`, { reason: 'asked for by Ana' })
  const grant = (of: Grant) => admin.get(`/api/grants/${of.id}`)
  const by = { revokedBy: { name: ADMIN_NAME }, state: 'revoked' }
  expect(await grant(exact)).toMatchObject({ ...by, arguments: {}, when: null })
  expect(await grant(rule)).toMatchObject({ ...by, arguments: null, when: 'Redacted' })
  expect(await grant(before)).toEqual({ ...before, arguments: {} })
  expect(await grant(kept)).toEqual(kept)
  expect(JSON.stringify((await desk.dump()).action_grant)).not.toContain('ORD-17')
  expect((await propose('ORD-17')).state).toBe('proposed')
  expect((await propose('ORD-18')).policy.rule).toBe(`grant ${kept.id}`)

  const ended = await recordOf(admin, 'kind=grant_revoked')
  expect(ended.map(({ data }) => data)).toEqual([before, exact, rule].map(({ id, tool }) => ({ grant: id, tool })))
  expect(await verify(await exported(admin))).toMatchObject({ problem: undefined })
  await admin.post(`/api/actions/${id}/redact`, { reason: 'again' })
  expect(kindsOf(await recordOf(admin, 'kind=grant_revoked'))).toHaveLength(ended.length)
})

test('an export right after a redaction has the row that says so, and verifies', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using desk = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = desk
  const { id } = await admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'ORD-17' } })
  await admin.post(`/api/actions/${id}/decision`, { verdict: 'decline' })
  expect(await verify(await exported(admin))).toMatchObject({ problem: undefined, redacted: 0 })
  await admin.post(`/api/actions/${id}/redact`, { reason: 'asked for by Ana' })
  const { text } = await admin.send('GET', '/api/audit/export')
  expect(text).toContain('"kind":"redacted"')
  expect(await verify(text)).toMatchObject({ problem: undefined, redacted: 2 })
})

test('redaction takes away what the reasons for a risk and for a verdict repeat of an action', async () => {
  await using desk = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } } } })
  const bot = await desk.as({ name: 'bot', kind: 'agent' })
  const command = { session_id: 's', cwd: '/work', hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_use_id: 'c1' }
  const asked = bot.send('POST', '/hooks/claude', { body: { ...command, tool_input: { command: 'cat /patients/jane-roe' } } })
  const { id, risk } = await waitingFor(desk)
  expect(risk.reasons.join()).toContain('jane-roe')
  await desk.admin.post(`/api/actions/${id}/decision`, { verdict: 'decline' })
  await asked
  await desk.admin.post(`/api/actions/${id}/redact`, { reason: 'asked for by Jane' })
  expect(await desk.admin.get(`/api/actions/${id}`)).toMatchObject({ risk: { level: risk.level, reasons: ['Redacted'] } })
  expect(JSON.stringify((await desk.dump()).action)).not.toContain('jane-roe')

  const again = [{ calls: [call('a', 'keyed', 'x')] }, { calls: [call('b', 'keyed', 'x')] }, { text: 'Right.' }]
  await using talk = await startTalk({ says: again })
  const { admin } = talk.server
  const { id: sessionId } = await admin.post('/api/sessions', {})
  await admin.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  const first = await waitingFor(talk.server)
  await admin.post(`/api/actions/${first.id}/decision`, { verdict: 'decline', reason: 'Jane Roe objects' })
  await talk.server.settle()
  const { items } = await admin.get('/api/actions')
  expect(items.map(({ policy }: Action) => policy.rule)).toEqual(['declined before', 'default'])
  for (const one of items) await admin.post(`/api/actions/${one.id}/redact`, { reason: 'asked for by Jane' })
  expect(JSON.stringify(await admin.get('/api/actions'))).not.toContain('Jane Roe')
  expect(JSON.stringify((await talk.server.dump()).action)).not.toContain('Jane Roe')
})

// Reasons that were stored by earlier versions repeat the value that the condition met.
test('redaction takes away why a condition could not be evaluated, of each revision and of the version on trial', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const policy = (verdict: 'allow' | 'ask') => ({
    default: 'ask' as const,
    rules: [{ name: 'by tier', match: { tool: 'unkeyed', when: '{"gold": 1}[args.what] == 1' }, verdict }],
  })
  await using desk = await startTestServer({ config: { tools: toolsOf(target), policy: policy('allow') } })
  const { admin } = desk
  const bot = await desk.as({ name: 'bot', kind: 'agent' })
  const tried = { document: { ...policy('ask'), expires: 'PT1H' }, reason: 'because', shadow: true }
  expect((await admin.send('PUT', '/api/policy', { body: tried, headers: { 'if-match': '"1"' } })).status).toBe(200)
  const { id, revision, digest }: Action = await bot.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'ORD-17' } })
  const edit = { verdict: 'approve', arguments: { what: 'ORD-18' }, reason: 'another one' }
  await admin.post(`/api/actions/${id}/decision`, { ...edit, revision, digest })
  await untilSettled({ admin }, id)
  const TABLES = ['action', 'action_revision', 'event', 'policy_difference'] as const
  const saying = async () => {
    const dump = await desk.dump()
    return TABLES.filter((table) => JSON.stringify(dump[table]).includes('could not be evaluated'))
  }
  expect(await saying()).toEqual(TABLES)
  await admin.post(`/api/actions/${id}/redact`, { reason: 'asked for by Ana' })
  expect(await saying()).toEqual([])
  expect(await admin.get(`/api/actions/${id}`)).toMatchObject({ policy: { rule: 'by tier', reason: 'Redacted' } })
  const { samples } = await admin.get('/api/policy/shadow')
  expect(samples).toMatchObject([{ actionId: id, rule: 'by tier', reason: 'Redacted' }])
})

test('redaction also takes away what the kept answer to a proposal repeats', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using desk = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = desk
  const bot = await desk.as({ name: 'bot', kind: 'agent' })
  const propose = (key: string, what: string): Promise<Action> =>
    bot.post('/api/actions', { tool: 'unkeyed', arguments: { what } }, { 'idempotency-key': key })
  const [{ id }, other] = [await propose('k1', 'ORD-17'), await propose('k2', 'ORD-18')]
  await admin.post(`/api/actions/${id}/decision`, { verdict: 'decline' })
  await admin.post(`/api/actions/${id}/redact`, { reason: 'asked for by Ana' })
  expect(JSON.stringify((await desk.dump()).once)).not.toContain('ORD-17')
  expect(await propose('k1', 'ORD-17')).toMatchObject({ id, description: 'Redacted', arguments: {} })
  expect(await propose('k2', 'ORD-18')).toEqual(other)
})

test('redaction also takes away the kept answer of an action that waited for longer than answers are kept', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using desk = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = desk
  const bot = await desk.as({ name: 'bot', kind: 'agent' })
  const propose = (): Promise<Action> =>
    bot.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'ORD-17' } }, { 'idempotency-key': 'k1' })
  const { id, createdAt } = await propose()
  // The answer of an open action is kept, and its time is put forward.
  const store = await openForArchive(desk.database)
  const limits = { ...retention.DEFAULT_RETENTION, gatewayCallsMs: 0 }
  await store.transact(() => retention.deleteAnswersOfActions(Date.parse(createdAt) + 1, limits)).finally(() => store.close())
  await admin.post(`/api/actions/${id}/decision`, { verdict: 'decline' })
  await admin.post(`/api/actions/${id}/redact`, { reason: 'asked for by Ana' })
  expect(JSON.stringify((await desk.dump()).once)).not.toContain('ORD-17')
  expect(await propose()).toMatchObject({ id, description: 'Redacted', arguments: {} })
})

test('redaction also takes away what the events of an action without a session repeat, and readers from before still get each of them', async () => {
  await using target = await startTarget(({ body }) => ({ status: 200, body: { id: 1, body } }))
  await using desk = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = desk
  const bot = await desk.as({ name: 'bot', kind: 'agent' })
  const propose = (what: string): Promise<Action> =>
    bot.post('/api/actions', { tool: 'unkeyed', arguments: { what }, context: { reason: `${what} is late` } })
  const kept = await propose('ORD-18')
  const { id } = await propose('ORD-17')
  await admin.post(`/api/actions/${kept.id}/decision`, { verdict: 'decline', reason: 'ORD-18 can wait' })
  const { revision, digest } = await admin.get(`/api/actions/${id}`)
  const edit = { verdict: 'approve', arguments: { what: 'ORD-17b' }, reason: 'ORD-17 cannot wait' }
  await admin.post(`/api/actions/${id}/decision`, { ...edit, revision, digest })
  await untilSettled({ admin }, id)

  const replay = async () => {
    using reader = await admin.stream('/api/events', { headers: { 'last-event-id': '0' } })
    await reader.next('action_update', ({ proposalId, state }) => proposalId === id && state === 'succeeded')
    return reader.seen.filter(({ id }) => id !== undefined)
  }
  const before = await replay()
  expect(JSON.stringify(before)).toContain('ORD-17')
  await admin.post(`/api/actions/${id}/redact`, { reason: 'asked for by Ana' })
  const { event } = await desk.dump()
  expect(JSON.stringify(event)).not.toContain('ORD-17')
  const after = await replay()
  expect(JSON.stringify(after)).not.toContain('ORD-17')
  const placeOf = ({ id, type, data }: (typeof after)[number]) => {
    const { state, revision, updatedAt } = type === 'action_proposed' ? (data as { proposal: Action }).proposal : (data as Action)
    return { id, type, state, revision, updatedAt }
  }
  expect(after.slice(0, before.length).map(placeOf)).toEqual(before.map(placeOf))
  const ofOther = (events: typeof after) => events.filter(({ data }) => JSON.stringify(data).includes(kept.id))
  expect(ofOther(after)).toEqual(ofOther(before))
})

test.skipIf(inject('database') === 'postgres')(
  'the space of what was redacted, or deleted with its session, is overwritten: no later backup holds it',
  async () => {
    using folder = temporaryFolder()
    // Longer than a page of the file, so that whole pages get free.
    const [letter, words] = [2, 3].map((n) => Array.from({ length: 2_000 }, (_, i) => `jane-roe-${n}-${i}`).join(' ')) as [string, string]
    await using desk = await startTalk({ says: [{ text: words }, { text: 'Other words.' }] })
    const { admin, dataDir } = desk.server
    const { id: sessionId } = await admin.post('/api/sessions', { agent: 'desk' })
    await admin.post(`/api/sessions/${sessionId}/messages`, { content: words })
    const action = await admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: letter } })
    await admin.post(`/api/actions/${action.id}/decision`, { verdict: 'approve' })
    await untilSettled(desk.server, action.id)
    await desk.server.settle()
    // The ends of the texts, which are in pages of their own.
    const endsIn = async (name: string): Promise<boolean[]> => {
      const file = join(folder.path, name)
      expect(await runCommandLine(['backup', file, '--data', dataDir])).toMatchObject({ code: 0, stderr: '' })
      const bytes = readFileSync(file)
      return ['jane-roe-2-1999', 'jane-roe-3-1999'].map((end) => bytes.includes(end))
    }
    expect(await endsIn('before')).toEqual([true, true])
    await admin.post(`/api/actions/${action.id}/redact`, { reason: 'asked for by Jane' })
    expect((await admin.send('DELETE', `/api/sessions/${sessionId}`)).status).toBe(200)
    expect(await endsIn('after')).toEqual([false, false])
  },
)

for (const how of ['retry', 'claim'] as const) {
  test.skipIf(inject('database') !== 'postgres')(
    `a redacted action is not begun again by a ${how} that waited for the redaction`,
    async () => {
      await using target = await startTarget((_, nth) => ({ status: nth === 1 ? 400 : 200, body: { error: 'no' } }))
      const own = {
        prefix: false,
        routes: { baseUrl: target.url, tools: { mine: { method: 'POST', path: '/mine', executor: 'client' } } },
      } as const
      await using desk = await startTestServer({ config: { tools: { ...toolsOf(target), own } } })
      const { admin } = desk
      const bot = await desk.as({ name: 'bot', kind: 'agent' })
      const call = how === 'claim' ? { tool: 'mine', arguments: {} } : { tool: 'unkeyed', arguments: { what: 'ORD-17' } }
      const { id }: Action = await bot.post('/api/actions', call)
      await admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
      if (how === 'claim') {
        const { epoch } = await bot.post(`/api/actions/${id}/claim`, {})
        await bot.post(`/api/actions/${id}/result`, { epoch, error: { kind: 'refused', message: 'no' } })
      }
      const failed = await untilSettled({ admin }, id)
      expect(failed.state).toBe('failed')
      const held = await holdLock(desk, id)
      const redacting = admin.send('POST', `/api/actions/${id}/redact`, { body: { reason: 'asked for by Ana' } })
      await held.isWaitedFor()
      const again = admin.send('POST', `/api/actions/${id}/${how}`, { body: how === 'claim' ? { retry: true } : {} })
      await held.isWaitedFor(2)
      await held.letGo()
      expect((await redacting).status).toBe(200)
      expect((await again).body.code).toBe('gone')
      await desk.settle()
      expect(target.writes).toHaveLength(how === 'claim' ? 0 : 1)
      expect(await admin.get(`/api/actions/${id}`)).toMatchObject({
        state: 'failed',
        attempt: failed.attempt,
        redactedAt: expect.any(String),
      })
    },
  )
}
