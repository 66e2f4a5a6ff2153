import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A copy of the repository as it stands, for Stryker to write its mutants into. */
export interface RepositoryCopy extends Disposable {
  path: string
}

/**
 * Packages are linked, not copied, except the workspace's own: a link to those would lead back to the sources that are not mutated. (For
 * the same reason Stryker's own sandbox does not serve: it links `node_modules` as a whole.)
 */
export function copyRepository(root: string): RepositoryCopy {
  const path = mkdtempSync(join(tmpdir(), 'countersign-mutation-'))
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  for (const file of files.split('\0')) {
    if (file === '' || !existsSync(join(root, file))) continue
    mkdirSync(dirname(join(path, file)), { recursive: true })
    cpSync(join(root, file), join(path, file))
  }
  for (const folder of ['.', ...workspaceFolders(root)]) linkModules(join(root, folder), join(path, folder))
  for (const built of ['apps/web/dist', 'scripts/counterparts/node_modules']) {
    if (existsSync(join(root, built)) && !existsSync(join(path, built))) symlinkSync(join(root, built), join(path, built))
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

const workspaceFolders = (root: string): string[] => [
  ...['packages', 'apps', 'examples'].flatMap((place) => readdirSync(join(root, place)).map((name) => join(place, name))),
  'verification',
]

/** Scopes are folders of their own, because one of them holds the workspace's packages. */
function linkModules(from: string, to: string): void {
  const modules = join(from, 'node_modules')
  if (!existsSync(modules)) return
  for (const name of readdirSync(modules)) {
    const entries = name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => join(name, inner)) : [name]
    for (const entry of entries) linkOne(modules, join(to, 'node_modules'), entry)
  }
}

function linkOne(from: string, to: string, entry: string): void {
  mkdirSync(dirname(join(to, entry)), { recursive: true })
  const isOurs = entry === 'countersign' || entry.startsWith('@countersign/')
  if (isOurs) cpSync(join(from, entry), join(to, entry), { recursive: true, verbatimSymlinks: true })
  else symlinkSync(join(from, entry), join(to, entry))
}
