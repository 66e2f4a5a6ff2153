import type { CreatedKey, CreateKeyBody } from '@countersign/core'
import { type Environment, readSettings } from '../../packages/server/src/config/index.ts'
import { acceptKey as accept } from '../../packages/server/src/identity/keys.ts'
import { type Database, openBeside } from '../../packages/server/src/store/index.ts'
import type { ApiClient } from './api-client.ts'

/** Accepts a key as who runs the server does for its person: `countersign key accept`. */
export async function acceptKey(database: Database, id: string): Promise<void> {
  const store = await openBeside(database)
  try {
    await store.transact((outbox) => accept(outbox, id, null, Date.now()))
  } finally {
    await store.close()
  }
}

/** The database of a server that was started with this data folder and environment. */
export const databaseOf = (dataDir: string, environment: Environment): Database => readSettings({ data: dataDir }, environment).database

/** Makes a key that does at once what it is for. */
export async function makeKey(
  admin: Pick<ApiClient, 'post'>,
  database: Database,
  body: Partial<CreateKeyBody>,
): Promise<CreatedKey & { key: string }> {
  const made = await admin.post('/api/keys', body)
  if (made.acceptedAt === null) await acceptKey(database, made.id)
  return made
}
