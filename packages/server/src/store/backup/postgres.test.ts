import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTempPostgres } from '../../../../../verification/testing/temp-store.ts'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'
import { temporaryFolder } from '../../../../../verification/testing/test-server.ts'
import { backupDatabase } from './index.ts'

test('where pg_dump is not installed, a backup of Postgres says which command to run, and leaves no file', async () => {
  await using temp = await openTempPostgres()
  using folder = temporaryFolder()
  const options = { overwrite: false, onProgress: () => undefined, environment: { PATH: folder.path } }
  const backup = backupDatabase({ kind: 'postgres', url: temp.url }, join(folder.path, 'desk.dump'), options)
  await expect(backup).rejects.toThrow(/pg_dump is not installed here.*pg_dump --format=custom --file=FILE/)
  expect(readdirSync(folder.path)).toEqual([])
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
