import { execFileSync } from 'node:child_process'
import { closeSync, constants, existsSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, inject, test } from 'vitest'
import { runArchive } from '../../packages/server/src/archive/run-archive.ts'
import { startArchiveSchedule } from '../../packages/server/src/archive/schedule.ts'
import { verifyFiles } from '../../packages/server/src/archive/verify.ts'
import { systemClock } from '../../packages/server/src/clock.ts'
import { openBeside, openForArchive, settings } from '../../packages/server/src/store/index.ts'
import { startChildServer } from '../testing/child-server.ts'
import { manualClock } from '../testing/manual-clock.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const desk = { config: { agents: { desk: { model: 'scripted/talk.json' } } }, scripts: { talk: [{ text: 'Hi' }, { text: 'Hi' }] } }

interface Line {
  msg: string
  files?: string[]
  sessions?: number
  error?: { message: string }
}

/** Opens a log whose lines a test can wait for. */
function openLog() {
  const lines: Line[] = []
  let heard = Promise.withResolvers<void>()
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)))
      heard.resolve()
      heard = Promise.withResolvers()
      done()
    },
  })
  const of = (msg: string) => lines.filter((line) => line.msg === msg)
  return {
    log: pino({ level: 'debug', serializers: { error: pino.stdSerializers.err } }, sink),
    of,
    async until(msg: string, count: number): Promise<Line[]> {
      while (of(msg).length < count) await heard.promise
      return of(msg)
    },
  }
}

async function converse({ admin, settle }: TestServer): Promise<string> {
  const { id } = await admin.post('/api/sessions', {})
  await admin.post(`/api/sessions/${id}/messages`, { content: 'Hello' })
  await settle()
  return id
}

const startOn = async (
  server: TestServer,
  folder: string,
  clock = manualClock(Date.now() + 40 * DAY_MS),
  trouble = () => undefined as string | undefined,
) => {
  const store = await openBeside(server.database)
  const { log, of, until } = openLog()
  const schedule = startArchiveSchedule({
    ...{ store, database: server.database, folder, clock, log, olderThanMs: 30 * DAY_MS, everyMs: DAY_MS, trouble },
  })
  return {
    clock,
    of,
    until,
    async [Symbol.asyncDispose]() {
      await schedule[Symbol.asyncDispose]()
      await store.close()
    },
  }
}

test('the server archives on its schedule: once for all processes, counted on through restarts, with a row in the record', async () => {
  using folder = temporaryFolder()
  await using server = await startTestServer(desk)
  const id = await converse(server)
  {
    await using one = await startOn(server, folder.path)
    await using other = await startOn(server, folder.path, one.clock)
    expect(one.clock.waits).toEqual([MINUTE_MS, MINUTE_MS])
    one.clock.pass(MINUTE_MS)
    await Promise.all([one.until('archive.checked', 1), other.until('archive.checked', 1)])
    // The second process found the first one archiving, or found the round done.
    const finished = [...one.of('archive.finished'), ...other.of('archive.finished')]
    expect(finished).toMatchObject([{ sessions: 1, files: [expect.stringMatching(/\.jsonl\.gz$/)] }])
    expect([...one.of('archive.failed'), ...other.of('archive.failed')]).toEqual([])
    const [file = ''] = finished[0]?.files ?? []
    expect(await verifyFiles([`${folder.path}/${file}`])).toMatchObject([{ problem: undefined, sessions: 1 }])
    const { items } = await server.admin.get('/api/audit?kind=archived')
    expect(items).toMatchObject([{ actor: { kind: 'system' }, data: { files: [file], sessions: 1, folder: folder.path } }])
  }
  using behind = await server.admin.stream(`/api/sessions/${id}/events?after=1`)
  await behind.next('reset')

  // After a restart the server knows when it last archived.
  const again = manualClock(Date.now() + 40 * DAY_MS + 23 * HOUR_MS)
  await converse(server)
  await using later = await startOn(server, folder.path, again)
  again.pass(MINUTE_MS)
  await later.until('archive.checked', 1)
  expect(later.of('archive.finished')).toEqual([])
  for (let looked = 2; later.of('archive.finished').length === 0 && looked < 12; looked++) {
    again.pass(10 * MINUTE_MS)
    await later.until('archive.checked', looked)
  }
  expect(later.of('archive.finished')).toMatchObject([{ sessions: 1 }])
  expect((await server.admin.get('/api/audit?kind=archived')).items).toHaveLength(2)
})

