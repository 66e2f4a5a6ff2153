import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, inject, test } from 'vitest'
import { runArchive } from '../../packages/server/src/archive/run-archive.ts'
import { verifyFiles } from '../../packages/server/src/archive/verify.ts'
import { verifyExport } from '../../packages/server/src/audit/index.ts'
import { openForArchive } from '../../packages/server/src/store/index.ts'
import { linesOf } from '../../packages/toolkit/src/net/split-lines.ts'
import { CRASH_VARIABLES, type Crash } from '../crash/crash-at.ts'
import type { BrainSpeech } from '../testing/brain-says.ts'
import { startChildServer } from '../testing/child-server.ts'
import { decide, settled, waiting as waitingFor } from '../testing/decisions.ts'
import { startLiveBrain } from '../testing/live-brain.ts'
import { act, actionsIn, open, openSessionDesk, recordOf, remove, rename, say, titles } from '../testing/session-helpers.ts'
import { openSeveralServers } from '../testing/several-servers.ts'
import { call } from '../testing/talk.ts'
import { startTarget, type TargetAnswer, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { temporaryFolder } from '../testing/test-server.ts'

const CRASH_AT = new URL('../crash/crash-at.ts', import.meta.url).href

test('who has seen an action of a session is forgotten with the session', async () => {
  await using desk = await openSessionDesk(() => act('first'))
  const { server, admin, lea } = desk
  const session = await open(lea)
  await say(lea, session, 'order the purple lamp')
  await server.settle()
  const [action] = await actionsIn(admin, session)
  await admin.post(`/api/actions/${action?.id}/seen`, { revision: action?.revision, digest: action?.digest })
  expect((await server.dump()).action_seen).toHaveLength(1)
  expect((await remove(lea, session)).status).toBe(200)
  await server.settle()
  expect((await server.dump()).action_seen).toEqual([])
})

test('a deleted session is gone with all that was said; what waited is cancelled, actions and record stay and verify', async () => {
  await using desk = await openSessionDesk(({ results, messages }) =>
    messages.at(-1)?.content === 'more' ? act('second') : results === 0 ? act('first') : { text: 'I ordered the PURPLE lamp.' },
  )
  const { server, admin, target, lea, bob, ann } = desk
  const cat = await server.as({ name: 'Cat', kind: 'person', roles: ['member'] })
  const id = await open(lea)
  await lea.post(`/api/sessions/${id}/participants`, { person: bob.principal.id })
  await say(lea, id, 'order the purple lamp')
  await server.settle()
  const [first] = await actionsIn(admin, id)
  await admin.post(`/api/actions/${first?.id}/decision`, {
    verdict: 'approve',
    remember: { scope: 'session', expiresIn: 'P1D', exact: true },
  })
  await server.settle()
  const key = { 'idempotency-key': 'once-and-again' }
  const posted = await lea.post(`/api/sessions/${id}/messages`, { content: 'more' }, key)
  await server.settle()
  const { requestId } = await lea.post('/api/agent-requests', { message: 'purple, later', sessionId: id })
  using watching = await lea.stream(`/api/sessions/${id}/events`)
  using invited = await bob.stream(`/api/sessions/${id}/events`)
  using inbox = await admin.stream('/api/events')
  await watching.next('message', ({ message }) => message.content === 'purple, later')
  await invited.next('message', ({ message }) => message.content === 'purple, later')
  // The inbox has caught up with all that happened before.
  const elsewhere = await admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'elsewhere' } })
  await inbox.next('action_proposed', ({ proposal }) => proposal.id === elsewhere.id)
  const seen = inbox.seen.length

  expect((await remove(bob, id)).body.code).toBe('forbidden')
  // Ann sees the session because she may decide an action in it; Cat has no relation to it.
  expect((await remove(ann, id)).body.code).toBe('forbidden')
  expect((await remove(cat, id)).status).toBe(404)
  expect((await remove(lea, id)).status).toBe(200)

  for (const stream of [watching, invited]) {
    expect((await stream.ended()).at(-1)).toMatchObject({ type: 'session_deleted', data: { by: { name: 'Lea' } } })
  }
  await inbox.next('action_update', ({ state }) => state === 'cancelled')
  expect(inbox.seen.slice(seen).map(({ type }) => type)).toEqual(['action_update'])
  for (const who of [lea, bob, ann, admin]) {
    for (const path of ['', '/messages', '/events']) {
      expect((await who.send('GET', `/api/sessions/${id}${path}`)).status, path).toBe(404)
    }
    expect((await who.send('GET', `/api/agent-requests/${requestId}`)).status).toBe(404)
    expect((await who.send('POST', `/api/agent-requests/${requestId}/execute`)).status).toBe(404)
    expect((await who.send('POST', `/api/sessions/${id}/cancel`)).status).toBe(404)
    expect((await who.send('POST', `/api/sessions/${id}/messages`, { body: { content: 'hello?' } })).status).toBe(404)
    expect((await who.send('POST', '/api/chat', { body: { message: 'hello?', sessionId: id } })).status).toBe(404)
    expect((await who.send('POST', '/api/agent-requests', { body: { message: 'hello?', sessionId: id } })).status).toBe(404)
    expect((await rename(who, id, 'Back')).status).toBe(404)
    expect((await remove(who, id)).status).toBe(404)
    expect(await titles(who, 'q=purple')).toEqual([])
  }
  expect((await lea.get('/api/sessions')).items).toEqual([])
  // A repeat under an old key gets the old answer and restores nothing.
  expect(await lea.post(`/api/sessions/${id}/messages`, { content: 'more' }, key)).toEqual(posted)
  await server.settle()
  expect(target.writes).toHaveLength(1)

  const kept = await actionsIn(admin, id)
  expect(kept.map(({ state, arguments: given }) => [state, given])).toEqual([
    ['cancelled', { what: 'second' }],
    ['succeeded', { what: 'first' }],
  ])
  expect((await lea.get(`/api/actions/${first?.id}`)).state).toBe('succeeded')
  for (const { id: actionId } of kept) {
    const { status, body } = await admin.send('POST', `/api/actions/${actionId}/retry`)
    expect([status, body.detail]).toEqual([410, expect.stringContaining('or its session was deleted')])
  }
  expect(await recordOf(admin, 'session_deleted')).toMatchObject([{ scope: id, actor: { name: 'Lea' }, data: { session: id } }])
  expect((await admin.get(`/api/grants?session=${id}`)).items).toMatchObject([{ state: 'revoked' }])
  await admin.post(`/api/actions/${first?.id}/redact`, { reason: 'private' })
  expect((await admin.get(`/api/actions/${first?.id}`)).arguments).toEqual({})

  const { message, agent_request, session_participant, ...others } = await server.dump()
  expect([message, agent_request, session_participant]).toEqual([[], [], []])
  // Answers under an Idempotency-Key are kept for a day, as documented.
  const { once: _, ...rest } = others
  expect(JSON.stringify(rest).toLowerCase()).not.toContain('purple')
  await expect.poll(async () => (await admin.get('/api/audit?limit=1')).items[0].sealed).toBe(true)
  const { text } = await admin.send('GET', '/api/audit/export')
  expect(await verifyExport(linesOf(Readable.from([Buffer.from(text)])))).toMatchObject({ problem: undefined })
  await server.restart()
  expect((await server.admin.send('GET', `/api/sessions/${id}`)).status).toBe(404)
  expect(server.errors).toEqual([])
})

