import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { setTimeout as later } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Action } from '@countersign/core'
import { Client } from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { CRASH_VARIABLES, killedLine } from '../crash/crash-at.ts'
import { COMPILE_CACHE } from '../testing/compile-cache.ts'
import { makeDevelopmentTables, writeDevelopmentDatabase } from '../testing/development-database.ts'
import { runOn } from '../testing/postgres.ts'
import { databaseFlags, runCommandLine, runModule } from '../testing/run-command.ts'
import { startTarget, type TargetAnswer, toolsOf } from '../testing/target.ts'
import { openTempPostgres } from '../testing/temp-store.ts'
import { openTestDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const isPostgres = inject('database') === 'postgres'
const hasPgDump = spawnSync('sh', ['-c', 'command -v pg_dump']).status === 0
const onBoth = test.skipIf(isPostgres && !hasPgDump)
const onSqlite = test.skipIf(isPostgres)
/** Nothing but how far a backup is: it says so every two seconds, which a busy machine can take. */
const PROGRESS = expect.stringMatching(/^(?:[\d.,]+ (?:MB written|% copied|MB restored)\n|(?:checking|bringing) the .*: [\d.,]+ MB\n)*$/)
const CRASH_AT = new URL('../crash/crash-at.ts', import.meta.url).href
const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))

function folderOfTest(): string {
  const folder = temporaryFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  return folder.path
}

async function startDesk() {
  const target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  onTestFinished(() => target[Symbol.asyncDispose]())
  const server = await startTestServer({ config: { tools: toolsOf(target) } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { admin } = server
  const propose = (what: string): Promise<Action> => admin.post('/api/actions', { tool: 'keyed', arguments: { what } })
  const decide = ({ id }: Action, verdict: 'approve' | 'decline') => admin.post(`/api/actions/${id}/decision`, { verdict })
  return { server, target, propose, decide, flags: databaseFlags(server.database, server.dataDir) }
}

/** Creates an empty place to restore into. */
async function newPlace() {
  const dataDir = folderOfTest()
  if (!isPostgres) return { dataDir, flags: ['--data', dataDir], environment: {}, url: '' }
  const database = await openTestDatabase({ isEmpty: true })
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { url } = database
  return { dataDir, flags: ['--data', dataDir, '--database-url', url], environment: { DATABASE_URL: url }, url }
}

async function statesIn({ dataDir, url }: { dataDir: string; url: string }): Promise<Map<unknown, unknown>> {
  const query = 'select id, state from action'
  if (isPostgres) return new Map((await runOn(url, query)).map(({ id, state }) => [id, state]))
  const db = new DatabaseSync(join(dataDir, 'countersign.db'), { readOnly: true })
  try {
    return new Map(
      db
        .prepare(query)
        .all()
        .map(({ id, state }) => [id, state]),
    )
  } finally {
    db.close()
  }
}

onBoth('a backup under traffic holds every decision that was answered before it began, and a server runs on what is restored', async () => {
  const { server, target, propose, decide, flags } = await startDesk()
  const file = join(folderOfTest(), 'desk.backup')
  const answered: string[] = []
  let isOver = false
  const traffic = Promise.all(
    [1, 2, 3].map(async (lane) => {
      for (let n = 0; !isOver; n++) {
        const action = await propose(`${lane}/${n} ${'x'.repeat(3_000)}`)
        await decide(action, n % 2 ? 'approve' : 'decline')
        answered.push(action.id)
      }
    }),
  )
  const waiting = await propose('nobody has decided this')
  await expect.poll(() => answered.length).toBeGreaterThan(50)
  const before = [...answered]
  const backup = await runCommandLine(['backup', file, ...flags])
  const during = answered.length - before.length
  isOver = true
  await traffic
  expect(backup).toMatchObject({ code: 0, stderr: PROGRESS })
  expect(during).toBeGreaterThan(0)
  expect(backup.stdout).toMatch(/checked\. It holds events up to 20\d\d-.* \(position \d+\); actions: \d+ waiting/)
  expect(backup.stdout).toContain('Not in it: configuration and key files')
  expect(statSync(file).mode & 0o777).toBe(0o600)

  const place = await newPlace()
  expect(await runCommandLine(['restore', file, ...place.flags])).toMatchObject({
    ...{ code: 0, stderr: PROGRESS },
    stdout: expect.stringContaining(`Restored into ${isPostgres ? 'the Postgres database' : place.dataDir}: events up to 20`),
  })
  const states = await statesIn(place)
  expect(states.get(waiting.id)).toBe('proposed')
  expect(before.filter((id) => !states.has(id) || states.get(id) === 'proposed')).toEqual([])
  await using copy = await startTestServer({
    config: { tools: toolsOf(target) },
    place: { dataDir: place.dataDir, environment: place.environment },
  })
  expect(await copy.admin.get(`/api/actions/${waiting.id}`)).toMatchObject({ state: 'proposed' })
  await expect.poll(() => server.admin.get('/readyz')).toEqual({ status: 'ok' })
})

onBoth('a backup overwrites no file without --force, and no folder, and is refused when its folder is missing', async () => {
  const { propose, flags } = await startDesk()
  await propose('something')
  const folder = folderOfTest()
  const file = join(folder, 'desk.backup')
  const first = await runCommandLine(['backup', file, ...flags])
  expect(first.code).toBe(0)
  const bytes = statSync(file).mtimeMs
  const second = await runCommandLine(['backup', file, ...flags])
  expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('desk.backup exists')])
  expect(statSync(file).mtimeMs).toBe(bytes)
  expect((await runCommandLine(['backup', file, '--force', ...flags])).code).toBe(0)
  const nowhere = await runCommandLine(['backup', join(folder, 'no', 'desk.backup'), ...flags])
  expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('does not exist')])
  const onFolder = await runCommandLine(['backup', folder, '--force', ...flags])
  expect([onFolder.code, onFolder.stderr]).toEqual([1, `countersign: ${folder} is a folder; name a file in it\n`])
  expect(readdirSync(folder)).toEqual(['desk.backup'])
})

