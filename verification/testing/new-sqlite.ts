import { mkdtempSync, rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseFile } from '../../packages/server/src/store/data-folder.ts'
import { openSqlite } from '../../packages/server/src/store/sqlite/sqlite.ts'

let template: Promise<string> | undefined

/**
 * Puts a database with this version's tables and without a row into an empty data folder, as Postgres tests copy a template. To make the
 * tables takes 50 ms, and the tests open about a thousand databases.
 */
export async function copyNewSqlite(dataDir: string): Promise<void> {
  template ??= makeTemplate()
  await copyFile(await template, databaseFile(dataDir))
}

async function makeTemplate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-template-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const store = openSqlite({ dataDir: folder, onCommitted: () => undefined })
  await store.close()
  return databaseFile(folder)
}