test('a round that was made while the clock was years ahead does not put off those after it', async () => {
  using folder = temporaryFolder()
  await using server = await startTestServer(desk)
  await converse(server)
  await using one = await startOn(server, folder.path, manualClock(Date.now() + 3_650 * DAY_MS))
  one.clock.pass(MINUTE_MS)
  await one.until('archive.checked', 1)
  expect(one.of('archive.finished')).toMatchObject([{ sessions: 1 }])
  await converse(server)
  one.clock.set(Date.now() + 40 * DAY_MS)
  one.clock.pass(10 * MINUTE_MS)
  await one.until('archive.checked', 2)
  expect(one.of('archive.finished')).toMatchObject([{ sessions: 1 }, { sessions: 1 }])
})

test('a schedule that finds nothing writes no row, and one that is held changes nothing', async () => {
  using folder = temporaryFolder()
  await using server = await startTestServer(desk)
  await converse(server)
  {
    await using held = await startOn(server, folder.path, manualClock(Date.now() + 40 * DAY_MS), () => 'this looks like a copy')
    held.clock.pass(MINUTE_MS)
    await held.until('archive.checked', 1)
    expect(held.of('archive.finished')).toEqual([])
  }
  // No session is old enough to archive.
  await using early = await startOn(server, folder.path, manualClock(Date.now() + DAY_MS))
  early.clock.pass(MINUTE_MS)
  expect(await early.until('archive.finished', 1)).toMatchObject([{ sessions: 0, files: [] }])
  expect((await server.admin.get('/api/audit?kind=archived')).items).toEqual([])
  const store = await openBeside(server.database)
  expect(await store.read(() => settings.findSetting.first({ name: 'archive.last_round' }))).toBeDefined()
  await store.close()
})

test('a round that is postponed found another archive run; one that cannot open its lock has failed', async () => {
  using folder = temporaryFolder()
  await using server = await startTestServer(desk)
  {
    const running = await openForArchive(server.database)
    await using _ = { [Symbol.asyncDispose]: () => running.close() }
    await using other = await startOn(server, folder.path)
    other.clock.pass(MINUTE_MS)
    await other.until('archive.checked', 1)
    expect([other.of('archive.postponed').length, other.of('archive.failed').length]).toEqual([1, 0])
  }
  if (inject('database') !== 'sqlite') return
  // Like a file of another user, it cannot be opened; root could open that.
  rmSync(join(server.dataDir, 'archive.lock'))
  mkdirSync(join(server.dataDir, 'archive.lock'))
  await using next = await startOn(server, folder.path)
  next.clock.pass(MINUTE_MS)
  await next.until('archive.checked', 1)
  expect([next.of('archive.postponed').length, next.of('archive.failed').length]).toEqual([0, 1])
})

