import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { checkpoint } from '@countersign/toolkit/internal'
import type { Client } from 'pg'
import { isDevelopmentDatabase, UPGRADE_FROM_DEVELOPMENT } from '../development.ts'
import { type AppliedMigration, listMigrations, missing, textOf } from '../migrate.ts'
import { pg } from '../postgres/driver.ts'
import { withoutTransactionTimeout } from './dump-settings.ts'
import { holdRestored } from './hold.ts'
import type { BackupOptions, Restored, RestoreOptions, ToolEnvironment } from './sqlite.ts'
import { type BackupSummary, SUMMARY_QUERY, toSummary } from './summary.ts'
import { writeWholeFile } from './target-file.ts'

/** Time between two progress reports. */
const REPORT_MS = 2_000

/**
 * Writes a consistent dump of a Postgres database to one file with `pg_dump`, while servers work on it, and reads it back.
 * @param url Of the database itself, not of a pooler.
 * @throws Error when `pg_dump` is not installed or fails, or the file exists.
 */
export async function backupPostgres(
  url: string,
  file: string,
  { overwrite, onProgress, environment }: BackupOptions,
): Promise<BackupSummary> {
  return withClient(url, async (client) => {
    // The dump and the summary show the same snapshot.
    await client.query('begin isolation level repeatable read read only')
    const { rows: tables } = await client.query(HAS_OUR_TABLES)
    if (!tables[0].found)
      throw new Error(`the database ${databaseName(url)} has no tables of Countersign: name another with --database-url`)
    const { rows: snapshots } = await client.query('select pg_export_snapshot() as name')
    const { rows } = await client.query(SUMMARY_QUERY)
    const summary = toSummary(rows[0])
    return writeWholeFile(file, overwrite, async (partial) => {
      const report = setInterval(async () => onProgress({ bytes: (await stat(partial)).size, what: 'written' }), REPORT_MS)
      try {
        await run('pg_dump', ['--format=custom', `--snapshot=${snapshots[0].name}`, '--file', partial], {
          ...environment,
          ...connectionOf(url),
        })
      } finally {
        clearInterval(report)
      }
      await checkPostgresBackup(partial, environment, `${file} was not written, because the dump cannot be used`)
      return summary
    })
  })
}

const databaseName = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1))

const HAS_OUR_TABLES = "select to_regclass('migration') is not null and to_regclass('event') is not null as found"

