import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PUBLISHED } from '../packages.ts'

/** The published packages, in the order in which they are uploaded: each after those that it depends on. */
export const PACKAGES = PUBLISHED.map((folder) => ({ folder, name: folder === 'server' ? 'countersign' : `@countersign/${folder}` }))

/** The part of a package.json that a release looks at. */
export interface Manifest {
  name: string
  version: string
  private?: boolean
  exports?: Record<string, Record<string, string>>
  bin?: Record<string, string>
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

export const readManifest = (path: string): Manifest => JSON.parse(readFileSync(path, 'utf8'))

export const versionOf = (root: string): string => readManifest(join(root, 'package.json')).version

/** Everything that has to be changed in the repository before this version can be released, a sentence each. */
export function problemsOfCheckout(root: string): string[] {
  const version = versionOf(root)
  return [...treeProblems(root), ...versionProblems(root, version), ...changelogProblems(root, version), ...tagProblems(root, version)]
}

const git = (root: string, ...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

function treeProblems(root: string): string[] {
  const changed = git(root, 'status', '--porcelain').split('\n').filter(Boolean)
  if (changed.length === 0) return []
  const more = changed.length > 5 ? ` and ${changed.length - 5} more` : ''
  return [`The checkout has changes that are not committed: ${changed.slice(0, 5).join(', ')}${more}. Commit them or remove them.`]
}

function versionProblems(root: string, version: string): string[] {
  const manifests = PACKAGES.map(({ folder }) => ({ folder, manifest: readManifest(join(root, 'packages', folder, 'package.json')) }))
  const named = ['packages/toolkit/src/version.ts', 'clients/python/src/countersign/version.py']
  return [
    ...manifests.flatMap(({ folder, manifest }) => [
      ...(manifest.version === version ? [] : [`packages/${folder} has version ${manifest.version}, but package.json has ${version}.`]),
      ...Object.entries({ ...manifest.peerDependencies, ...manifest.dependencies })
        .filter(([name, wanted]) => PACKAGES.some((one) => one.name === name) && wanted !== version)
        .map(([name, wanted]) => `packages/${folder} depends on ${name} ${wanted}, but package.json has version ${version}.`),
      ...(manifest.private ? [`packages/${folder} is private, so npm would not publish it.`] : []),
    ]),
    ...named
      .filter((file) => !new RegExp(`['"]${RegExp.escape(version)}['"]`).test(readFileSync(join(root, file), 'utf8')))
      .map((file) => `${file} does not name ${version}.`),
  ]
}

function changelogProblems(root: string, version: string): string[] {
  const file = join(root, 'CHANGELOG.md')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const at = lines.findIndex((line) => line.startsWith(`## ${version}`))
  if (at < 0) return [`CHANGELOG.md has no section "## ${version}".`]
  if (!/\(\d{4}-\d\d-\d\d\)$/.test(lines[at] ?? ''))
    return [`The section ${version} of CHANGELOG.md has no date: write "## ${version} (YYYY-MM-DD)".`]
  const end = lines.findIndex((line, index) => index > at && line.startsWith('## '))
  const entries = lines.slice(at + 1, end < 0 ? undefined : end)
  return entries.some((line) => line.trim() !== '') ? [] : [`The section ${version} of CHANGELOG.md is empty.`]
}

const tagProblems = (root: string, version: string): string[] =>
  git(root, 'tag', '--list', `v${version}`) === '' ? [] : [`The tag v${version} exists already: raise the version.`]