onBoth('a damaged backup is refused before anything is restored, and a place with data is left as it is', async () => {
  const { propose, server, flags } = await startDesk()
  for (let n = 0; n < 20; n++) await propose(`${n} ${'x'.repeat(5_000)}`)
  const folder = folderOfTest()
  const [file, damaged] = [join(folder, 'desk.backup'), join(folder, 'damaged.backup')]
  expect((await runCommandLine(['backup', file, ...flags])).code).toBe(0)
  copyFileSync(file, damaged)
  truncateSync(damaged, Math.floor(statSync(file).size / 2))
  const place = await newPlace()
  const refused = await runCommandLine(['restore', damaged, ...place.flags])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/damaged\.backup cannot be used/)])
  expect(existsSync(join(place.dataDir, 'countersign.db'))).toBe(false)

  const taken = await runCommandLine(['restore', file, ...flags])
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringMatching(isPostgres ? /has tables; make an empty one/ : /is using/)])
  await expect.poll(() => server.admin.get('/readyz')).toEqual({ status: 'ok' })
})

onSqlite('restore --force moves the database aside, and without it a folder with data is refused', async () => {
  const { propose, flags, target } = await startDesk()
  const early = await propose('early')
  const file = join(folderOfTest(), 'desk.backup')
  expect((await runCommandLine(['backup', file, ...flags])).code).toBe(0)
  const late = await propose('late')
  const dataDir = folderOfTest()
  expect((await runCommandLine(['restore', file, '--data', dataDir])).code).toBe(0)
  {
    const place = { dataDir, environment: {} }
    await using first = await startTestServer({ config: { tools: toolsOf(target) }, place, flags: { acceptCopy: true } })
    await first.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'of the restored one' } })
  }
  const refused = await runCommandLine(['restore', file, '--data', dataDir])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/has data; .*--force/)])
  const forced = await runCommandLine(['restore', file, '--force', '--data', dataDir])
  expect([forced.code, forced.stderr]).toEqual([0, ''])
  const [aside = ''] = readdirSync(dataDir).filter((name) => name.startsWith('before-restore-'))
  expect(forced.stdout).toContain(aside)
  expect(await statesIn({ dataDir, url: '' })).toEqual(new Map([[early.id, 'proposed']]))
  expect((await statesIn({ dataDir: join(dataDir, aside), url: '' })).size).toBe(2)
  expect((await statesIn({ dataDir, url: '' })).has(late.id)).toBe(false)
})

