import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Action, AFTER, type AuditEntryView } from '@countersign/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { type EventRow, events } from '../../packages/server/src/store/index.ts'
import { ADMIN_NAME } from '../testing/bootstrap-key.ts'
import { settled as untilSettled } from '../testing/decisions.ts'
import { exported, kindsOf, recordOf, untilSealed, verify } from '../testing/read-record.ts'
import { runCommandLine } from '../testing/run-command.ts'
import { shortWaits } from '../testing/short-waits.ts'
import { call, startTalk } from '../testing/talk.ts'
import { startTarget, type Target, type TargetAnswer, type TargetRequest, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

/** Tools whose answers are lost, that fail, that a client executes, or whose outcome can be looked up. */
const walkTools = (target: Target): NonNullable<ConfigInput['tools']> => ({
  ...toolsOf(target),
  more: {
    prefix: false,
    routes: {
      baseUrl: target.url,
      tools: {
        mine: { method: 'POST', path: '/mine', executor: 'client' },
        pay: { method: 'POST', path: '/pay/{cents}', verify: { get: '/pay?key={idempotencyKey}', done: { state: 'paid' } } },
        never: { method: 'POST', path: '/never' },
      },
    },
  },
})

/** Answers a tool call by its arguments and by how often they were sent before. */
const answerOf =
  (seen: Map<string, number>) =>
  ({ method, path, body }: TargetRequest): TargetAnswer => {
    const what = `${method} ${path} ${JSON.stringify(body ?? null)}`
    const nth = (seen.get(what) ?? 0) + 1
    seen.set(what, nth)
    if (path.startsWith('/pay/')) return 'reset'
    // The bank fails the first three lookups and answers the fourth, which a person requests.
    if (path.startsWith('/pay?')) return nth <= 3 ? { status: 500 } : { status: 200, body: { state: 'paid' } }
    if (nth === 1 && /"(lost|kept)"/.test(what)) return 'reset'
    return nth === 1 && what.includes('"again"') ? { status: 422, body: { error: 'not today' } } : { status: 200, body: { id: 1 } }
  }

/** Walks actions through every transition that can be reached from outside. Returns, by action id, what the record should hold. */
async function walk({ admin }: TestServer): Promise<Map<string, string[]>> {
  const propose = async (tool: string, args: object, more: object = {}): Promise<Action> =>
    admin.post('/api/actions', { tool, arguments: args, ...more })
  const decide = (id: string, verdict: string) => admin.post(`/api/actions/${id}/decision`, { verdict, reason: `to ${verdict}` })
  const settled = (id: string) => untilSettled({ admin }, id)
  const approved = async (tool: string, args: object, state: Action['state'], attempt = 1): Promise<string> => {
    const { id } = await propose(tool, args)
    await decide(id, 'approve')
    expect(await settled(id)).toMatchObject({ state, attempt })
    return id
  }
  const ways: (() => Promise<[string, ...string[]]>)[] = [
    async () => [await approved('unkeyed', { what: 'run' }, 'succeeded'), 'approved', 'executing', 'succeeded'],
    async () => {
      const { id } = await propose('unkeyed', { what: 'no' })
      await decide(id, 'decline')
      return [id, 'declined']
    },
    async () => {
      const { id } = await propose('unkeyed', { what: 'late' }, { expiresIn: 'PT1S' })
      expect(await settled(id)).toMatchObject({ state: 'expired' })
      return [id, 'expired']
    },
    async () => [(await propose('never', {})).id],
    async () => {
      const { id } = await propose('look', { what: 'x' })
      await settled(id)
      return [id, 'executing', 'succeeded']
    },
    async () => {
      const id = await approved('unkeyed', { what: 'again' }, 'failed')
      await admin.post(`/api/actions/${id}/retry`)
      expect(await settled(id)).toMatchObject({ state: 'succeeded' })
      return [id, 'approved', 'executing', 'failed', 'retried', 'succeeded']
    },
    async () => {
      const id = await approved('unkeyed', { what: 'lost' }, 'outcome_unknown')
      await admin.post(`/api/actions/${id}/resolve`, { outcome: 'succeeded', note: 'I looked' })
      return [id, 'approved', 'executing', 'outcome_unknown', 'resolved']
    },
    async () => [await approved('keyed', { what: 'kept' }, 'succeeded', 2), 'approved', 'executing', 'resent', 'succeeded'],
    async () => {
      const id = await approved('pay', { cents: '5' }, 'outcome_unknown')
      expect(await admin.post(`/api/actions/${id}/verify`)).toMatchObject({ state: 'succeeded' })
      return [id, 'approved', 'executing', 'outcome_unknown', 'verified']
    },
    async () => {
      const { id } = await propose('mine', {})
      await decide(id, 'approve')
      const claim = await admin.post(`/api/actions/${id}/claim`, {})
      await admin.post(`/api/actions/${id}/result`, { epoch: claim.epoch, output: { ok: true } })
      return [id, 'approved', 'claimed', 'succeeded']
    },
  ]
  return new Map((await Promise.all(ways.map((way) => way()))).map(([id, ...kinds]) => [id, ['proposed', ...kinds]]))
}

const stack = new AsyncDisposableStack()
let server: TestServer
let walked: Map<string, string[]>

beforeAll(async () => {
  const target = stack.use(await startTarget(answerOf(new Map())))
  const rules = [
    { name: 'reads run', match: { effect: 'read' as const }, verdict: 'allow' as const },
    { name: 'never', match: { tool: 'never' }, verdict: 'deny' as const },
  ]
  // An outcome that has been unknown for five seconds is looked up again by itself, and here a person does that.
  server = stack.use(
    await startTestServer({ config: { tools: walkTools(target), policy: { default: 'ask', rules } }, clock: shortWaits(4_000) }),
  )
  walked = await walk(server)
})
afterAll(() => stack.disposeAsync())

test('every transition has one row of the record, chained to the one before, with who, what and by which rule', async () => {
  const { admin } = server
  for (const [id, kinds] of walked) {
    const rows = await recordOf(admin, `action=${id}`)
    expect(kindsOf(rows)).toEqual(kinds)
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1))
    expect(rows.map(({ prev }) => prev)).toEqual(['', ...rows.map(({ hash }) => hash).slice(0, -1)])
    const action: Action = await admin.get(`/api/actions/${id}`)
    expect(rows.at(-1)?.data?.state).toBe(action.state)
    expect(new Set(rows.map(({ data }) => data?.digest))).toEqual(new Set([action.digest]))
    // A resend combines losing the attempt and starting the next, so it is no single transition.
    for (const [i, { kind, data }] of rows.slice(1).entries()) {
      const from = rows[i]?.data?.state as Action['state']
      if (kind !== 'resent') expect(Object.values(AFTER[from])).toContain(data?.state)
    }
  }
  const all = await recordOf(admin)
  const [run] = walked.keys()
  const [proposed, approved, executing, succeeded] = all.filter(({ actionId }) => actionId === run)
  const me = { kind: 'person', name: ADMIN_NAME }
  expect(proposed).toMatchObject({ actor: me, data: { arguments: { what: 'run' }, policy: { verdict: 'ask', rule: 'default' } } })
  expect(proposed?.data?.definition).toMatch(/^[\w:-]+$/)
  expect(approved).toMatchObject({ actor: me, data: { state: 'approved', reason: 'to approve', signIn: 'key', revision: 1 } })
  expect(executing).toMatchObject({ actor: { kind: 'system' }, data: { attempt: 1, epoch: 1, key: `${run}.1` } })
  expect(succeeded).toMatchObject({ actor: { kind: 'system' }, data: { state: 'succeeded', result: expect.stringMatching(/^sha256:/) } })
  expect(succeeded?.data?.runner).toBe(executing?.data?.runner)
  // The record has as many rows as the log has transition events: each transition writes both.
  const rows = ((await server.dump()).event ?? []) as EventRow[]
  const moves = rows.flatMap((row) => events.readEvents({ ...row, created_at: Number(row.created_at) }))
  const told = moves.filter(({ event: { type } }) => type === 'action_proposed' || type === 'action_update')
  expect(all.filter(({ actionId }) => actionId !== null)).toHaveLength(told.length)
  expect(server.errors).toEqual([])
})

