import { execFileSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@countersign/core'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { openWorkspace, type TempFolder, tempFolder } from '../../../verification/testing/workspace.ts'

const CHANNEL = 'countersign.checkpoint'
const FILES = { 'a.txt': 'one\r\ntwo\r\n', 'src/b.txt': 'b\n', 'gone.txt': 'x\n' }
const PATCH: { files: JsonObject[] } = {
  files: [
    { path: 'a.txt', edits: [{ oldText: 'one\ntwo', newText: '1\n2' }] },
    { path: 'src/new/c.txt', content: 'c\n' },
    { path: 'src/b.txt', content: 'B\n' },
    { path: 'gone.txt', delete: true },
  ],
}
const AFTER = { 'a.txt': '1\r\n2\r\n', 'src/b.txt': 'B\n', 'src/new/c.txt': 'c\n' }

/** Returns the contents of the files in a folder, by path. */
const contents = ({ root }: TempFolder): Record<string, string> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path.slice(root.length + 1), readFileSync(path, 'utf8')]),
  )

/** Runs `act` just before the file with this number is replaced; the first is 1. */
async function beforeReplace<T>(number: number, act: () => void, work: () => Promise<T>): Promise<T> {
  let reached = 0
  const listener = (point: unknown) => {
    if (point === 'workspace.before_replace' && ++reached === number) act()
  }
  subscribe(CHANNEL, listener)
  try {
    return await work()
  } finally {
    unsubscribe(CHANNEL, listener)
    expect(reached).toBeGreaterThanOrEqual(number)
  }
}

const contextOf = (version: string | undefined) => ({
  actionId: 'act_1',
  idempotencyKey: 'k',
  signal: new AbortController().signal,
  version,
})

test('a patch of several files is one action, whose diffs together are a patch for git, and it lands as shown', async () => {
  using folder = tempFolder(FILES)
  using copy = tempFolder(FILES)
  const { run, preview, tool } = await openWorkspace({ root: folder.root })
  const { fields, version } = await preview('applyPatch', PATCH)
  expect(fields.map(({ field }) => field)).toEqual(['a.txt', 'src/new/c.txt', 'src/b.txt', 'gone.txt'])
  expect(tool('applyPatch').describe(PATCH)).toBe('Change 4 files')
  expect(contents(folder)).toEqual(FILES)
  const context = contextOf(version)
  expect(await tool('applyPatch').verify?.(PATCH, context)).toEqual({ done: false })
  const first = await run('applyPatch', PATCH, { version })
  expect(first).toMatchObject({
    files: [
      { path: 'a.txt', did: 'changed' },
      { path: 'src/new/c.txt', did: 'created' },
      { path: 'src/b.txt', did: 'changed' },
      { path: 'gone.txt', did: 'deleted' },
    ],
  })
  expect(contents(folder)).toEqual(AFTER)
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: copy.root, input: fields.map(({ diff }) => diff).join('') })
  expect(contents(copy)).toEqual(AFTER)
  // A repeated request and a verification report that it is done.
  expect(await run('applyPatch', PATCH, { version })).toEqual(first)
  expect(await tool('applyPatch').verify?.(PATCH, context)).toEqual({ done: true, output: first })
})

test('a patch of which one file cannot be changed changes none, and nobody is asked about it', async () => {
  using folder = tempFolder(FILES)
  const { run, preview, tool } = await openWorkspace({ root: folder.root })
  const broken: [reason: string, file: JsonObject][] = [
    ['not in src/b.txt', { path: 'src/b.txt', edits: [{ oldText: 'absent', newText: 'x' }] }],
    ['outside', { path: '../b.txt', content: 'x' }],
    ['belongs to git', { path: '.git/hooks/pre-commit', content: 'x' }],
    ['left out', { path: '.env', content: 'x' }],
    ['more than once', { path: 'a.txt', content: 'x' }],
    ['is not there', { path: 'nothing.txt', delete: true }],
  ]
  for (const [reason, file] of broken) {
    const args = { files: [PATCH.files[0] ?? {}, file] } as JsonObject
    await expect(preview('applyPatch', args), reason).rejects.toMatchObject({
      kind: 'refused',
      impossible: true,
      message: expect.stringContaining(reason),
    })
    await expect(run('applyPatch', args), reason).rejects.toMatchObject({ kind: 'refused' })
    expect(contents(folder)).toEqual(FILES)
  }
  const nested = {
    files: [
      { path: 'x', content: 'x' },
      { path: 'X/y', content: 'x' },
    ],
  }
  await expect(run('applyPatch', nested)).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('is a folder of another'),
  })
  expect(contents(folder)).toEqual(FILES)
  const unclear: JsonObject[] = [{ path: 'a.txt' }, { path: 'a.txt', content: 'x', delete: true }]
  for (const file of unclear) expect(tool('applyPatch').check({ files: [file] })).toMatchObject({ ok: false })
})

