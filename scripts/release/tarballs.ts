import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, PACKAGES, readManifest } from './ready.ts'
import { run } from './run.ts'

export interface Tarball {
  name: string
  /** Absolute. */
  file: string
  /** The paths in it, without the leading `package/`. */
  paths: string[]
}

/** Packs what `npm run build` made into the folder, which is emptied first. */
export async function packAll(root: string, folder: string): Promise<Tarball[]> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const tarballs: Tarball[] = []
  for (const { folder: name } of PACKAGES) {
    const place = join(root, 'packages', name)
    const { name: published, version } = readManifest(join(place, 'package.json'))
    await run('npm', ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder], place)
    const file = join(folder, `${published.replace('@', '').replace('/', '-')}-${version}.tgz`)
    if (!existsSync(file)) throw new Error(`npm pack did not make ${file}`)
    const listing = await run('tar', ['-tzf', file], folder)
    tarballs.push({ name: published, file, paths: listing.split('\n').flatMap((path) => path.replace(/^package\//, '') || []) })
  }
  return tarballs
}

const NOT_SHIPPED = /\.test\.|(^|\/)(testing|verification|acceptance|campaign|simulation|recordings|crash)\/|(^|\/)\.env/
const NEEDED = ['package.json', 'README.md', 'LICENSE']

/** Returns the faults in the content of a tarball, a sentence each. */
export function problemsOfTarball({ name, paths }: Pick<Tarball, 'name' | 'paths'>, manifest: Manifest): string[] {
  const inside = new Set(paths)
  const tests = paths.filter((path) => NOT_SHIPPED.test(path))
  return [
    ...NEEDED.filter((path) => !inside.has(path)).map((path) => `${name} has no ${path}.`),
    ...(tests.length > 0 ? [`${name} holds files of the tests: ${tests.slice(0, 5).join(', ')}.`] : []),
    ...targetsOf(manifest)
      .filter((path) => !inside.has(path))
      .map((path) => `${name} names ${path} in its package.json, but does not hold it.`),
  ]
}

/** The files that users reach by the name of the package. The condition for this repository's own sources is left out. */
function targetsOf({ exports = {}, bin = {} }: Manifest): string[] {
  const conditions = Object.values(exports).flatMap((one) => Object.entries(one))
  const targets = conditions.filter(([condition]) => condition !== 'countersign-source').map(([, target]) => target)
  return [...new Set([...targets, ...Object.values(bin)].map((path) => path.replace(/^\.\//, '')))]
}
