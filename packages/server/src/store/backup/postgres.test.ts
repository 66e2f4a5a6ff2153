import { spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runOn } from '../../../../../verification/testing/postgres.ts'
import { openTempPostgres } from '../../../../../verification/testing/temp-store.ts'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'
import { temporaryFolder } from '../../../../../verification/testing/test-server.ts'
import { backupDatabase, restoreDatabase } from './index.ts'

const pgRestore = spawnSync('sh', ['-c', 'command -v pg_restore'], { encoding: 'utf8' }).stdout.trim()

const OPTIONS = { overwrite: false, replace: false, onProgress: () => undefined, environment: process.env }
const HELD = 'select held_at is not null as held, bound_at from instance'

test('where pg_dump is not installed, a backup of Postgres says which command to run, and leaves no file', async () => {
  await using temp = await openTempPostgres()
  using folder = temporaryFolder()
  const options = { overwrite: false, onProgress: () => undefined, environment: { PATH: folder.path } }
  const backup = backupDatabase({ kind: 'postgres', url: temp.url }, join(folder.path, 'desk.dump'), options)
  await expect(backup).rejects.toThrow(/pg_dump is not installed here.*pg_dump --format=custom --file=FILE/)
  expect(readdirSync(folder.path)).toEqual([])
})

test('where pg_restore is not installed, a restore says to run countersign restore elsewhere, and never one that holds nothing', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'desk.dump')
  writeFileSync(file, 'PGDMP')
  const options = { ...OPTIONS, environment: { PATH: folder.path } }
  const restore = restoreDatabase({ kind: 'postgres', url: 'postgres://nobody@127.0.0.1:1/none' }, file, options)
  await expect(restore).rejects.toThrow(
    /pg_restore is not installed here: install the client tools of Postgres, or run where they are: countersign restore FILE --database-url URL$/,
  )
})

test('the backup of a Postgres database without tables of Countersign is refused with an error that names the database, and leaves no file', async () => {
  await using empty = await openTestDatabase({ isEmpty: true })
  using folder = temporaryFolder()
  const options = { overwrite: false, onProgress: () => undefined, environment: process.env }
  const backup = backupDatabase({ kind: 'postgres', url: empty.url }, join(folder.path, 'desk.dump'), options)
  const name = new URL(empty.url).pathname.slice(1)
  await expect(backup).rejects.toThrow(`the database ${name} has no tables of Countersign: name another with --database-url`)
  expect(readdirSync(folder.path)).toEqual([])
})

test.skipIf(!pgRestore)('a backup is restored into an older Postgres with the tools of a newer one', async () => {
  await using temp = await openTempPostgres()
  await using empty = await openTestDatabase({ isEmpty: true })
  using folder = temporaryFolder()
  const file = join(folder.path, 'desk.dump')
  await backupDatabase({ kind: 'postgres', url: temp.url }, file, OPTIONS)
  // pg_restore 17 and newer writes the line into every script.
  const newer = `#!/bin/sh\nexport LC_ALL=C\n'${pgRestore}' "$@" | awk '/^SET transaction_timeout/ {next} {print} /^SET lock_timeout/ {print "SET transaction_timeout = 0;"}'\n`
  writeFileSync(join(folder.path, 'pg_restore'), newer, { mode: 0o755 })
  const environment = { ...process.env, PATH: `${folder.path}:${process.env.PATH}` }
  const options = { ...OPTIONS, environment }
  await restoreDatabase({ kind: 'postgres', url: empty.url }, file, options)
  expect(await runOn(empty.url, HELD)).toEqual([{ held: true, bound_at: null }])
})

const EXTENSION = 'pg_stat_statements'

test.skipIf(!pgRestore)('a backup is restored by the owner of a database in which somebody else made an extension', async ({ skip }) => {
  await using temp = await openTempPostgres()
  const found = await runOn(temp.url, `select 1 from pg_available_extensions where name = '${EXTENSION}'`)
  if (found.length === 0) return skip('this server has no extensions')
  await using empty = await openTestDatabase({ isEmpty: true })
  using folder = temporaryFolder()
  const file = join(folder.path, 'desk.dump')
  const role = new URL(empty.url).pathname.slice(1)
  for (const url of [temp.url, empty.url]) await runOn(url, `create extension ${EXTENSION}`)
  await runOn(empty.url, `create role ${role} login password '${role}'; alter database ${role} owner to ${role}`)
  try {
    await backupDatabase({ kind: 'postgres', url: temp.url }, file, OPTIONS)
    const url = Object.assign(new URL(empty.url), { username: role, password: role }).href
    await restoreDatabase({ kind: 'postgres', url }, file, OPTIONS)
    expect(await runOn(url, HELD)).toEqual([{ held: true, bound_at: null }])
  } finally {
    await runOn(empty.url, `reassign owned by ${role} to current_user; drop owned by ${role}; drop role ${role}`)
  }
})
