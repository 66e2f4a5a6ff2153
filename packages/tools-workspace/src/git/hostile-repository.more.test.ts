import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withGit } from '../../../../verification/testing/with-git.ts'
import { gitIn, openWorkspace, type TempFolder, tempFolder, tempRepository } from '../../../../verification/testing/workspace.ts'

const AUTHOR = { name: 'Ada', email: 'ada@example.com' }
const open = ({ root }: TempFolder) => openWorkspace({ root, git: true, author: AUTHOR })

test('neither a git in the workspace nor what the environment says about git is used', async () => {
  using outside = tempFolder()
  using folder = tempRepository({ 'a.txt': 'a\n' })
  folder.write('bin/git', `#!/bin/sh\ntouch ${outside.root}/ran\n`)
  chmodSync(join(folder.root, 'bin/git'), 0o755)
  const { PATH } = process.env
  try {
    process.env.PATH = `${folder.root}/bin:${PATH}`
    process.env.GIT_INDEX_FILE = join(outside.root, 'index')
    const { run } = await open(folder)
    expect(await run('gitStatus', {})).toMatchObject({ changes: [{ path: 'bin/git' }] })
  } finally {
    process.env.PATH = PATH
    delete process.env.GIT_INDEX_FILE
  }
  expect(existsSync(join(outside.root, 'ran'))).toBe(false)
})

test('names that could be options, ranges, searches or other files are refused', async () => {
  using folder = tempRepository({ 'a.txt': 'a\n' })
  const { run } = await open(folder)
  for (const name of ['-f', '--all', 'a..b', 'a b', 'x~1', 'x^', 'x:y', '@{-1}', '.lock', 'a.lock', 'a//b', 'HEAD', 'f'.repeat(40)]) {
    await expect(run('createBranch', { name }), name).rejects.toThrow()
  }
  for (const from of ['--output=x', '-p', 'main..main', ':/begin', 'main:a.txt', '@{u}']) {
    await expect(run('gitDiff', { from }), from).rejects.toThrow()
    await expect(run('gitLog', { from }), from).rejects.toThrow()
  }
  for (const path of ['../x', '.git/config', '/etc'])
    await expect(run('gitDiff', { path }), path).rejects.toMatchObject({ kind: 'refused' })
  await expect(run('createBranch', { name: 'main' })).rejects.toMatchObject({ message: 'There is a branch main already.' })
  expect(gitIn(folder.root, 'branch', '--format=%(refname:short)')).toBe('main')
})

