import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The first version that keeps prepared statements in transaction mode is 1.21; Debian 12 has 1.18, also among its backports. */
const OLDEST = [1, 21] as const
/** The Debian release that has it. */
const SUITE = 'trixie'
const VERSION = '1.24.1'
const SOURCE = `pgbouncer_${VERSION}.orig.tar.gz`
const SOURCE_SHA256 = 'da72a3aba13072876d055a3e58dd4aba4a5de4ed6148e73033185245598fd3e0'
const BUILT = fileURLToPath(new URL(`../../../../../node_modules/.cache/pgbouncer-${VERSION}/pgbouncer`, import.meta.url))
const BUILD_PACKAGES = ['gcc', 'libc6-dev', 'make', 'pkg-config', 'libevent-dev']

/**
 * Returns a PgBouncer of at least 1.21: the installed one, else one that is built the first time from the source that apt finds in this
 * machine's Debian archive (about half a minute).
 * @throws Error with the reason when neither works.
 */
export function findPgBouncer(): string {
  for (const file of ['pgbouncer', '/usr/sbin/pgbouncer', BUILT]) if (isNewEnough(file)) return file
  const folder = mkdtempSync(join(tmpdir(), 'countersign-pgbouncer-'))
  try {
    runApt(['update'])
    if (!existsSync('/usr/include/event2/event.h')) runApt(['install', '-y', '--no-install-recommends', ...BUILD_PACKAGES])
    downloadSource(folder)
    build(folder)
    return BUILT
  } catch (error) {
    const why = error instanceof Error ? error.message : error
    throw new Error(`no PgBouncer ${OLDEST.join('.')} or newer is installed, and ${VERSION} cannot be built: ${why}`, { cause: error })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function isNewEnough(file: string): boolean {
  const [, major = 0, minor = 0] = /PgBouncer (\d+)\.(\d+)/.exec(spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? []
  return Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1])
}

/** Waits while another process installs packages, as a second run of these tests does. */
function runApt(args: string[], folder?: string): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  execFileSync('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=600', ...args], {
    env,
    stdio: 'pipe',
    ...(folder !== undefined && { cwd: folder }),
  })
}

/** Downloads the source into `folder` from the same mirror as the machine's own packages, with lists of its own. */
function downloadSource(folder: string): void {
  const own = ['Created-By: Packages', 'Label: Debian', 'Component: main']
  const targets = execFileSync('apt-get', ['indextargets', '--format', '$(REPO_URI)', ...own], { encoding: 'utf8' })
  const [mirror] = targets.split('\n')
  if (!mirror) throw new Error('the package sources of this machine name no Debian mirror')
  // The checksum below says what is trusted.
  writeFileSync(join(folder, 'sources.list'), `deb-src [trusted=yes] ${mirror} ${SUITE} main\n`)
  mkdirSync(join(folder, 'lists', 'partial'), { recursive: true })
  const settings = {
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::Cache::pkgcache': '',
    'Dir::Cache::srcpkgcache': '',
    'APT::Sandbox::User': 'root',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  runApt([...options, 'update'])
  runApt([...options, 'source', '--download-only', '--tar-only', 'pgbouncer'], folder)
  const source = join(folder, SOURCE)
  if (!existsSync(source)) throw new Error(`the mirror has another version than ${VERSION}`)
  if (createHash('sha256').update(readFileSync(source)).digest('hex') !== SOURCE_SHA256)
    throw new Error(`${SOURCE} is not the expected file`)
}

function build(folder: string): void {
  const run = (command: string, args: string[]) => execFileSync(command, args, { cwd: folder, stdio: 'pipe' })
  run('tar', ['xzf', SOURCE, '--strip-components=1'])
  run('sh', ['configure', '--without-openssl', '--without-cares'])
  run('make', ['-j2', 'pgbouncer'])
  mkdirSync(join(BUILT, '..'), { recursive: true })
  // Others may build it at the same time: each finds a whole file.
  const own = `${BUILT}.${process.pid}`
  cpSync(join(folder, 'pgbouncer'), own)
  renameSync(own, BUILT)
}
