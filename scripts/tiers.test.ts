import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { isMore, readTier, type Tier } from './tiers.ts'

const root = dirname(import.meta.dirname)

/** The test files that vitest itself finds for a tier, as `project path`. */
function listed(tier: Tier): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-tiers-'))
  try {
    const path = join(folder, 'list.json')
    // With CI, no file is left out for want of the recordings.
    const env = { ...process.env, CI: '1', COUNTERSIGN_TEST_TIER: tier }
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const { status, stderr } = spawnSync(process.execPath, [vitest, 'list', '--filesOnly', `--json=${path}`], { cwd: root, env })
    expect([status, `${stderr}`]).toEqual([0, expect.any(String)])
    const files = JSON.parse(readFileSync(path, 'utf8')) as { file: string; projectName: string }[]
    return files.map(({ file, projectName }) => `${projectName} ${relative(root, file)}`).sort()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('every test file is run by exactly one of `npm test` and `npm run test:more`, in each of its projects', () => {
  const [first, more, all] = [listed('first'), listed('more'), listed('all')]
  expect([...first, ...more].sort()).toEqual(all)
  expect(new Set(all).size).toBe(all.length)
  const found = new Set(all.map((name) => name.slice(name.indexOf(' ') + 1)))
  const there = globSync('{packages,apps,examples,scripts,verification,bench,e2e}/**/*.test.{ts,tsx}', {
    cwd: root,
    exclude: ['**/node_modules/**', '**/dist/**'],
  })
  expect([...found].sort()).toEqual(there.sort())
  expect(more.filter((name) => !name.startsWith('postgres ') && !isMore(name))).toEqual([])
  expect(first.length).toBeGreaterThan(100)
  expect(more.length).toBeGreaterThan(100)
})

test('every browser journey is where `npm run test:more` looks for it', () => {
  const there = globSync('{packages,apps,examples,scripts,verification,bench,e2e}/**/*.spec.{ts,tsx}', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })
  expect(there.length).toBeGreaterThan(5)
  expect(there.filter((path) => !/^e2e\/[^/]+\.spec\.ts$/.test(path))).toEqual([])
})

test('a tier that does not exist is refused', () => {
  expect(() => readTier('slow')).toThrow('COUNTERSIGN_TEST_TIER is slow')
  expect(readTier(undefined)).toBe('all')
})
