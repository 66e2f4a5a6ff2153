import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

export const folderOf = (name: string): string => join(import.meta.dirname, name)

const packageFile = (folder: string): string => join(folder, 'package.json')

/** The pinned packages of a peer; none for the systems of this repository. */
export function packagesOf(name: string): Record<string, string> {
  const file = packageFile(folderOf(name))
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')).dependencies ?? {}) : {}
}

/** Runs npm under the Node of this process, so that native packages are built for it. @throws Error with npm's last lines. */
async function npm(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  const path = `${dirname(realpathSync(process.execPath))}${delimiter}${process.env.PATH ?? ''}`
  const child = spawn('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    env: { ...process.env, PATH: path, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output = (output + chunk).slice(-2_000)))
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Error(`npm ${args[0]} ended with ${code}: ${output.trim()}`)
}

const hasLoaded = (folder: string, script: string): boolean => spawnSync(process.execPath, ['-e', script], { cwd: folder }).status === 0

/**
 * Builds better-sqlite3 for this Node where neither a prebuilt binary nor headers of the right version were found: the headers are in the
 * npm package that Node itself comes in.
 */
async function buildSqlite(folder: string): Promise<void> {
  const headers = mkdtempSync(join(tmpdir(), 'countersign-headers-'))
  const name = `node-${process.platform}-${process.arch}`
  try {
    await npm(headers, ['install', '--no-save', '--prefix', headers, `${name}@${process.versions.node}`])
    await npm(folder, ['rebuild', 'better-sqlite3'], { npm_config_nodedir: join(headers, 'node_modules', name) })
  } finally {
    rmSync(headers, { recursive: true, force: true })
  }
}

const OPEN_SQLITE = `new (require('better-sqlite3'))(':memory:')`

/** Installs a peer's packages into its folder, where that has not been done. @throws Error when it cannot be installed. */
export async function installPeer(name: string, say: (line: string) => void): Promise<void> {
  const folder = folderOf(name)
  if (!existsSync(packageFile(folder))) return
  const isInstalled = Object.keys(packagesOf(name)).every((one) => {
    const installed = packageFile(join(folder, 'node_modules', one))
    return existsSync(installed) && JSON.parse(readFileSync(installed, 'utf8')).version === packagesOf(name)[one]
  })
  if (!isInstalled) {
    say(`Installing bench/peers/${name} (npm ci)`)
    await npm(folder, ['ci'])
  }
  if (existsSync(join(folder, 'node_modules', 'better-sqlite3')) && !hasLoaded(folder, OPEN_SQLITE)) {
    say(`Building better-sqlite3 of bench/peers/${name} for Node ${process.versions.node}, about a minute`)
    await buildSqlite(folder)
  }
}