test('nothing that a repository configures is run: hooks, filters, monitors, diffs, pagers, signing', async () => {
  using outside = tempFolder()
  using folder = tempRepository({ 'a.txt': 'a\n', '.gitattributes': '* filter=evil diff=evil merge=evil\n' })
  const evil = join(outside.root, 'evil.sh')
  writeFileSync(evil, `#!/bin/sh\necho "$0 $@" >> ${outside.root}/ran\ncat\n`)
  chmodSync(evil, 0o755)
  for (const key of [
    'filter.evil.clean',
    'filter.evil.smudge',
    'filter.evil.process',
    'diff.evil.textconv',
    'diff.evil.command',
    'diff.external',
    'merge.evil.driver',
    'core.fsmonitor',
    'core.pager',
    'core.editor',
    'core.sshCommand',
    'core.alternateRefsCommand',
    'gpg.program',
    'credential.helper',
    'uploadpack.packObjectsHook',
  ]) {
    gitIn(folder.root, 'config', key, evil)
  }
  for (const [key, value] of [
    ['filter.evil.required', 'true'],
    ['commit.gpgSign', 'true'],
    ['log.showSignature', 'true'],
    ['core.hooksPath', '.git/evil-hooks'],
    ['alias.status', `!${evil}`],
    // Since 2.54, git runs these.
    ['hook.evil.command', evil],
    ...['pre-commit', 'post-checkout', 'reference-transaction', 'post-index-change'].map((event) => ['hook.evil.event', event]),
  ]) {
    gitIn(folder.root, 'config', '--add', key ?? '', value ?? '')
  }
  for (const place of ['hooks', 'evil-hooks']) {
    mkdirSync(join(folder.root, '.git', place), { recursive: true })
    for (const hook of [
      'pre-commit',
      'post-commit',
      'commit-msg',
      'post-checkout',
      'reference-transaction',
      'post-index-change',
      'fsmonitor-watchman',
    ]) {
      writeFileSync(join(folder.root, '.git', place, hook), readFileSync(evil))
      chmodSync(join(folder.root, '.git', place, hook), 0o755)
    }
  }
  // The hooks and filters run for a person, which proves that the rest of the test is meaningful.
  folder.write('a.txt', 'b\n')
  spawnSync('git', ['-C', folder.root, 'diff'])
  expect(existsSync(join(outside.root, 'ran'))).toBe(true)
  rmSync(join(outside.root, 'ran'))

  const { run } = await open(folder)
  await run('createBranch', { name: 'work' })
  await run('gitStatus', {})
  expect(((await run('gitDiff', {})) as { diff: string }).diff).toContain('+b')
  await run('gitLog', { limit: 5 })
  await run('gitBranches', {})
  await run('listFiles', {})
  await run('commit', { paths: ['a.txt'], message: 'Change a' })
  await run('switchBranch', { name: 'main' })
  expect(readFileSync(join(folder.root, 'a.txt'), 'utf8')).toBe('a\n')
  expect(existsSync(join(outside.root, 'ran'))).toBe(false)
})

test('a filter without a name is not run, and hooks of the configuration are turned off for a git that knows them', async () => {
  using outside = tempFolder()
  using folder = tempRepository({ 'a.txt': 'a\n', '.gitattributes': '* filter=\n' })
  const ran = join(outside.root, 'ran')
  for (const key of ['filter..clean', 'filter..smudge', 'hook..command', 'hook.a b.command'])
    gitIn(folder.root, 'config', key, `echo ${key} >> ${ran}; cat`)
  gitIn(folder.root, 'config', 'hook..event', 'reference-transaction')
  gitIn(folder.root, 'config', 'hook.a b.event', 'post-checkout')
  folder.write('a.txt', 'b\n')
  spawnSync('git', ['-C', folder.root, 'diff'])
  expect(existsSync(ran)).toBe(true)
  rmSync(ran)

  // Since 2.54, git runs the hooks of the configuration that are not turned off.
  const hooks = `for name in "" "a b"; do case "$*" in *"-c hook.$name.enabled=false "*) ;; *) echo "$name" >> ${ran};; esac; done; exec "$git" "$@"`
  await withGit('update-ref', hooks, () =>
    withGit('switch', hooks, async () => {
      const { run } = await open(folder)
      await run('gitStatus', {})
      expect(((await run('gitDiff', {})) as { diff: string }).diff).toContain('+b')
      await run('createBranch', { name: 'work' })
      await run('commit', { paths: ['a.txt'], message: 'Change a' })
      await run('switchBranch', { name: 'main' })
    }),
  )
  expect(existsSync(ran) && readFileSync(ran, 'utf8')).toBe(false)
})

test('a repository that says that it is somewhere else is not used', async () => {
  using outside = tempRepository({ 'secret.txt': 'secret\n' })
  using folder = tempRepository({ 'a.txt': 'a\n' })
  gitIn(folder.root, 'config', 'core.worktree', outside.root)
  const { run } = await open(folder)
  expect(JSON.stringify(await run('gitStatus', {}))).not.toContain('secret')
  renameSync(join(folder.root, '.git'), join(folder.root, 'git-away'))
  writeFileSync(join(folder.root, '.git'), `gitdir: ${outside.root}/.git\n`)
  await expect(openWorkspace({ root: folder.root, git: true })).rejects.toThrow('linked worktrees and submodules are not supported')
})