for (const order of ['redaction and then deletion', 'deletion and then redaction'] as const) {
  test(`${order} of a session take away what its action was about, also for readers of the inbox who are behind`, async () => {
    await using desk = await openSessionDesk(
      ({ results }) => (results === 0 ? { calls: [call('c1', 'unkeyed', 'jane-roe-1')] } : results === 1 ? act('kept') : { text: 'Done.' }),
      () => ({ status: 200, body: { id: 1, of: 'jane-roe-2' } }),
    )
    const { server, admin, lea } = desk
    const session = await open(lea)
    await say(lea, session, 'go')
    const first = await waitingFor(server)
    await decide(server, first, { verdict: 'approve', arguments: { what: 'jane-roe-3' }, reason: 'jane-roe-4 asked' })
    await settled(server, first.id)
    const second = await waitingFor(server)
    await decide(server, second, { verdict: 'decline', reason: 'later' })
    await server.settle()
    /** All that somebody who reads the inbox from the start gets of an action. */
    const replayed = async (id: string) => {
      const { id: marker } = await admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'a marker' } })
      using reader = await admin.stream('/api/events', { headers: { 'last-event-id': '0' } })
      await reader.next('action_proposed', ({ proposal }) => proposal.id === marker)
      return reader.seen.filter(({ data }) => JSON.stringify(data).includes(id))
    }
    const [before, ofOther] = [await replayed(first.id), await replayed(second.id)]
    for (const n of [1, 2, 3, 4]) expect(JSON.stringify(before)).toContain(`jane-roe-${n}`)

    const redact = () => admin.post(`/api/actions/${first.id}/redact`, { reason: 'asked for' })
    const deleteIt = async () => expect((await remove(lea, session)).status).toBe(200)
    for (const step of order.startsWith('redaction') ? [redact, deleteIt] : [deleteIt, redact]) await step()
    await server.settle()

    const after = await replayed(first.id)
    expect(JSON.stringify(after)).not.toContain('jane-roe')
    const placeOf = ({ id, type }: (typeof after)[number]) => ({ id, type })
    expect(after.slice(0, before.length).map(placeOf)).toEqual(before.map(placeOf))
    expect(await replayed(second.id)).toEqual(ofOther)
    // Answers under an Idempotency-Key are kept for a day, as documented.
    const { once: _, ...rest } = await server.dump()
    expect(JSON.stringify(rest)).not.toContain('jane-roe')
    expect(server.errors).toEqual([])
  })
}

