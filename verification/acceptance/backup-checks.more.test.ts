import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, inject, onTestFinished, test } from 'vitest'
import { runOn } from '../testing/postgres.ts'
import { databaseFlags, runCommandLine } from '../testing/run-command.ts'
import { openTestDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const isPostgres = inject('database') === 'postgres'
const onBoth = test.skipIf(isPostgres && spawnSync('sh', ['-c', 'command -v pg_dump']).status !== 0)
const environment = { PATH: process.env.PATH ?? '' }

async function startDesk() {
  const folder = temporaryFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json' } } },
    scripts: { talk: [{ text: 'Hello' }] },
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { database, dataDir } = server
  return { server, folder: folder.path, file: join(folder.path, 'desk.backup'), flags: databaseFlags(database, dataDir) }
}

const NEWER = "insert into migration (number, name, applied_at) values (9999, '9999_future.sql', 1)"

onBoth('a database of a newer version is backed up; its backup is refused until Countersign is upgraded, and nothing is made', async () => {
  const { server, folder, file, flags } = await startDesk()
  await using empty = isPostgres ? await openTestDatabase({ isEmpty: true }) : undefined
  if (server.database.kind === 'postgres') await runOn(server.database.url, NEWER)
  else {
    using db = new DatabaseSync(join(server.dataDir, 'countersign.db'))
    db.exec(NEWER)
  }
  expect(await runCommandLine(['backup', file, ...flags], environment)).toMatchObject({ code: 0, stderr: '' })
  const place = ['--data', join(folder, 'restored'), ...(empty ? ['--database-url', empty.url] : [])]
  const newer = 'the database is newer than this version: it has migration 9999_future.sql; upgrade Countersign'
  expect(await runCommandLine(['restore', file, ...place], environment)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(newer),
  })
  expect(existsSync(join(folder, 'restored'))).toBe(false)
  if (empty) expect(await runOn(empty.url, "select 1 from pg_tables where tablename = 'migration'")).toEqual([])
})

test.skipIf(isPostgres)('a damaged database is not backed up, and the sentence names the file that was asked for', async () => {
  const { folder, file, server } = await startDesk()
  await server.admin.post('/api/sessions', {})
  await server.stop()
  const dataDir = join(folder, 'damaged')
  cpSync(server.dataDir, dataDir, { recursive: true, filter: (path) => !path.endsWith('.lock') })
  {
    using db = new DatabaseSync(join(dataDir, 'countersign.db'))
    db.exec("pragma foreign_keys = off; update session set owner_id = 'prn_nobody'")
  }
  const { code, stderr } = await runCommandLine(['backup', file, '--data', dataDir])
  expect([code, stderr]).toEqual([
    1,
    `countersign: ${file} was not written, because the database cannot be used: it is damaged: a row refers to one that is not there\n`,
  ])
  expect(readdirSync(folder)).toEqual(['damaged'])
})

test.skipIf(isPostgres)('the file of a database that is no database any more is named when its backup is refused', async () => {
  const { folder, file } = await startDesk()
  const dataDir = join(folder, 'garbage')
  mkdirSync(dataDir)
  const database = join(dataDir, 'countersign.db')
  writeFileSync(database, 'x'.repeat(10_000))
  const { code, stderr } = await runCommandLine(['backup', file, '--data', dataDir])
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${database} is not a database`)])
  expect(readdirSync(folder)).toEqual(['garbage'])
})

test.skipIf(isPostgres)(
  'the database file of a killed server is no backup: its newest commits are beside it, and restore says so',
  async () => {
    const { folder, server } = await startDesk()
    await server.admin.post('/api/sessions', {})
    const killed = join(folder, 'killed')
    // A copy of the files of a running server is what kill -9 leaves.
    cpSync(server.dataDir, killed, { recursive: true, filter: (path) => !path.endsWith('.lock') })
    const database = join(killed, 'countersign.db')
    const { code, stderr } = await runCommandLine(['restore', database, '--data', join(folder, 'restored')])
    expect([code, stderr]).toEqual([
      1,
      `countersign: ${database} is the database of a server, and its newest commits are in ${database}-wal: make a backup of it with "countersign backup FILE --data ${killed}", and restore that\n`,
    ])
    const renamed = join(folder, 'copy.db')
    for (const end of ['', '-wal']) cpSync(`${database}${end}`, `${renamed}${end}`)
    const other = await runCommandLine(['restore', renamed, '--data', join(folder, 'restored')])
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('as countersign.db and countersign.db-wal')])
    for (const end of ['', '-wal']) rmSync(`${renamed}${end}`)
    expect(readdirSync(folder)).toEqual(['killed'])
    const backup = join(folder, 'desk.backup')
    expect((await runCommandLine(['backup', backup, '--data', killed])).code).toBe(0)
    expect(await runCommandLine(['restore', backup, '--data', join(folder, 'restored')])).toMatchObject({ code: 0, stderr: '' })
  },
)
