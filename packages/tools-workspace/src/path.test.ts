import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isGitName, openIgnore, readPath } from './path.ts'

test('a path from the root is read as its segments', () => {
  expect(readPath('src/./a b/index.ts')).toEqual({ segments: ['src', 'a b', 'index.ts'], text: 'src/a b/index.ts' })
  expect(readPath('')).toEqual({ segments: [], text: '' })
  expect(readPath('.')).toEqual({ segments: [], text: '' })
  expect(readPath('.github/workflows/ci.yml')).toMatchObject({ text: '.github/workflows/ci.yml' })
  expect(readPath('日本/ü.md')).toMatchObject({ text: '日本/ü.md' })
  // Percent escapes, variables and `~` are not expanded.
  expect(readPath('%2e%2e/a%2Fb/$HOME/~')).toMatchObject({ segments: ['%2e%2e', 'a%2Fb', '$HOME', '~'] })
})

test('what could lead outside, to git, to a device or to another name is no path, and the reason is said', () => {
  const refused: Record<string, RegExp> = {
    '..': /leads outside/,
    'a/../../b': /leads outside/,
    '/etc/passwd': /absolute/,
    'C:/x': /absolute/,
    'a\\b': /backslash/,
    '\\\\host\\share': /backslash/,
    'a\nb': /control characters/,
    'a\0b': /control characters/,
    'a\u001b[31mb': /control characters/,
    '\ud800': /control characters/,
    '.git': /belongs to git/,
    'a/.GIT/config': /belongs to git/,
    '.git./hooks/x': /belongs to git/,
    '.git /config': /belongs to git/,
    'git~1/config': /belongs to git/,
    '.git::$INDEX_ALLOCATION/x': /belongs to git/,
    '.g\u200cit/config': /belongs to git/,
    '.ｇit/config': /belongs to git/,
    '.gitmodules': /belongs to git/,
    'x/NUL': /device/,
    'con.txt': /device/,
    'a/LPT1.md': /device/,
    'a./b': /ends with a dot/,
    'a /b': /ends with a dot or a space/,
    [`${'a'.repeat(256)}`]: /too long/,
    [`${'a/'.repeat(600)}`]: /more than 1000/,
  }
  for (const [path, why] of Object.entries(refused)) expect(readPath(path), path).toEqual({ problem: expect.stringMatching(why) })
  for (const path of ['a\u001bb', 'a\u202Eb']) expect(JSON.stringify(readPath(`${path}/..`))).not.toMatch(/[\u001b\u202E]/)
})

test('whatever is written, a path that is read stays below the root and out of git', () => {
  const piece = fc.oneof(
    fc.constantFrom('..', '.', '.git', '.GIT', 'git~1', '', '/', 'a', 'nul', '\\', 'C:'),
    fc.string({ unit: 'binary', maxLength: 6 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const read = readPath(pieces.join('/'))
      if ('problem' in read) return
      for (const segment of read.segments) {
        expect(['', '.', '..']).not.toContain(segment)
        expect(segment).not.toMatch(/[/\\\0]/)
        expect(isGitName(segment)).toBe(false)
      }
    }),
  )
})

test('what is left out takes along what is in it', () => {
  const isIgnored = openIgnore(['**/.env', '**/.env.*', '**/node_modules', 'private/**'])
  for (const path of ['.env', 'a/.env', 'a/.env.local', 'node_modules/x/y.js', 'a/node_modules', 'private/a/b'])
    expect(isIgnored(path), path).toBe(true)
  for (const path of ['env', 'a/environment', 'node_modules2/x', 'a/private.md']) expect(isIgnored(path), path).toBe(false)
})

test('what is left out is left out in folders whose names begin with a dot, too', () => {
  const isIgnored = openIgnore(['**/.env', '**/.env.*', '**/node_modules', 'private/**', 'secrets/*', '**/*.pem', '{**/keys,a}/b'])
  for (const path of [
    '.github/.env',
    '.docker/app/.env',
    '.config/.env.local',
    '.a/node_modules/x',
    'private/.ssh/key',
    'private/.x',
    'secrets/.key',
    '.certs/a.pem',
    'a/.b/.pem',
    '.a/keys/b',
  ])
    expect(isIgnored(path), path).toBe(true)
  for (const path of ['.github/env', '.private/a', '.secrets/key', 'a/.env2', '.pems/a', '.env2.d/x'])
    expect(isIgnored(path), path).toBe(false)
})

test('a pattern that begins with ./ or ends with / leaves out what it names', () => {
  const isIgnored = openIgnore(['./private', 'keys/', './/a/./b//', './**/*.pem'])
  for (const path of ['private', 'private/a', 'keys', 'keys/a', 'a/b/c', 'c/d.pem', 'd.pem']) expect(isIgnored(path), path).toBe(true)
  for (const path of ['a', 'a/private', 'b']) expect(isIgnored(path), path).toBe(false)
})