test('a session is not deleted while an action is carried out or its outcome is unknown; afterwards it is', async () => {
  const hold = Promise.withResolvers<TargetAnswer>()
  await using desk = await openSessionDesk(
    ({ results }) => (results === 0 ? act('lamp') : { text: 'Done.' }),
    () => hold.promise,
  )
  const { server, admin, target, lea } = desk
  const id = await open(lea)
  await say(lea, id, 'go')
  await server.settle()
  const [action] = await actionsIn(admin, id)
  await admin.post(`/api/actions/${action?.id}/decision`, { verdict: 'approve' })
  await expect.poll(() => target.writes.length).toBe(1)
  const refused = await remove(lea, id)
  expect([refused.status, refused.body.code, refused.body.actionId]).toEqual([409, 'illegal_transition', action?.id])
  expect(refused.body.detail).toContain('is being carried out')
  hold.resolve('reset')
  await expect.poll(async () => (await actionsIn(admin, id))[0]?.state).toBe('outcome_unknown')
  expect((await remove(lea, id)).body.detail).toContain('nobody knows whether')
  expect(await titles(lea, 'q=go')).toEqual(['go'])
  await admin.post(`/api/actions/${action?.id}/resolve`, { outcome: 'succeeded', note: 'seen' })
  expect((await remove(lea, id)).status).toBe(200)
})

test('a session is deleted while the model speaks: the call is aborted, and what it says late changes nothing', async () => {
  const hold = Promise.withResolvers<BrainSpeech>()
  await using desk = await openSessionDesk(() => hold.promise)
  const { server, admin, target, brain, lea } = desk
  using chat = await lea.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId: id, runId: run } = await chat.next('session')
  await expect.poll(() => brain.calls.length).toBe(1)
  expect((await remove(lea, id)).status).toBe(200)
  // A chat always ends with the end of its run.
  expect((await chat.ended()).at(-1)).toMatchObject({
    type: 'error',
    data: { code: 'cancelled', error: `${lea.principal.name} deleted the session`, runId: run },
  })
  await expect.poll(() => brain.calls[0]?.state).toBe('lost')
  hold.resolve(act('late'))
  await server.settle()
  expect([await actionsIn(admin, id), target.writes]).toEqual([[], []])
  expect((await server.dump()).message).toEqual([])
  await server.restart()
  await server.settle()
  expect(brain.calls).toHaveLength(1)
  expect(server.errors).toEqual([])
})

test('a message and a deletion at once: the message is refused or goes with the session', async () => {
  await using desk = await openSessionDesk()
  const { server, lea } = desk
  const send = (id: string, path: string, body: unknown) => lea.send('POST', path.replace(':id', id), { body })
  for (let round = 0; round < 10; round++) {
    const id = await open(lea)
    const all = await Promise.all([
      send(id, '/api/sessions/:id/messages', { content: 'hello' }),
      send(id, '/api/agent-requests', { message: 'hello', sessionId: id }),
      remove(lea, id),
      rename(lea, id, 'Other'),
      remove(lea, id),
      send(id, '/api/sessions/:id/messages', { content: 'hello' }),
    ])
    const codes = all.map(({ status }) => status)
    expect(codes.filter((code) => ![200, 201, 202, 404].includes(code))).toEqual([])
    expect([codes[2], codes[4]].sort()).toEqual([200, 404])
    await server.settle()
    expect((await lea.send('GET', `/api/sessions/${id}`)).status).toBe(404)
    const { message, agent_request: requests } = await server.dump()
    expect([message, requests]).toEqual([[], []])
  }
  expect(server.errors).toEqual([])
})

