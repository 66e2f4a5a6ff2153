import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gitIn, openWorkspace, type TempFolder, tempRepository } from '../../../../verification/testing/workspace.ts'

const open = ({ root }: TempFolder) => openWorkspace({ root, git: true })
const tracked = ({ root }: TempFolder) => gitIn(root, 'ls-files', '--stage').replaceAll(/ [0-9a-f]{40} 0\t/g, ' ')

/** A repository with another repository at `vendor/lib`, where a file has changed. */
function withSubmodule(): TempFolder {
  const folder = tempRepository({ 'a.txt': 'a\n', 'vendor/lib/lib.c': 'int x;\n' })
  const inner = join(folder.root, 'vendor/lib')
  gitIn(inner, 'init', '-q', '-b', 'main')
  gitIn(inner, 'add', '-A')
  gitIn(inner, 'commit', '-q', '-m', 'begin')
  gitIn(folder.root, 'rm', '-q', '--cached', 'vendor/lib/lib.c')
  gitIn(folder.root, '-c', 'advice.addEmbeddedRepo=false', 'add', 'vendor/lib')
  folder.write('vendor/lib/lib.c', 'int y;\n')
  return folder
}

test('a file of a submodule is not committed in place of the submodule', async () => {
  using folder = withSubmodule()
  gitIn(folder.root, 'commit', '-q', '-m', 'submodule')
  const { run, preview } = await open(folder)
  const args = { paths: ['vendor/lib/lib.c'], message: 'Fix x' }
  const refused = {
    kind: 'refused',
    message: 'vendor/lib/lib.c cannot be committed here: vendor/lib is another repository in the last commit.',
  }
  await expect(preview('commit', args)).rejects.toMatchObject(refused)
  await expect(run('commit', args)).rejects.toMatchObject(refused)
  expect(gitIn(folder.root, 'log', '--format=%s')).toBe('submodule\nbegin')
  expect(tracked(folder)).toBe('100644 a.txt\n160000 vendor/lib')
})

test('a submodule that is staged stays staged, also when a file of it is committed', async () => {
  using folder = withSubmodule()
  const { run, preview } = await open(folder)
  const args = { paths: ['vendor/lib/lib.c'], message: 'Fix x' }
  const { version } = await preview('commit', args)
  await run('commit', args, { version })
  expect(gitIn(folder.root, 'show', '--format=', '--name-status', 'HEAD')).toBe('M\tvendor/lib/lib.c')
  expect(tracked(folder)).toBe('100644 a.txt\n160000 vendor/lib')
})

test('a file in a folder that was a file is not committed in place of that file', async () => {
  using folder = tempRepository({ a: 'important\n', 'b.txt': 'b\n' })
  rmSync(join(folder.root, 'a'))
  folder.write('a/deep/x.txt', 'new\n')
  const { preview } = await open(folder)

  await expect(preview('commit', { paths: ['a/deep/x.txt'], message: 'Add x' })).rejects.toMatchObject({
    kind: 'refused',
    message: 'a/deep/x.txt cannot be committed here: a is a file in the last commit.',
  })
})

test('a file that is deleted or has a name like an option is committed, alone and beside others', async () => {
  using folder = tempRepository({ '-x, y': 'x\n', 'vendor/a.txt': 'a\n' })
  rmSync(join(folder.root, '-x, y'))
  folder.write('vendor/deep/-n,1', 'new\n')
  const { run, preview } = await open(folder)
  for (const [path, shown] of [
    ['-x, y', 'D\t-x, y'],
    ['vendor/deep/-n,1', 'A\tvendor/deep/-n,1'],
  ] as const) {
    const args = { paths: [path], message: 'Change it' }
    const { version } = await preview('commit', args)
    await run('commit', args, { version, actionId: `act_${path.length}` })
    expect(gitIn(folder.root, 'show', '--format=', '--name-status', 'HEAD')).toBe(shown)
  }
  expect(gitIn(folder.root, 'status', '--porcelain')).toBe('')
})

test('a file in a folder that was a link is not committed, because a link is not shown', async () => {
  using folder = tempRepository({ 'keep.txt': 'x\n' })
  symlinkSync('keep.txt', join(folder.root, 'link'))
  gitIn(folder.root, 'add', '-A')
  gitIn(folder.root, 'commit', '-q', '-m', 'link')
  rmSync(join(folder.root, 'link'))
  mkdirSync(join(folder.root, 'link'))
  folder.write('link/a.txt', 'a\n')
  const { preview } = await open(folder)
  await expect(preview('commit', { paths: ['link/a.txt'], message: 'Add a' })).rejects.toMatchObject({
    kind: 'refused',
    message: 'link/a.txt cannot be committed here: link is a link in the last commit.',
  })
})
