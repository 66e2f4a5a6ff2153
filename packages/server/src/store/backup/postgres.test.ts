import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTempPostgres } from '../../../../../verification/testing/temp-store.ts'
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
