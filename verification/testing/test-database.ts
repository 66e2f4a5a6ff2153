import { Client } from 'pg'
import { inject } from 'vitest'
import { openJobConnections } from '../../packages/server/src/dispatch/cluster/graphile.ts'
import { type Database, openPostgres } from '../../packages/server/src/store/index.ts'
import { createDatabase, dropDatabase, requireNoCircle } from './postgres.ts'

/** A Postgres database that goes with the test, which fails when transactions waited for each other in a circle there. */
export interface TestDatabase extends AsyncDisposable {
  url: string
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The kind of database in which the servers of this run of the tests keep their data. */
    database: 'sqlite' | 'postgres'
  }
}

/** A database of the kind that this run of the tests is about, as a server and as an engine is told of it. */
export interface ServerDatabase extends AsyncDisposable {
  /** The variables that name it; none for the one in a server's data folder. */
  environment: Record<string, string>
  in(dataDir: string): Database
}

/** Makes a database for a server of this run of the tests. */
export async function openServerDatabase(): Promise<ServerDatabase> {
  if (inject('database') === 'sqlite') {
    return { environment: {}, in: (dataDir) => ({ kind: 'sqlite', dataDir }), [Symbol.asyncDispose]: async () => undefined }
  }
  const { url, ...rest } = await openTestDatabase()
  return { environment: { DATABASE_URL: url }, in: () => ({ kind: 'postgres', url }), ...rest }
}

const TEMPLATE = 'template_of_tests'
let server: Promise<string> | undefined

/**
 * Makes a database on the test run's server, which starts when the first test asks.
 * @param isEmpty True for one without any tables; default: the tables of this version.
 * @param folder Where its data shall be, in a folder of the server's user.
 */
export async function openTestDatabase({ isEmpty = false, folder = undefined as string | undefined } = {}): Promise<TestDatabase> {
  server ??= findServer()
  const url = await createDatabase(await server, { folder, ...(isEmpty ? {} : { template: TEMPLATE }) })
  return {
    url,
    async [Symbol.asyncDispose]() {
      await dropDatabase(url)
      requireNoCircle(await takeCircles(url))
    },
  }
}

/** Returns what the database server said about transactions that waited for each other in a circle in a test database, and forgets it. */
export async function takeCircles(url: string): Promise<string[]> {
  const answer = await fetch(new URL(`circles${new URL(url).pathname}`, inject('postgresDesk')))
  return (await answer.json()) as string[]
}

async function findServer(): Promise<string> {
  const answer = await fetch(inject('postgresDesk'))
  const url = await answer.text()
  if (!answer.ok) throw new Error(url)
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    // Test files run side by side: one of them makes the template, the others wait for it.
    await client.query('select pg_advisory_lock(1)')
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [TEMPLATE])
    if (rowCount === 0) await migrateNew(url)
  } finally {
    await client.end()
  }
  return url
}

async function migrateNew(serverUrl: string): Promise<void> {
  const url = await createDatabase(serverUrl, { name: TEMPLATE })
  const store = await openPostgres({ url, onCommitted: () => undefined })
  await store.close()
  await (await openJobConnections(url)).end()
}