test('what happens in a session is one chain, and who cancels or stops it is in it', async () => {
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'unkeyed', 'x'), call('b', 'unkeyed', 'y')] }, { text: 'Stopped.' }],
    agent: { onDecline: 'stop' },
  })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', ({ status }) => status === 'waiting_approval')
  await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'decline' })
  await stream.ended()
  const rows = await recordOf(admin, `session=${sessionId}`)
  expect(kindsOf(rows)).toEqual(['proposed', 'proposed', 'declined', 'cancelled'])
  expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
  expect(rows.map(({ prev }) => prev)).toEqual(['', ...rows.map(({ hash }) => hash).slice(0, -1)])
  expect(rows[3]).toMatchObject({ actor: { kind: 'person' }, data: { state: 'cancelled', reason: expect.stringMatching(/declined/) } })
  // They are sealed within a second, which may be over by now.
  const ofAction = rows.filter(({ actionId }) => actionId === proposal.id).map((row) => ({ ...row, sealed: expect.any(Boolean) }))
  expect(await recordOf(admin, `action=${proposal.id}`)).toEqual(ofAction)
})

test('an export is verified without the server; what was changed in it is named, and the command says so', async () => {
  const { admin } = server
  const text = await exported(admin)
  const { publicKey } = await admin.get('/api/audit/key')
  const lines = text.trimEnd().split('\n')
  const rows = await recordOf(admin)
  expect(await verify(text, publicKey)).toMatchObject({
    problem: undefined,
    rows: rows.length,
    redacted: 0,
    // One scope for each action, and one for the system, which began with the policy.
    scopes: walked.size + 1,
    keys: [publicKey],
  })
  const changed = text.replace('to approve', 'to Approve')
  const broken = `line ${1 + lines.findIndex((line) => line.includes('to approve'))}: the data of row 2 of act_`
  expect((await verify(changed, publicKey)).problem).toContain(broken)
  expect((await verify(lines.filter((_, i) => i !== 2).join('\n'))).problem).toMatch(/^line \d+: /)
  expect((await verify(lines.slice(0, -1).join('\n'))).problem).toMatch(/its end is missing/)
  const other = publicKey.startsWith('A') ? `B${publicKey.slice(1)}` : `A${publicKey.slice(1)}`
  expect((await verify(text, other)).problem).toMatch(/signed with another key/)
  expect((await verify('{"hello":1}\n')).problem).toMatch(/this is not an exported record/)

  using folder = temporaryFolder()
  const command = async (content: string) => {
    const file = join(folder.path, 'record.jsonl')
    writeFileSync(file, content)
    return runCommandLine(['audit', 'verify', file, '--public-key', publicKey])
  }
  expect(await command(text)).toMatchObject({ code: 0, stdout: expect.stringContaining(`${rows.length} rows`) })
  expect(await command(changed)).toMatchObject({ code: 1, stdout: expect.stringContaining(broken) })

  const missing = join(folder.path, 'missing.jsonl')
  for (const [path, why] of [
    [missing, 'there is no such file'],
    [folder.path, 'that is a folder'],
  ] as const)
    expect(await runCommandLine(['audit', 'verify', path])).toEqual({
      code: 1,
      stdout: '',
      stderr: `countersign: ${path} cannot be read: ${why}\n`,
    })

  // An excerpt consists of whole heads and can be verified too.
  const since = (await recordOf(admin)).at(-3)?.at ?? ''
  expect(await verify(await exported(admin, `since=${encodeURIComponent(since)}`), publicKey)).toMatchObject({ problem: undefined })
  expect(await verify(await exported(admin, 'until=2020-01-01T00:00:00Z'))).toMatchObject({ problem: undefined, rows: 0, heads: undefined })

  // The record survives a restart and keeps its signing key.
  await server.restart()
  expect(await server.admin.get('/api/audit/key')).toEqual({ algorithm: 'Ed25519', publicKey })
  expect(await verify(await exported(server.admin), publicKey)).toMatchObject({ problem: undefined })
})

