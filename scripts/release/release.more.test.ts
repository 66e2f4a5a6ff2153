import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '../../verification/testing/test-server.ts'
import { PACKAGES, problemsOfCheckout, readManifest } from './ready.ts'
import { problemsOfTarball } from './tarballs.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const folder = temporaryFolder()
afterAll(() => folder[Symbol.dispose]())
const clone = join(folder.path, 'clone')

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: clone, stdio: 'pipe' })
const edit = (path: string, change: (text: string) => string) =>
  writeFileSync(join(clone, path), change(readFileSync(join(clone, path), 'utf8')))
const commit = () => git('commit', '--quiet', '--all', '--message', 'change')

makeClone()
// Each test begins with the same commit.
beforeEach(() => {
  git('reset', '--quiet', '--hard', 'start')
  git('clean', '--quiet', '--force', '-d')
})

/** A repository with the files of this checkout as they are now, a dated changelog, and its installed packages. */
function makeClone(): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  for (const path of listed.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(clone, path)), { recursive: true })
    cpSync(join(ROOT, path), join(clone, path))
  }
  cpSync(join(ROOT, 'apps/web/dist'), join(clone, 'apps/web/dist'), { recursive: true })
  mkdirSync(join(clone, 'node_modules'))
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    // Those two lead to the packages of a checkout: here to those of the clone.
    if (['countersign', '@countersign'].includes(name))
      cpSync(join(ROOT, 'node_modules', name), join(clone, 'node_modules', name), { recursive: true, verbatimSymlinks: true })
    else symlinkSync(join(ROOT, 'node_modules', name), join(clone, 'node_modules', name))
  }
  edit('CHANGELOG.md', (text) => text.replace(/^(## \d\S+).*$/m, '$1 (2026-11-23)'))
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'start')
  git('tag', 'start')
}

test('a checkout with changes is refused', () => {
  expect(problemsOfCheckout(clone)).toEqual([])
  writeFileSync(join(clone, 'new.txt'), '')
  expect(problemsOfCheckout(clone)).toEqual([expect.stringMatching(/not committed: \?\? new\.txt\./)])
})

test('packages of different versions are refused, and so are a dependency on another version and a Python client of another', () => {
  edit('packages/client/package.json', (text) =>
    text.replace('"version": "0.1.0"', '"version": "0.2.0"').replace('"@countersign/core": "0.1.0"', '"@countersign/core": "0.0.9"'),
  )
  edit('clients/python/src/countersign/version.py', (text) => text.replace('"0.1.0"', '"0.1.0rc1"'))
  commit()
  expect(problemsOfCheckout(clone)).toEqual([
    'packages/client has version 0.2.0, but package.json has 0.1.0.',
    'packages/client depends on @countersign/core 0.0.9, but package.json has version 0.1.0.',
    'clients/python/src/countersign/version.py does not name 0.1.0.',
  ])
})

test('a version without a dated section in the changelog is refused, and one that has a tag', () => {
  edit('CHANGELOG.md', (text) => text.replace(' (2026-11-23)', ' (unreleased)'))
  commit()
  expect(problemsOfCheckout(clone)).toEqual([expect.stringContaining('has no date')])
  edit('CHANGELOG.md', (text) => text.replace(/^## 0\.1\.0.*$/m, '## 0.0.1'))
  commit()
  expect(problemsOfCheckout(clone)).toEqual(['CHANGELOG.md has no section "## 0.1.0".'])
  git('reset', '--quiet', '--hard', 'start')
  git('tag', '--force', 'v0.1.0')
  expect(problemsOfCheckout(clone)).toEqual(['The tag v0.1.0 exists already: raise the version.'])
  git('tag', '--delete', 'v0.1.0')
})

test('a tarball without a licence, with tests, or without what it exports is refused', () => {
  const manifest = readManifest(join(clone, 'packages/core/package.json'))
  const paths = ['package.json', 'README.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts', 'dist/text/index.js', 'dist/text/index.d.ts']
  expect(problemsOfTarball({ name: 'core', paths }, manifest)).toEqual([])
  const wrong = [...paths.filter((path) => !['LICENSE', 'dist/text/index.js'].includes(path)), 'dist/a.test.js', 'dist/testing/b.js']
  expect(problemsOfTarball({ name: 'core', paths: wrong }, manifest)).toEqual([
    'core has no LICENSE.',
    'core holds files of the tests: dist/a.test.js, dist/testing/b.js.',
    'core names dist/text/index.js in its package.json, but does not hold it.',
  ])
})

const release = () => spawnSync(process.execPath, ['scripts/release/main.ts'], { cwd: clone, encoding: 'utf8' })

test('the command refuses before it builds, and otherwise makes tarballs and prints how to publish them in order', () => {
  writeFileSync(join(clone, 'new.txt'), '')
  const refused = release()
  expect([refused.status, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toContain('new.txt')
  git('clean', '--quiet', '--force')

  const { status, stdout, stderr } = release()
  expect([status, stderr]).toEqual([0, ''])
  const files = PACKAGES.map(({ name }) => `${name.replace('@', '').replace('/', '-')}-0.1.0.tgz`)
  expect(readdirSync(join(clone, 'release')).sort()).toEqual([...files].sort())
  expect(stdout).toContain('Nothing was uploaded.')
  expect(stdout.match(/npm publish .*/g)).toEqual([
    expect.stringContaining('(npm publish --dry-run)'.slice(1)),
    ...files.map((file) => `npm publish --access public --provenance ./release/${file}`),
  ])
  // The tarballs leave the checkout clean, so that the command can be run again.
  expect(problemsOfCheckout(clone)).toEqual([])
  // It builds everything, beside other tests that do: 329 s on a slow machine.
}, 1_200_000)