test('a file that changed after it was shown leaves all files of the patch as they are', async () => {
  using folder = tempFolder(FILES)
  const { run, preview, tool } = await openWorkspace({ root: folder.root })
  const { version } = await preview('applyPatch', PATCH)
  folder.write('gone.txt', 'mine\n')
  await expect(run('applyPatch', PATCH, { version })).rejects.toMatchObject({ kind: 'stale' })
  expect(contents(folder)).toEqual({ ...FILES, 'gone.txt': 'mine\n' })
  expect(await tool('applyPatch').verify?.(PATCH, contextOf(version))).toEqual({ done: 'unknown' })
})

test('a patch that breaks in the middle says which files it changed, and its outcome is not known', async () => {
  using folder = tempFolder(FILES)
  const { run, preview, tool } = await openWorkspace({ root: folder.root })
  const { version } = await preview('applyPatch', PATCH)
  const write = beforeReplace(
    3,
    () => folder.write('src/b.txt', 'somebody else\n'),
    () => run('applyPatch', PATCH, { version }),
  )
  await expect(write).rejects.toMatchObject({
    kind: 'ambiguous',
    message: expect.stringMatching(/Changed: a\.txt, src\/new\/c\.txt\. .*: src\/b\.txt, gone\.txt\./),
  })
  const half = { 'a.txt': '1\r\n2\r\n', 'src/new/c.txt': 'c\n', 'src/b.txt': 'somebody else\n', 'gone.txt': 'x\n' }
  expect(contents(folder)).toEqual(half)
  expect(await tool('applyPatch').verify?.(PATCH, contextOf(version))).toEqual({ done: 'unknown' })
  // A repeated request changes nothing more, and does not claim that nothing was changed.
  const again = await run('applyPatch', PATCH, { version }).catch((error: unknown) => error)
  expect(again).toMatchObject({ kind: 'ambiguous' })
  expect(contents(folder)).toEqual(half)
})

test('whichever file of a patch somebody else changed or removed, it changes nothing; where nobody did, it changes all of them', async () => {
  const count = fc.integer({ min: 1, max: 4 })
  await fc.assert(
    fc.asyncProperty(count, fc.nat(4), fc.boolean(), async (files, touched, isRemoved) => {
      const before = Object.fromEntries(Array.from({ length: files }, (_, at) => [`${at}.txt`, `${at}\n`]))
      using folder = tempFolder(before)
      const { run, preview } = await openWorkspace({ root: folder.root })
      const patch = { files: Object.keys(before).map((path) => ({ path, content: 'new\n' })) }
      const { version } = await preview('applyPatch', patch)
      const path = join(folder.root, `${touched}.txt`)
      const isTouched = existsSync(path)
      if (isTouched && isRemoved) rmSync(path)
      else if (isTouched) folder.write(`${touched}.txt`, 'mine\n')
      const now = contents(folder)
      const kind = await run('applyPatch', patch, { version }).then(
        () => 'done',
        (error: { kind: string }) => error.kind,
      )
      expect(kind).toBe(isTouched ? 'stale' : 'done')
      expect(contents(folder)).toEqual(isTouched ? now : Object.fromEntries(Object.keys(before).map((name) => [name, 'new\n'])))
    }),
    { seed: inject('propertySeed'), numRuns: 20 },
  )
})
