import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../testing/free-port.ts'
import { findOwner } from '../../testing/postgres.ts'

/** Makes the kernel kill a program once its parent has ended. The program replaces `setpriv` in the same process. */
const GUARD = process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'KILL'] : []

export interface PoolerOptions {
  binary: string
  /** The database behind it. */
  databaseUrl: string
  mode: 'session' | 'transaction'
  /** 0 forgets prepared statements between transactions, as versions before 1.21 do, which a binary given here must not be. */
  maxPreparedStatements: number
  /** Connections to the database are replaced when they are so old. Default 3600. */
  serverLifetimeSeconds?: number
  /** Default 20. */
  poolSize?: number
}

/** A PgBouncer in front of one database. On Linux it ends with the process that started it. */
export interface Pooler extends AsyncDisposable {
  /** The database, through it. */
  readonly url: string
  signal(name: 'SIGHUP' | 'SIGUSR1' | 'SIGUSR2'): void
  /** Ends it with SIGKILL, and starts another one on the same port. */
  killAndStart(): Promise<void>
}

export async function startPooler(options: PoolerOptions): Promise<Pooler> {
  const { databaseUrl, mode, maxPreparedStatements, serverLifetimeSeconds = 3600, poolSize = 20 } = options
  const folder = mkdtempSync(join(tmpdir(), 'countersign-pooler-'))
  // It refuses to run as root, and its owner may not be allowed to where it lies.
  const owner = findOwner()
  const binary = join(folder, 'pgbouncer')
  cpSync(execFileSync('sh', ['-c', 'command -v "$0"', options.binary], { encoding: 'utf8' }).trim(), binary)
  chmodSync(binary, 0o755)
  const { hostname, port: databasePort, username, password, pathname } = new URL(databaseUrl)
  const port = await freePort()
  const config = join(folder, 'pgbouncer.ini')
  writeFileSync(
    config,
    `[databases]
* = host=${hostname} port=${databasePort} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
max_prepared_statements = ${maxPreparedStatements}
server_login_retry = 1
server_lifetime = ${serverLifetimeSeconds}
default_pool_size = ${poolSize}
max_client_conn = 500
`,
    { mode: 0o644 },
  )
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid)
  let child: ChildProcess

  async function start(): Promise<void> {
    const [command = binary, ...args] = [...GUARD, binary, config]
    child = spawn(command, args, { ...owner, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    await whenUp(child)
  }

  async function kill(): Promise<void> {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  await start()
  return {
    url: `postgres://${username}@127.0.0.1:${port}${pathname}`,
    signal: (name) => void child.kill(name),
    async killAndStart() {
      await kill()
      await start()
    },
    async [Symbol.asyncDispose]() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function whenUp({ stderr }: ChildProcess): Promise<void> {
  if (!stderr) throw new Error('the pooler has no output')
  let said = ''
  for await (const line of createInterface(stderr)) {
    said += `${line}\n`
    if (line.includes('process up')) return void stderr.resume()
  }
  throw new Error(`PgBouncer ended before it listened:\n${said}`)
}