test('a server whose configuration says so archives a minute after its start, and its data folder stays its own', async () => {
  using folder = temporaryFolder()
  let aheadMs = 0
  const due: (() => void)[] = []
  const ended = Promise.withResolvers<void>()
  let rounds = 0
  const clock = {
    nowMs: () => Date.now() + aheadMs,
    after(delayMs: number, callback: () => void) {
      // The test alone fires the callbacks due a minute after the start. Both kinds of rounds wait ten minutes after they end.
      if (delayMs === MINUTE_MS) {
        due.push(callback)
        return () => undefined
      }
      if (delayMs === 10 * MINUTE_MS && ++rounds === 2) ended.resolve()
      return systemClock.after(delayMs, callback)
    },
  }
  await using server = await startTestServer({
    ...desk,
    config: { ...desk.config, archive: { olderThan: 'P30D', every: 'P1D', to: folder.path } },
    clock,
  })
  await converse(server)
  aheadMs = 40 * DAY_MS
  for (const fire of due.splice(0)) fire()
  await ended.promise
  expect((await server.admin.get('/api/audit?kind=archived')).items).toMatchObject([{ data: { sessions: 1, folder: folder.path } }])
  if (inject('database') !== 'sqlite') return
  const configFile = join(folder.path, 'second.yaml')
  writeFileSync(configFile, '{}')
  const second = startChildServer({ configFile, dataDir: server.dataDir }).then((started) => started.kill())
  await expect(second).rejects.toThrow('another Countersign process is using')
})

test('a server whose archive waits for its disk stops all the same', async () => {
  using folder = temporaryFolder()
  const due: (() => void)[] = []
  const clock = {
    nowMs: () => Date.now() + 40 * DAY_MS,
    after(delayMs: number, callback: () => void) {
      if (delayMs !== MINUTE_MS) return systemClock.after(delayMs, callback)
      due.push(callback)
      return () => undefined
    },
  }
  const config = { ...desk.config, archive: { olderThan: 'P30D', every: 'P1D', to: folder.path } }
  await using server = await startTestServer({ ...desk, config, clock, logLevel: 'debug' })
  await converse(server)
  const store = await openForArchive(server.database)
  await runArchive({ store, folder: folder.path, before: clock.nowMs() + DAY_MS, nowMs: clock.nowMs, onFile: () => undefined })
  await store.close()
  // The round reads the manifest first, and a pipe that nobody writes to answers as little as a disk that hangs.
  const manifest = join(folder.path, readdirSync(folder.path).find((name) => name.endsWith('.manifest.json')) ?? '')
  rmSync(manifest)
  execFileSync('mkfifo', [manifest])
  for (const fire of due.splice(0)) fire()
  const readerOf = () => {
    try {
      return openSync(manifest, constants.O_WRONLY | constants.O_NONBLOCK)
    } catch {
      return undefined
    }
  }
  let pipe: number | undefined
  await expect.poll(() => (pipe ??= readerOf())).toBeDefined()
  await server.stop()
  closeSync(pipe ?? -1)
  await expect.poll(() => server.errors.some((line) => line.includes('archive.checked'))).toBe(true)
})

test('a schedule whose folder lost its files, as when its disk is not mounted, says so and moves nothing until they are back', async () => {
  using parent = temporaryFolder()
  const folder = join(parent.path, 'archive')
  await using server = await startTestServer(desk)
  await converse(server)
  {
    await using first = await startOn(server, folder)
    first.clock.pass(MINUTE_MS)
    await first.until('archive.finished', 1)
  }
  const id = await converse(server)
  renameSync(folder, `${folder}-away`)
  {
    await using away = await startOn(server, folder, manualClock(Date.now() + 80 * DAY_MS))
    away.clock.pass(MINUTE_MS)
    expect(await away.until('archive.failed', 1)).toMatchObject([{ error: { message: expect.stringContaining('Nothing was moved') } }])
    expect(away.of('archive.finished')).toEqual([])
  }
  expect(existsSync(folder)).toBe(false)
  expect(await server.admin.send('GET', `/api/sessions/${id}/messages`)).toMatchObject({ status: 200 })
  renameSync(`${folder}-away`, folder)
  await using back = await startOn(server, folder, manualClock(Date.now() + 120 * DAY_MS))
  back.clock.pass(MINUTE_MS)
  expect(await back.until('archive.finished', 1)).toMatchObject([{ sessions: 1 }])
})