/** Reads, past the server, the row that says whether everything is held. */
async function holdIn({ dataDir, url }: { dataDir: string; url: string }): Promise<unknown> {
  const query = 'select held_at is not null as held, held_why as why from instance'
  if (isPostgres) return (await runOn(url, query))[0]
  const db = new DatabaseSync(join(dataDir, 'countersign.db'), { readOnly: true })
  try {
    const { held, why } = db.prepare(query).get() ?? {}
    return { held: held === 1, why }
  } finally {
    db.close()
  }
}

const RESTORED = { held: true, why: expect.stringContaining('restored from a backup') }

onBoth('what is restored is held by its own row: its next start carries nothing out, and the record says so once', async () => {
  const never = Promise.withResolvers<TargetAnswer>()
  const isFull = Promise.withResolvers<void>()
  await using target = await startTarget((_request, nth) => {
    if (nth === 2) isFull.resolve()
    return never.promise
  })
  const config = { tools: toolsOf(target) }
  await using original = await startTestServer({ config, flags: { maxExecutions: 2 } })
  using _answer = { [Symbol.dispose]: () => never.resolve({ status: 200 }) }
  const approve = async (tool: string): Promise<Action> => {
    const { id } = await original.admin.post('/api/actions', { tool, arguments: { what: tool } })
    return original.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  }
  await approve('keyed')
  await approve('unkeyed')
  await isFull.promise
  await approve('unkeyed')
  const file = join(folderOfTest(), 'desk.backup')
  expect((await runCommandLine(['backup', file, ...databaseFlags(original.database, original.dataDir)])).code).toBe(0)
  const place = await newPlace()
  expect(await runCommandLine(['restore', file, ...place.flags])).toMatchObject({ code: 0, stderr: PROGRESS })
  expect(await holdIn(place)).toEqual(RESTORED)

  await using copy = await startTestServer({ config, place })
  await copy.settle()
  expect(await copy.admin.get('/api/hold')).toMatchObject({ ...RESTORED, open: { approved: 1, executing: 2 } })
  await copy.restart()
  await copy.settle()
  expect((await copy.admin.get('/api/audit?kind=held')).items).toMatchObject([{ data: { why: RESTORED.why } }])
  expect(target.writes.length).toBe(2)
})

onBoth('a backup of a database that the last development version wrote is held once it is restored', async () => {
  const old = await newPlace()
  if (isPostgres) {
    const client = new Client({ connectionString: old.url })
    await client.connect()
    await makeDevelopmentTables(client)
    await client.end()
  } else writeDevelopmentDatabase(old.dataDir)
  const file = join(folderOfTest(), 'old.backup')
  expect(await runCommandLine(['backup', file, ...old.flags])).toMatchObject({ code: 0, stderr: PROGRESS })
  const place = await newPlace()
  expect(await runCommandLine(['restore', file, ...place.flags])).toMatchObject({ code: 0, stderr: PROGRESS })
  expect(await holdIn(place)).toEqual(RESTORED)
  await using server = await startTestServer({ config: {}, place })
  expect(await server.admin.get('/api/hold')).toMatchObject(RESTORED)
})

onBoth('a restore that is killed just before its end leaves the place empty, and can be made again', async () => {
  const { propose, decide, flags } = await startDesk()
  const action = await propose('one')
  await decide(action, 'approve')
  const folder = folderOfTest()
  const file = join(folder, 'desk.backup')
  expect((await runCommandLine(['backup', file, ...flags])).code).toBe(0)
  const place = await newPlace()
  const environment = {
    PATH: process.env.PATH ?? '',
    [CRASH_VARIABLES.crash]: JSON.stringify({ point: 'restore.before_commit', nth: 1 }),
    [CRASH_VARIABLES.reached]: join(folder, 'reached.txt'),
  }
  const killed = await runModule(['--import', CRASH_AT, MAIN, 'restore', file, ...place.flags], environment)
  expect(killed.code).toBe(null)
  expect(readFileSync(environment[CRASH_VARIABLES.reached] ?? '', 'utf8')).toContain(killedLine('restore.before_commit'))
  // Postgres rolls back the transaction of a lost client a moment later.
  if (isPostgres) await expect.poll(() => runOn(place.url, "select 1 from pg_tables where tablename = 'action'")).toEqual([])
  else expect(existsSync(join(place.dataDir, 'countersign.db'))).toBe(false)
  expect(await runCommandLine(['restore', file, ...place.flags])).toMatchObject({ code: 0, stderr: PROGRESS })
  expect(await holdIn(place)).toEqual(RESTORED)
  expect([...(await statesIn(place)).keys()]).toEqual([action.id])
})