test('the record is listed by action, session, actor, kind and time, and only to admins and viewers', async () => {
  const { admin } = server
  const viewer = await server.as({ name: 'Vera', kind: 'person', roles: ['viewer'] })
  const all = await recordOf(admin)
  expect(await recordOf(viewer, 'kind=resolved')).toEqual(
    all.filter(({ kind }) => kind === 'resolved').map((row) => expect.objectContaining({ id: row.id })),
  )
  expect(kindsOf(await recordOf(admin, 'actor=system'))).toEqual(kindsOf(all.filter(({ actor }) => actor.id === 'system')))
  const middle = all[Math.floor(all.length / 2)]?.at ?? ''
  const ids = (rows: AuditEntryView[]) => rows.map(({ id }) => id)
  expect(ids(await recordOf(admin, `since=${middle}`))).toEqual(ids(all.filter(({ at }) => at >= middle)))
  expect(ids(await recordOf(admin, `until=${middle}`))).toEqual(ids(all.filter(({ at }) => at < middle)))
  expect((await admin.send('GET', '/api/audit?kind=nonsense')).status).toBe(400)
  for (const who of [
    await server.as({ name: 'Appa', kind: 'person', roles: ['approver'] }),
    await server.as({ name: 'bot', kind: 'agent', roles: [] }),
    await server.as({ name: 'job', kind: 'service', roles: [] }),
  ]) {
    for (const path of ['/api/audit', '/api/audit/export', '/api/audit/export?format=csv']) {
      expect((await who.send('GET', path)).status).toBe(403)
    }
  }
  expect((await server.with({}).send('GET', '/api/audit')).status).toBe(401)
})

