import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../verification/testing/test-server.ts'
import { makeDurableFolder, rewriteFile, writeDurableFile } from './durable-files.ts'

// The campaign/power suite tests that all of this survives a power failure.

test('a file is written for its owner alone, and one that exists is left as it is', () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'key.pem')
  expect(writeDurableFile(file, 'one')).toBe(true)
  expect(writeDurableFile(file, 'two')).toBe(false)
  expect(readFileSync(file, 'utf8')).toBe('one')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder.path)).toEqual(['key.pem'])
})

test('a folder is made with those above it, and again without harm', () => {
  using folder = temporaryFolder()
  const deep = join(folder.path, 'a', 'b', 'c')
  makeDurableFolder(deep)
  makeDurableFolder(deep)
  expect(existsSync(deep)).toBe(true)
  expect(statSync(deep).mode & 0o777).toBe(0o700)
})

test('a file of any size is the same after it was rewritten; one that is missing stays missing', () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'log')
  rewriteFile(file)
  expect(existsSync(file)).toBe(false)
  for (const size of [0, 1, 1_048_576, 2_500_001]) {
    const bytes = Buffer.from(Array.from({ length: size }, (_, i) => i % 251))
    writeFileSync(file, bytes)
    rewriteFile(file)
    expect(readFileSync(file).equals(bytes)).toBe(true)
  }
})

test.skipIf(process.platform === 'win32')('a file that fits on the disk only in part is not there, and the one before it stays', () => {
  using folder = temporaryFolder()
  const [made, replaced] = ['key.pem', 'record.head'].map((name) => join(folder.path, name))
  if (!made || !replaced) throw new Error('there are two')
  writeFileSync(replaced, 'before')
  const script = `
    import { replaceDurableFile, writeDurableFile } from ${JSON.stringify(import.meta.resolve('./durable-files.ts'))}
    const [text, made, replaced] = ['x'.repeat(100_000), ...${JSON.stringify([made, replaced])}]
    for (const write of [() => writeDurableFile(made, text), () => replaceDurableFile(replaced, text)]) {
      try {
        write()
        console.log('written')
      } catch (error) {
        console.log(error.code)
      }
    }`
  // As on a full disk, a write beyond the limit writes what fits and reports how much that was.
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', 'ulimit -f 64 && exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', script],
    {
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
      encoding: 'utf8',
    },
  )
  expect(stdout.split('\n'), stderr).toEqual(['EFBIG', 'EFBIG', ''])
  expect(readdirSync(folder.path)).toEqual(['record.head'])
  expect(readFileSync(replaced, 'utf8')).toBe('before')
})
