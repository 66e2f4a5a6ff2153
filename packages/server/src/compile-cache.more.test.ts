import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../verification/testing/test-server.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

/** Runs `countersign --version` with this folder for caches, and returns what is in the folder of compiled code. */
function compiledIn(cacheHome: string): string[] {
  const { NODE_COMPILE_CACHE: _, ...environment } = process.env
  const flags = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning']
  const { status } = spawnSync(process.execPath, [...flags, MAIN, '--version'], { env: { ...environment, XDG_CACHE_HOME: cacheHome } })
  expect(status).toBe(0)
  return readdirSync(join(cacheHome, 'countersign', 'compiled'))
}

test('compiled code is kept in a folder that only this user can write to', () => {
  using folder = temporaryFolder()
  expect(compiledIn(folder.path)).toHaveLength(1)
  expect(statSync(join(folder.path, 'countersign', 'compiled')).mode & 0o777).toBe(0o700)
})

test('compiled code is neither kept nor read where others can write', () => {
  using folder = temporaryFolder()
  const compiled = join(folder.path, 'countersign', 'compiled')
  mkdirSync(compiled, { recursive: true })
  chmodSync(compiled, 0o777)
  expect(compiledIn(folder.path)).toEqual([])
})

test('a start without a place for compiled code is a start all the same', () => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, 'countersign'))
  symlinkSync('/nowhere', join(folder.path, 'countersign', 'compiled'))
  expect(() => compiledIn(folder.path)).toThrow('ENOENT')
})