test('an archived session is deleted, too: its files stay, and verify', async () => {
  await using desk = await openSessionDesk()
  const { server, lea } = desk
  const id = await open(lea)
  await say(lea, id, 'into the archive')
  await server.settle()
  using folder = temporaryFolder()
  const store = await openForArchive(server.database)
  // The server's clock may be ahead of this one, because on Postgres it estimates the database's.
  const archive = () => runArchive({ store, folder: folder.path, before: Date.now() + 60_000, nowMs: Date.now, onFile: () => undefined })
  const [file] = await archive()
  expect((await remove(lea, id)).status).toBe(200)
  expect((await lea.send('GET', `/api/sessions/${id}/events`)).status).toBe(404)
  await archive()
  await store.close()
  expect(await verifyFiles([join(folder.path, file?.name ?? '')])).toMatchObject([{ problem: undefined }])
  expect(JSON.stringify((await server.dump()).message)).toBe('[]')
})

test('kill -9 in the middle of a deletion: the session is there with everything, and is deleted by the next try', async () => {
  using folder = temporaryFolder()
  await using stack = new AsyncDisposableStack()
  const { environment } = stack.use(await openServerDatabase())
  const brain = stack.use(await startLiveBrain(() => act('lamp')))
  const target = stack.use(await startTarget(() => ({ status: 200 })))
  const configFile = join(folder.path, 'countersign.json')
  writeFileSync(
    configFile,
    JSON.stringify({ agents: { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'] } }, tools: toolsOf(target) }),
  )
  const start = async (crash?: Crash) => {
    const more = crash && {
      [CRASH_VARIABLES.reached]: join(folder.path, 'reached.txt'),
      [CRASH_VARIABLES.crash]: JSON.stringify(crash),
    }
    const nodeArgs = crash ? ['--import', CRASH_AT] : []
    return stack.use(
      await startChildServer({ configFile, dataDir: join(folder.path, 'data'), environment: { ...environment, ...more }, nodeArgs }),
    )
  }
  const first = await start({ point: 'session.deleting', nth: 1 })
  const { id } = await first.admin.post('/api/sessions', {})
  using stream = await first.admin.stream(`/api/sessions/${id}/events`)
  await say(first.admin, id, 'order a lamp')
  await stream.next('session_status', ({ status }) => status === 'waiting_approval')
  const before = (await first.admin.get(`/api/sessions/${id}/messages`)).items
  await expect(remove(first.admin, id)).rejects.toThrow()

  const second = await start()
  expect((await second.admin.get(`/api/sessions/${id}`)).pendingApprovals).toHaveLength(1)
  expect((await second.admin.get(`/api/sessions/${id}/messages`)).items).toEqual(before)
  expect((await remove(second.admin, id)).status).toBe(200)
  expect((await actionsIn(second.admin, id)).map(({ state }) => state)).toEqual(['cancelled'])
})

test.runIf(inject('database') === 'postgres')(
  'a session that is deleted at another process stops here: run, streams and rows',
  async () => {
    const hold = Promise.withResolvers<void>()
    await using several = await openSeveralServers({
      speak: async () => {
        await hold.promise
        return { text: 'Late.' }
      },
      answer: () => ({ status: 200 }),
    })
    const here = await several.start()
    const there = await several.start()
    const { id } = await here.admin.post('/api/sessions', {})
    await here.admin.post(`/api/sessions/${id}/messages`, { content: 'go' })
    await expect.poll(() => several.brain.calls.length).toBe(1)
    using atHere = await here.admin.stream(`/api/sessions/${id}/events`)
    using atThere = await there.admin.stream(`/api/sessions/${id}/events`)
    await Promise.all([atHere.next('message'), atThere.next('message')])
    expect((await there.admin.send('DELETE', `/api/sessions/${id}`)).status).toBe(200)
    for (const stream of [atHere, atThere]) expect((await stream.ended()).at(-1)?.type).toBe('session_deleted')
    await expect.poll(() => several.brain.calls[0]?.state).toBe('lost')
    hold.resolve()
    expect((await here.admin.send('GET', `/api/sessions/${id}`)).status).toBe(404)
    expect(await several.sql('select id from message')).toEqual([])
    expect(several.brain.calls).toHaveLength(1)
  },
)