test.skipIf(isPostgres || !hasPgDump)('every command of the page on backup and restore does what the page says', async () => {
  const page = readFileSync(new URL('../../docs/guides/backup.md', import.meta.url), 'utf8')
  // Those for Compose run in `compose-restore.more.test.ts`.
  const commands = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block.trim()).filter((one) => !one.startsWith('docker'))
  expect(commands).toHaveLength(5)
  const folder = folderOfTest()
  const { propose, server } = await startDesk()
  const action = await propose('something')
  symlinkSync(server.dataDir, join(folder, 'desk'))
  await using source = await openTempPostgres()
  await using empty = await openTestDatabase({ isEmpty: true })
  const shim = join(folder, 'npx')
  const node = [process.execPath, '--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN]
  writeFileSync(shim, `#!/bin/sh\nshift\nexec ${node.map((word) => `'${word}'`).join(' ')} "$@"\n`, { mode: 0o755 })
  const env = { ...COMPILE_CACHE, PATH: `${folder}:${process.env.PATH}`, DATABASE_URL: source.url, RESTORED_URL: empty.url }
  for (const command of commands) {
    const isSqlite = command.includes('--data ')
    const { DATABASE_URL: _, ...withoutPostgres } = env
    const child = spawn('sh', ['-ec', command], {
      cwd: folder,
      env: isSqlite ? withoutPostgres : env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = once(child, 'close')
    expect([command, await text(child.stderr)]).toEqual([command, PROGRESS])
    expect([command, ...(await ended)]).toEqual([command, 0, null])
  }
  expect((await statesIn({ dataDir: join(folder, 'restored'), url: '' })).get(action.id)).toBe('proposed')
  expect(readdirSync(join(folder, 'restored')).some((name) => name.startsWith('before-restore-'))).toBe(true)
  expect(await runOn(empty.url, 'select count(*)::int > 0 as migrated from migration')).toEqual([{ migrated: true }])
})

onBoth('killed at any moment, a backup leaves no file under its name, or a whole one', { timeout: 600_000 }, async () => {
  const { propose, flags } = await startDesk()
  for (let n = 0; n < 40; n++) await propose(`${n} ${'x'.repeat(20_000)}`)
  const folder = folderOfTest()
  const seen = { absent: 0, whole: 0 }
  const measured = performance.now()
  expect((await runCommandLine(['backup', join(folder, 'measure'), ...flags])).code).toBe(0)
  const wholeMs = performance.now() - measured
  for (let n = 0; n < 5; n++) {
    const file = join(folder, `${n}.backup`)
    const child = spawn(
      process.execPath,
      ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, 'backup', file, ...flags],
      { env: { ...COMPILE_CACHE }, stdio: 'ignore', detached: true },
    )
    const ended = once(child, 'exit')
    // The kill comes at moments between the middle of the run and just after its end.
    await Promise.race([later(wholeMs * (0.5 + n / 8)), ended])
    if (child.exitCode === null) child.kill('SIGKILL')
    await ended
    if (!existsSync(file)) {
      seen.absent++
      continue
    }
    seen.whole++
    expect((await runCommandLine(['restore', file, ...(await newPlace()).flags])).code).toBe(0)
  }
  expect(seen.absent + seen.whole).toBe(5)
})

onBoth('a file that is no backup, is away, or is of the other database is refused with what to do, and nothing is made', async () => {
  const { flags } = await newPlace()
  const folder = folderOfTest()
  const restore = async (name: string, content: string | undefined) => {
    const file = join(folder, name)
    if (content !== undefined) writeFileSync(file, content)
    const { code, stderr } = await runCommandLine(['restore', file, ...flags])
    expect(code).toBe(1)
    return stderr.replace(file, 'FILE')
  }
  const other = await restore('other', isPostgres ? 'SQLite format 3\0' : 'PGDMP\x01')
  expect(other).toBe(
    isPostgres
      ? 'countersign: FILE is a backup of the built-in database: take out DATABASE_URL, and name an empty folder with --data\n'
      : 'countersign: FILE is a backup of Postgres: name an empty database with --database-url\n',
  )
  expect(await restore('away', undefined)).toBe('countersign: the backup FILE cannot be read (ENOENT)\n')
  expect(await restore('text', 'hello')).toMatch(/^countersign: the backup FILE cannot be used: /)
})
