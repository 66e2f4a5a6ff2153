import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../verification/testing/test-server.ts'

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url))

/** Makes a process say at its end whether it has loaded Node's compiler of TypeScript. */
const SAYING = `data:text/javascript,process.on('exit', () => console.log(process.moduleLoadList.some((name) => name.includes('amaro'))))`

/** Runs `countersign --version` with this folder for caches. Returns its last word: whether it loaded the compiler. */
function compile(cacheHome: string): string | undefined {
  const { NODE_COMPILE_CACHE: _, ...environment } = process.env
  const flags = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning']
  const env = { ...environment, XDG_CACHE_HOME: cacheHome }
  const { status, stdout } = spawnSync(process.execPath, [...flags, '--import', SAYING, MAIN, '--version'], { env, encoding: 'utf8' })
  expect(status).toBe(0)
  return stdout.trim().split('\n').at(-1)
}

/** Does the same, and returns what is in the folder of compiled code. */
function compiledIn(cacheHome: string): string[] {
  compile(cacheHome)
  return readdirSync(join(cacheHome, 'countersign', 'compiled'))
}

test('compiled code is kept in a folder that only this user can write to', () => {
  using folder = temporaryFolder()
  expect(compiledIn(folder.path)).toHaveLength(1)
  expect(statSync(join(folder.path, 'countersign', 'compiled')).mode & 0o777).toBe(0o700)
})

test('the second start does not load the compiler of TypeScript', () => {
  using folder = temporaryFolder()
  expect([compile(folder.path), compile(folder.path)]).toEqual(['true', 'false'])
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