test('a table for people holds no formula, and no line breaks out of its row', async () => {
  const { admin } = server
  const evil = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', 'a","=1', 'a\n=1']
  for (const name of evil) {
    const who = await server.as({ name, kind: 'person', roles: ['approver'] })
    const { id } = await who.post('/api/actions', { tool: 'unkeyed', arguments: { what: name } })
    await who.post(`/api/actions/${id}/decision`, { verdict: 'decline', reason: name })
  }
  const text = await exported(admin, 'format=csv')
  // Parses the file as a spreadsheet does: quoted cells, doubled quotes.
  const cells = [...text.matchAll(/"((?:[^"]|"")*)"(,|\r\n)/g)]
  expect(cells.map(([whole]) => whole).join('')).toBe(text)
  for (const [, cell] of cells) expect(cell).not.toMatch(/^[=+\-@\t\r\n]/)
  expect(text.split('\r\n')[0]).toContain('"kind","actor","action"')
})

test('redaction takes away what an action was about and leaves the chain as it is', async () => {
  const { admin } = server
  const [id = ''] = walked.keys()
  const before = await recordOf(admin, `action=${id}`)
  await untilSealed(admin)
  const waiting = await admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'open' } })
  expect((await admin.send('POST', `/api/actions/${waiting.id}/redact`, { body: { reason: 'x' } })).body.code).toBe('illegal_transition')
  const appa = await server.as({ name: 'Appa', kind: 'person', roles: ['approver'] })
  expect((await appa.send('POST', `/api/actions/${id}/redact`, { body: { reason: 'x' } })).status).toBeGreaterThanOrEqual(403)

  const redacted: Action = await admin.post(`/api/actions/${id}/redact`, { reason: 'asked for by Ana' })
  expect(redacted).toMatchObject({ arguments: {}, description: 'Redacted', state: 'succeeded', redactedAt: expect.any(String) })
  expect(redacted).not.toHaveProperty('result')
  expect(redacted.votes.map(({ reason }) => reason)).toEqual([undefined])
  const rows = await recordOf(admin, `action=${id}`)
  expect(kindsOf(rows)).toEqual([...kindsOf(before), 'redacted'])
  expect(rows.slice(0, -1)).toEqual(before.map((row) => ({ ...row, data: null, sealed: true })))
  expect(rows.at(-1)).toMatchObject({ actor: { kind: 'person' }, data: { reason: 'asked for by Ana' } })
  expect(await admin.post(`/api/actions/${id}/redact`, { reason: 'again' })).toEqual(redacted)
  expect((await admin.send('POST', `/api/actions/${id}/retry`)).status).toBe(410)

  const text = await exported(admin)
  expect(text).not.toContain('"what":"run"')
  expect(await verify(text)).toMatchObject({ problem: undefined, redacted: 4 })
})

test('with a key file the private key is in that file, for its owner alone, and nowhere in the database', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'record.pem')
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) }, environment: { COUNTERSIGN_AUDIT_KEY_FILE: file } })
  await server.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' } })
  const pem = readFileSync(file, 'utf8')
  expect(pem).toContain('PRIVATE KEY')
  const [, body = ''] = pem.split('\n')
  expect(JSON.stringify(await server.dump())).not.toContain(body)
  const text = await exported(server.admin)
  const { publicKey } = await server.admin.get('/api/audit/key')
  expect(await verify(text, publicKey)).toMatchObject({ problem: undefined, rows: 2 })
  expect(kindsOf(await recordOf(server.admin))).toEqual(expect.arrayContaining(['policy_saved', 'proposed']))
})