/** Reads a dump to its end. @throws Error when it is damaged or no dump of Countersign. */
async function checkPostgresBackup(
  file: string,
  environment: ToolEnvironment,
  failure = `the backup ${file} cannot be used`,
): Promise<void> {
  try {
    const list = await run('pg_restore', ['--list', file], environment)
    for (const table of ['migration', 'action', 'event']) {
      if (!new RegExp(`TABLE DATA \\S+ ${table} `).test(list)) throw new Error(`it has no table ${table}`)
    }
    await run('pg_restore', ['--file=/dev/null', file], environment)
  } catch (cause) {
    throw new Error(`${failure}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

const HAS_TABLES = `select exists (select 1 from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema') as found`

/**
 * Restores a dump into an empty database, as a whole or not at all, migrates it to this version and holds it.
 * @throws Error when the dump cannot be used, or the database has tables.
 */
export async function restorePostgres(url: string, file: string, { onProgress, environment }: RestoreOptions): Promise<Restored> {
  await checkPostgresBackup(file, environment)
  return withClient(url, async (client) => {
    const { rows: found } = await client.query(HAS_TABLES)
    if (found[0].found) {
      throw new Error(
        `the database ${databaseName(url)} has tables; make an empty one (createdb) and restore into that. --force does not replace a Postgres database`,
      )
    }
    const applied = await appliedIn(file, environment)
    const { rows: known } = await client.query("select 1 from pg_settings where name = 'transaction_timeout'")
    const hasTimeout = known.length > 0
    await restoreHeld(file, applied, { hasTimeout, onProgress, environment: { ...environment, ...connectionOf(url) } })
    const { rows } = await client.query(SUMMARY_QUERY)
    return { summary: toSummary(rows[0]) }
  })
}

/** Returns the migrations that were applied to a dumped database. */
async function appliedIn(file: string, environment: ToolEnvironment): Promise<{ number: number; name: string }[]> {
  const script = await run('pg_restore', ['--data-only', '--table=migration', '--file=-', file], environment)
  return [...script.matchAll(/^(\d+)\t([^\t\n]+)\t\d+$/gm)].map(([, number, name = '']) => ({ number: Number(number), name }))
}

interface RestoreHeldOptions extends Pick<RestoreOptions, 'onProgress' | 'environment'> {
  /** Whether the database has the setting `transaction_timeout`. */
  hasTimeout: boolean
}

/**
 * Restores a dump, migrates it and holds it in one transaction. `psql` commits only when it reads the last line, which is written after
 * `pg_restore` has succeeded: if this process is killed at any moment, the database is empty or held.
 */
async function restoreHeld(
  file: string,
  applied: readonly AppliedMigration[],
  { hasTimeout, onProgress, environment }: RestoreHeldOptions,
): Promise<void> {
  const migrations = missing(listMigrations(), applied)
  const upgrades = isDevelopmentDatabase(applied)
  const name = environment.PGDATABASE ?? ''
  const psql = start('psql', ['--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--output=/dev/null', '--dbname', name], environment)
  psql.child.stdin.write('begin;\n')
  // The only comments are those on extensions of the database, which only their owner may make.
  const dump = start('pg_restore', ['--no-owner', '--no-privileges', '--no-comments', '--file=-', file], environment)
  let bytes = 0
  dump.child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    onProgress({ bytes, what: 'restored' })
  })
  const script = hasTimeout ? dump.child.stdout : dump.child.stdout.pipe(withoutTransactionTimeout())
  script.pipe(psql.child.stdin, { end: false })
  const written = once(script, 'end')
  dump.child.stdin.end()
  // Without its reader, the dump would wait forever.
  const abandoned = psql.ended.finally(() => dump.child.stdout.destroy())
  try {
    await Promise.race([
      Promise.all([dump.ended, written]),
      abandoned.then(() => Promise.reject(new Error('psql ended before the dump was read'))),
    ])
    // The dump sets an empty search_path, among others.
    psql.child.stdin.write('\nreset all;\n')
    if (upgrades) psql.child.stdin.write('delete from migration;\n')
    for (const migration of migrations) {
      const statements = upgrades && migration.number === 1 ? UPGRADE_FROM_DEVELOPMENT.postgres : textOf(migration, 'postgres')
      const values = `${migration.number}, '${migration.name}', extract(epoch from now()) * 1000`
      psql.child.stdin.write(`insert into migration (number, name, applied_at) values (${values});\n${statements};\n`)
    }
    checkpoint('restore.before_commit')
    psql.child.stdin.end(`${holdRestored(Date.now())};\ncommit;\n`)
  } catch (error) {
    psql.child.stdin.end()
    await abandoned
    throw error
  }
  await abandoned
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new (pg().Client)({ connectionString: url, application_name: 'countersign backup', connectionTimeoutMillis: 5_000 })
  client.on('error', () => undefined)
  await client.connect().catch((cause) => {
    throw new Error(`the database cannot be opened: ${cause.message || cause.code}`, { cause })
  })
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** `pg_restore` by itself would restore without a hold: what was approved then and has run since would run again. */
const RESTORE = 'countersign restore FILE --database-url URL'

/** The command to run where the tools of Postgres are installed. */
const BY_HAND: Record<string, string> = {
  pg_dump: 'pg_dump --format=custom --file=FILE "$DATABASE_URL"',
  psql: RESTORE,
  pg_restore: RESTORE,
}

/** Runs a tool of Postgres; the password is passed through the environment, where other users do not see it. Returns its output. */
async function run(tool: string, args: readonly string[], environment: ToolEnvironment): Promise<string> {
  const { child, ended } = start(tool, args, environment)
  child.stdin.end()
  const [stdout] = await Promise.all([text(child.stdout), ended])
  return stdout
}

/** Starts a tool of Postgres. `ended` rejects with the tool's error output when it fails. */
function start(tool: string, args: readonly string[], environment: ToolEnvironment) {
  const child = spawn(tool, args, { env: environment, stdio: ['pipe', 'pipe', 'pipe'] })
  // When it ends early, its own message gives the reason.
  child.stdin.on('error', () => undefined)
  const closed = once(child, 'close').catch((cause) => {
    if (cause.code !== 'ENOENT') throw cause
    throw new Error(
      `${tool} is not installed here: install the client tools of Postgres, or run where they are: ${BY_HAND[tool] ?? tool}`,
      { cause },
    )
  })
  const ended = Promise.all([text(child.stderr), closed]).then(([stderr, [code]]) => {
    if (code !== 0) throw new Error(`${tool} failed: ${stderr.trim() || `exit code ${code}`}`)
  })
  // The caller that awaits it gets the error; until then, another tool may fail first.
  ended.catch(() => undefined)
  return { child, ended }
}

/** Returns the environment variables with which libpq finds a database. */
function connectionOf(url: string): Record<string, string> {
  const { hostname, port, username, password, searchParams } = new URL(url)
  const given = {
    PGHOST: searchParams.get('host') ?? decodeURIComponent(hostname).replace(/^\[|\]$/g, ''),
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: databaseName(url),
    PGSSLMODE: searchParams.get('sslmode') ?? '',
    PGSSLROOTCERT: searchParams.get('sslrootcert') ?? '',
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
}
