import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { databaseFile, requireDatabase } from './data-folder.ts'
import { listMigrations, missing } from './migrate.ts'
import { pg } from './postgres/driver.ts'
import { openingError } from './sqlite/errors.ts'
import type { Database } from './store.ts'

/** The facts about a database that a read-only look finds. */
export interface DatabaseLook {
  /** False when the first start will create it. */
  isThere: boolean
  /** The migrations that the next start applies. */
  pending: string[]
  /** Distinct role lists of principals, as JSON; undefined while they cannot be read. */
  roles?: string[] | undefined
  /** The version of the policy in force; undefined while there is none, or it cannot be read. */
  policy?: StoredPolicy | undefined
  /** Free space on its disk; undefined where the disk belongs to another machine. */
  freeBytes?: number | undefined
}

export interface StoredPolicy {
  number: number
  /** JSON. */
  document: string
  digest: string
  /** The digest of the newest version that came from a configuration: a start with another one puts that one in force. */
  digest_of_file: string | null
}

const POLICY =
  "select number, document, digest, (select digest from policy_version where source = 'file' order by number desc limit 1) as digest_of_file " +
  "from policy_version where in_use = 'force'"
const ROLES = "select distinct roles from principal where kind = 'person' limit 10000"
const APPLIED = 'select number, name from migration order by number'

interface Applied {
  number: unknown
  name: unknown
}

/**
 * Inspects a database without changing it; servers may run on it meanwhile.
 * @throws Error when it cannot be opened, or is newer than this code.
 */
export const lookAtDatabase = async (database: Database, signal: AbortSignal): Promise<DatabaseLook> =>
  database.kind === 'sqlite' ? lookAtSqlite(database.dataDir) : lookAtPostgres(database.directUrl ?? database.url, signal)

function lookAtSqlite(dataDir: string): DatabaseLook {
  const freeBytes = freeBytesAt(dataDir)
  const file = databaseFile(dataDir)
  requireWritable(dataDir)
  requireDatabase(dataDir, false)
  if (!existsSync(file)) return { isThere: false, pending: [], freeBytes }
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
    const pending = missing(listMigrations(), db.prepare(APPLIED).all() as unknown as Applied[]).map(({ name }) => name)
    if (pending.length > 0) return { isThere: true, pending, freeBytes }
    const roles = db
      .prepare(ROLES)
      .all()
      .map((row) => String(row.roles))
    return { isThere: true, pending, roles, policy: db.prepare(POLICY).get() as unknown as StoredPolicy | undefined, freeBytes }
  } catch (error) {
    throw openingError(error, dataDir, file)
  } finally {
    db?.close()
  }
}

/** @throws Error for a folder in which a server could write nothing. */
function requireWritable(dataDir: string): void {
  try {
    accessSync(nearestFolder(dataDir), constants.W_OK)
  } catch (error) {
    throw openingError(error, dataDir, databaseFile(dataDir))
  }
}

function freeBytesAt(dataDir: string): number {
  const { bavail, bsize } = statfsSync(nearestFolder(dataDir))
  return bavail * bsize
}

/** Returns the folder, or the nearest parent that exists. */
function nearestFolder(folder: string): string {
  const path = resolve(folder)
  return existsSync(path) ? path : nearestFolder(dirname(path))
}

async function lookAtPostgres(url: string, signal: AbortSignal): Promise<DatabaseLook> {
  const client = new (pg().Client)({ connectionString: url, application_name: 'countersign doctor', connectionTimeoutMillis: 5_000 })
  client.on('error', () => undefined)
  // A client that is ended while it connects never reports that, and a hanging server never answers an end.
  const stopped = Promise.withResolvers<never>()
  stopped.promise.catch(() => undefined)
  const stop = () => {
    stopped.reject(signal.reason)
    void client.end().catch(() => undefined)
  }
  signal.addEventListener('abort', stop)
  try {
    await Promise.race([client.connect(), stopped.promise])
    await client.query('begin read only')
    const { rows: found } = await client.query(
      "select current_setting('server_version_num')::int as version, to_regclass('migration') as migration",
    )
    const [{ version, migration }] = found
    if (version < 150_000) throw new Error(`Postgres ${Math.floor(version / 10_000)} is too old: 15 or newer is needed`)
    const { rows: applied } = migration === null ? { rows: [] } : await client.query(APPLIED)
    const pending = missing(listMigrations(), applied).map(({ name }) => name)
    if (migration === null) return { isThere: false, pending: [] }
    if (pending.length > 0) return { isThere: true, pending }
    const roles = (await client.query(ROLES)).rows.map((row) => String(row.roles))
    return { isThere: true, pending, roles, policy: (await client.query<StoredPolicy>(POLICY)).rows[0] }
  } finally {
    signal.removeEventListener('abort', stop)
    if (!signal.aborted) await client.end().catch(() => undefined)
  }
}
