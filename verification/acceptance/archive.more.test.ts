import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import type { Action } from '@countersign/core'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import { estimate } from '../../packages/server/src/archive/estimate.ts'
import { runArchive } from '../../packages/server/src/archive/run-archive.ts'
import { verifyFiles } from '../../packages/server/src/archive/verify.ts'
import { ArchiveInProgress, openForArchive, type Store } from '../../packages/server/src/store/index.ts'
import { stateByApi } from '../testing/api-state.ts'
import type { ReadEvent } from '../testing/event-reader.ts'
import { fold } from '../testing/fold.ts'
import { databaseFlags, runCommandLine, runModule } from '../testing/run-command.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const CRASH_AT = new URL('../crash/crash-at.ts', import.meta.url).href
const ARCHIVE_PROCESS = fileURLToPath(new URL('../../packages/server/src/archive/testing/archive-process.ts', import.meta.url))

const MINUTE_MS = 60_000

/** Event types that the whole message replaces. */
const PIECES = ['delta', 'reasoning_delta', 'tool_call_start']

const call = (tool: string, what: string) => ({ tool, arguments: { what } })

/** Starts a server whose agent makes one call per message and then reports the result. */
async function startDesk() {
  const target = await startTarget(({ body }) => ({ status: (body as { what?: string })?.what === 'fail' ? 409 : 200, body: { id: 9 } }))
  const steps = Array.from({ length: 3 }, () => [{ text: 'May I?', calls: [call('keyed', 'x')] }, { text: 'Done.' }]).flat()
  const server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: { talk: steps },
  })
  const folder = join(server.dataDir, 'archive')
  return {
    server,
    folder,
    /**
     * Archives the sessions settled before a time, beside the running server. Default: all that are settled; the server's clock may be ahead of
     * this one, because on Postgres it estimates the database's.
     */
    async archive(before = Date.now() + MINUTE_MS) {
      const store = await openForArchive(server.database)
      try {
        const foreseen = await estimate(store, before)
        return { foreseen, files: await runArchive({ store, folder, before, nowMs: Date.now, onFile: () => undefined }) }
      } finally {
        await store.close()
      }
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

/** Sends a message, approves the proposed action, and returns every event of the session's stream. */
async function converse({ admin }: TestServer, sessionId?: string): Promise<{ id: string; action: Action; events: ReadEvent[] }> {
  using stream = await admin.stream('/api/chat', { body: { message: 'go', ...(sessionId && { sessionId }) } })
  const { sessionId: id } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', ({ status }) => status === 'waiting_approval')
  await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await stream.next('done')
  await stream.ended()
  return { id, action: await admin.get(`/api/actions/${proposal.id}`), events: stream.seen.slice(1) }
}

/** Returns the bodies of all lines of all finished files in a folder, without heads and ends. */
const rowsIn = (folder: string): { id: number; sessionId: string | null; events: [number | null, string, unknown][] }[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl.gz'))
    .flatMap((name) =>
      gunzipSync(readFileSync(join(folder, name)))
        .toString()
        .trimEnd()
        .split('\n')
        .slice(1, -1),
    )
    .map((line) => JSON.parse(line).line)

test('who has seen an action is forgotten when it is archived, with its session or without one', async () => {
  await using desk = await startDesk()
  const { admin, dump } = desk.server
  const look = ({ id, revision, digest }: Action) => admin.post(`/api/actions/${id}/seen`, { revision, digest })
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal } = await stream.next('action_proposed')
  const loose = await admin.post('/api/actions', call('keyed', 'y'))
  await Promise.all([look(proposal), look(loose)])
  expect((await dump()).action_seen).toHaveLength(2)
  await stream.next('session_status', ({ status }) => status === 'waiting_approval')
  await admin.post(`/api/actions/${loose.id}/decision`, { verdict: 'decline' })
  await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await stream.next('done')
  await desk.archive()
  expect((await dump()).action_seen).toEqual([])
})

test('an archived session can be read and continued; its stream begins with a snapshot, also after an old id, and an old decision is gone', async () => {
  await using desk = await startDesk()
  const { server } = desk
  const { admin } = server
  const { id, action, events } = await converse(server)
  const path = `/api/sessions/${id}`
  const before = { session: await admin.get(path), messages: await admin.get(`${path}/messages`), state: await stateByApi(admin, id) }

  expect((await desk.archive()).files).toMatchObject([{ sessions: 1 }])
  const archived = rowsIn(desk.folder).flatMap((row) => row.events)
  const lasting = events.filter(({ type }) => !PIECES.includes(type))
  expect(archived.slice(0, lasting.length)).toEqual(lasting.map(({ id, type, data }) => [id, type, data]))

  // The session stays in the lists, unchanged.
  expect(await admin.get(path)).toEqual(before.session)
  expect(await admin.get(`${path}/messages`)).toEqual(before.messages)
  expect((await admin.get('/api/sessions')).items).toEqual([before.session])
  expect(await admin.get(`/api/actions/${action.id}`)).toEqual(action)

  // A new reader and a reader in the middle get a snapshot; a reader that is up to date continues.
  const last = before.session.lastSeq
  for (const [where, headers] of [
    [`${path}/events`, {}],
    [`${path}/events`, { 'last-event-id': String(last - 1) }],
    [`${path}/events?after=1`, {}],
  ] as const) {
    using reader = await admin.stream(where, { headers })
    await reader.next('reset')
    expect([reader.seen[0]?.type, reader.seen[0]?.id]).toEqual(['reset', last])
    expect(fold(reader.seen)).toEqual(before.state)
  }
  using fresh = await admin.stream(`${path}/events`)
  await fresh.next('reset')
  using upToDate = await admin.stream(`${path}/events`, { headers: { 'last-event-id': String(last) } })

  for (const [route, body] of [
    [`/api/actions/${action.id}/decision`, { verdict: 'approve' }],
    [`/api/actions/${action.id}/decision`, { verdict: 'decline' }],
    [`/api/actions/${action.id}/retry`, {}],
    [`/api/actions/${action.id}/resolve`, { outcome: 'succeeded', note: 'seen' }],
    ['/api/chat/approve', { approvalId: action.id, approved: true }],
    [`${path}/approve`, { verdict: 'approve', actionId: action.id }],
  ] as const) {
    const answer = await admin.send('POST', route, { body })
    expect([answer.status, answer.body.code], route).toEqual([410, 'gone'])
  }

  // After a new message the event numbers continue, and the stream continues with them.
  const next = await converse(server, id)
  expect(Math.min(...next.events.map((event) => event.id ?? 0))).toBe(last + 1)
  await upToDate.next('done')
  expect(fold([...fresh.seen.slice(0, 1), ...upToDate.seen])).toEqual(await stateByApi(admin, id))
  expect((await admin.send('POST', `/api/actions/${next.action.id}/decision`, { body: { verdict: 'approve' } })).status).toBe(200)
  using again = await admin.stream(`${path}/events`)
  await again.next('reset')
  expect(fold(again.seen)).toEqual(await stateByApi(admin, id))
})

test('what waits, what is not known and what is too young stays in the log', async () => {
  await using desk = await startDesk()
  const { server } = desk
  const { admin } = server
  const settled = await converse(server)
  using waiting = await admin.stream('/api/chat', { body: { message: 'go' } })
  await waiting.next('session_status', ({ status }) => status === 'waiting_approval')
  const propose = (tool: string, what: string) => admin.post('/api/actions', { tool, arguments: { what } })
  const open = await propose('keyed', 'later')
  const failed = await propose('keyed', 'fail')
  await admin.post(`/api/actions/${failed.id}/decision`, { verdict: 'approve' })
  await admin.get(`/api/actions/${failed.id}?wait=60&until=settled`)

  expect(await desk.archive(Date.now() - 3_600_000)).toEqual({ foreseen: { sessions: 0, rows: 0 }, files: [] })
  const { foreseen } = await desk.archive()
  const rows = rowsIn(desk.folder)
  expect(foreseen).toEqual({ sessions: 1, rows: rows.length })
  expect(new Set(rows.map(({ sessionId }) => sessionId))).toEqual(new Set([settled.id, null]))
  const proposed = rows.flatMap(({ events }) => events).filter(([, type]) => type === 'action_proposed')
  expect(proposed.map(([, , data]) => (data as { proposal: Action }).proposal.id).toSorted()).toEqual(
    [settled.action.id, failed.id].toSorted(),
  )
  expect((await admin.send('POST', `/api/actions/${failed.id}/retry`)).status).toBe(410)
  expect((await admin.send('POST', `/api/actions/${open.id}/decision`, { body: { verdict: 'decline' } })).status).toBe(200)
  const stream = await admin.stream(`/api/sessions/${waiting.seen[0] && (waiting.seen[0].data as { sessionId: string }).sessionId}/events`)
  await stream.next('message')
  stream.close()
})

test('the inbox says so when what came after an id was archived, and never gives an id twice', async () => {
  await using desk = await startDesk()
  const { server } = desk
  using inbox = await server.admin.stream('/api/events')
  const { action } = await converse(server)
  await inbox.next('action_update', ({ proposalId, state }) => proposalId === action.id && state === 'succeeded')
  const first = inbox.seen[0]?.id ?? 0
  const last = inbox.seen.at(-1)?.id ?? 0
  inbox.close()
  await desk.archive()
  await server.restart()
  using behind = await server.admin.stream('/api/events', { headers: { 'last-event-id': String(first) } })
  await behind.next('reset')
  await converse(server)
  await behind.next('action_proposed')
  expect(Math.min(...behind.seen.slice(1).map(({ id }) => id ?? 0))).toBeGreaterThan(last)
})

/** All points of a run at which the process may be killed. */
const POINTS = [
  ...['archive.before_begin', 'archive.begun', 'archive.before_fsync', 'archive.before_rename', 'archive.renamed'],
  ...['archive.before_store', 'archive.storing', 'archive.after_store', 'archive.after_manifest'],
]

test('kill -9 anywhere in a run: the next one goes on, nothing is lost and nothing is in two files', async () => {
  await using desk = await startDesk()
  const { server } = desk
  const told: string[] = []
  for (const point of POINTS) {
    const { id, events } = await converse(server)
    for (const event of events) if (!PIECES.includes(event.type)) told.push(`${id} ${event.id} ${event.type}`)
    const killed = await runModule(['--import', CRASH_AT, ARCHIVE_PROCESS, JSON.stringify(server.database), desk.folder], {
      COUNTERSIGN_CAMPAIGN_CRASH: JSON.stringify({ point, nth: 1 }),
      COUNTERSIGN_CAMPAIGN_REACHED: join(server.dataDir, 'reached.txt'),
    })
    expect(killed.code, `${point}: ${killed.stderr}`).toBeNull()
  }
  await desk.archive()

  const archived = rowsIn(desk.folder).flatMap(({ sessionId, events }) => events.map(([seq, type]) => `${sessionId} ${seq} ${type}`))
  expect(new Set(archived).size).toBe(archived.length)
  expect(told.filter((line) => !archived.includes(line))).toEqual([])
  expect((await server.dump()).event).toEqual([])

  const files = readdirSync(desk.folder)
  expect(files.filter((name) => !name.endsWith('.jsonl.gz') && !name.endsWith('.manifest.json'))).toEqual([])
  const paths = files.filter((name) => name.endsWith('.jsonl.gz')).map((name) => join(desk.folder, name))
  expect((await verifyFiles(paths)).map(({ problem }) => problem)).toEqual(paths.map(() => undefined))
})

test('one run at a time, also beside each other on one machine', async () => {
  await using desk = await startDesk()
  const { database } = desk.server
  const first = await openForArchive(database)
  await expect(openForArchive(database)).rejects.toThrow(/is being archived already; wait for that to end/)
  await first.close()
  await (await openForArchive(database)).close()
})

test.runIf(inject('database') === 'postgres')('a run waits for the database to release the lock of one that was killed', async () => {
  await using desk = await startDesk()
  const { database } = desk.server
  if (database.kind !== 'postgres') throw new Error('this runs on Postgres')
  const { url: connectionString } = database
  const watching = new Client({ connectionString })
  await watching.connect()
  const isWaiting = () => watching.query("select 1 from pg_locks where locktype = 'advisory' and objid = 4319002 and not granted")

  /** A run that begins before one is killed. Undefined when it had waited its 5 s before a slow machine came to kill that one. */
  async function openAfterKilled() {
    const killed = new Client({ connectionString })
    await killed.connect()
    await killed.query('select pg_advisory_lock($1)', [4_319_002])
    const next = openForArchive(database).catch((error: unknown) => {
      if (error instanceof ArchiveInProgress) return undefined
      throw error
    })
    let isOver = false
    const end = () => {
      isOver = true
    }
    next.then(end, end)
    while (!isOver && (await isWaiting()).rows.length === 0) await setTimeout(10)
    await killed.end()
    return next
  }

  let store: Store | undefined
  while (store === undefined) store = await openAfterKilled()
  await store.close()
  await watching.end()
})

test('countersign archive: moves what is old enough, says what it did, and checks its files', async () => {
  await using desk = await startDesk()
  const { server } = desk
  await converse(server)
  const flags = databaseFlags(server.database, server.dataDir)
  const young = await runCommandLine(['archive', ...flags])
  expect(young).toMatchObject({ code: 0, stdout: expect.stringContaining('There is nothing to archive') })
  const dry = await runCommandLine(['archive', '--older-than', '0s', '--dry-run', ...flags])
  expect(dry.stdout).toMatch(/^Nothing was moved\..*: 1 session, \d+ rows of the log\.\n$/)
  const moved = await runCommandLine(['archive', '--older-than', '0s', ...flags])
  expect(moved).toMatchObject({ code: 0, stderr: '' })
  expect(moved.stdout).toMatch(/: 1 session, \d+ rows, 0\.0 MB\nDone: 1 file in /)

  const path = join(desk.folder, readdirSync(desk.folder).find((name) => name.endsWith('.jsonl.gz')) ?? '')
  const whole = await runCommandLine(['archive', 'verify', path])
  expect(whole).toMatchObject({ code: 0, stdout: expect.stringContaining(': as it was written, 1 session, ') })
  writeFileSync(path, readFileSync(path).subarray(0, -1))
  expect(await runCommandLine(['archive', 'verify', path])).toMatchObject({ code: 1 })
  renameSync(desk.folder, `${desk.folder}-away`)
  const away = await runCommandLine(['archive', '--older-than', '0s', '--dry-run', ...flags])
  expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing was moved') })
  renameSync(`${desk.folder}-away`, desk.folder)
  const wrong = await runCommandLine(['archive', '--older-than', 'a month', ...flags])
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('--older-than: must be a time such as 30d') })
})
