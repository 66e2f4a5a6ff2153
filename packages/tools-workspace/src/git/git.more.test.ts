import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cpuTimeMs } from '../../../../verification/testing/cpu-time.ts'
import { withGit } from '../../../../verification/testing/with-git.ts'
import { gitIn, NO_WAY, openWorkspace, type TempFolder, tempFolder, tempRepository } from '../../../../verification/testing/workspace.ts'

const AUTHOR = { name: 'Ada', email: 'ada@example.com' }
const open = ({ root }: TempFolder) => openWorkspace({ root, git: true, author: AUTHOR })

test('a branch is created, worked on and committed to, and the diff that was shown is the commit, byte for byte', async () => {
  using folder = tempRepository({ 'notes.md': 'one\r\ntwo\n', 'gone.txt': 'x\n', 'other.txt': 'o\n' })
  const { run, preview, tool } = await open(folder)
  const base = gitIn(folder.root, 'rev-parse', 'HEAD')
  const asked = await preview('createBranch', { name: 'fix/typo' })
  expect(asked.fields).toEqual([
    { field: 'branch', newValue: 'fix/typo' },
    { field: 'begins at', newValue: `${base.slice(0, 12)} begin` },
    { field: 'checked out', oldValue: 'main', newValue: 'fix/typo' },
  ])
  expect(await run('createBranch', { name: 'fix/typo' }, { version: asked.version })).toEqual({ branch: 'fix/typo', commit: base })
  expect(gitIn(folder.root, 'symbolic-ref', 'HEAD')).toBe('refs/heads/fix/typo')
  const context = { actionId: 'act_42', idempotencyKey: 'k', signal: new AbortController().signal }
  const created = { name: 'fix/typo', from: 'HEAD', checkOut: true }
  const isDone = (version: string) => tool('createBranch').verify?.(created, { ...context, version })
  expect(await isDone(base)).toEqual({ done: true, output: { branch: 'fix/typo', commit: base } })
  expect(await isDone('0'.repeat(40))).toEqual({ done: 'unknown' })
  folder.write('notes.md', 'one\r\n2\nno end')
  folder.write('new/run.sh', '#!/bin/sh\n')
  chmodSync(join(folder.root, 'new/run.sh'), 0o755)
  folder.write('other.txt', 'not committed\n')
  rmSync(join(folder.root, 'gone.txt'))
  const args = { paths: ['notes.md', 'new/run.sh', 'gone.txt'], message: 'Fix the notes\n\nWith words.' }
  const { fields, version } = await preview('commit', args)
  expect(fields.slice(0, 2)).toEqual([
    { field: 'branch', newValue: 'fix/typo' },
    { field: 'message', newValue: args.message },
  ])
  const made = (await run('commit', args, { version, actionId: 'act_42' })) as { commit: string }
  // The shown diff, applied by git to the parent commit, gives the tree of the new commit.
  using copy = tempFolder()
  execFileSync('git', ['clone', '-q', '-n', folder.root, copy.root], { stdio: 'pipe' })
  gitIn(copy.root, 'checkout', '-q', base)
  execFileSync('git', ['-C', copy.root, 'apply', '--index', '--whitespace=nowarn', '-'], {
    input: fields.flatMap(({ diff }) => diff ?? []).join(''),
  })
  expect(gitIn(copy.root, 'write-tree')).toBe(gitIn(folder.root, 'rev-parse', `${made.commit}^{tree}`))
  expect(gitIn(folder.root, 'log', '-1', '--format=%an <%ae>%n%B').trim()).toBe(
    'Ada <ada@example.com>\nFix the notes\n\nWith words.\n\nCountersign-Action: act_42',
  )
  expect(gitIn(folder.root, 'status', '--porcelain')).toBe(' M other.txt')
  // A repeated request and a verification give the same commit.
  expect(await run('commit', args, { version, actionId: 'act_42' })).toEqual({ commit: made.commit })
  expect(await tool('commit').verify?.(args, context)).toEqual({ done: true, output: { commit: made.commit } })
  expect(await tool('commit').verify?.(args, { ...context, actionId: 'act_4' })).toEqual({ done: false })
  expect(gitIn(folder.root, 'rev-list', '--count', 'HEAD')).toBe('2')
})

test('what else is staged is not committed along, and stays staged', async () => {
  using folder = tempRepository({ 'a.txt': 'a\n', 'staged.txt': 's\n' })
  const { run, preview } = await open(folder)
  folder.write('a.txt', 'b\n')
  folder.write('staged.txt', 'mine\n')
  folder.write('new.txt', 'mine\n')
  gitIn(folder.root, 'add', 'staged.txt', 'new.txt')
  const args = { paths: ['a.txt'], message: 'Change a' }
  const { version } = await preview('commit', args)
  await run('commit', args, { version })
  expect(gitIn(folder.root, 'show', '--format=', '--name-only', 'HEAD')).toBe('a.txt')
  expect(gitIn(folder.root, 'status', '--porcelain').split('\n')).toEqual(['A  new.txt', 'M  staged.txt'])
})

test('a commit is only made of what was shown, on the commit it was shown on', async () => {
  using folder = tempRepository({ 'a.txt': 'a\n' })
  const { run, preview } = await open(folder)
  folder.write('a.txt', 'b\n')
  const args = { paths: ['a.txt'], message: 'Change a' }
  const { version } = await preview('commit', args)
  folder.write('a.txt', 'c\n')
  await expect(run('commit', args, { version })).rejects.toMatchObject({ kind: 'stale' })
  folder.write('a.txt', 'b\n')
  gitIn(folder.root, 'commit', '-q', '--allow-empty', '-m', 'somebody else')
  await expect(run('commit', args, { version })).rejects.toMatchObject({ kind: 'stale' })
  expect(gitIn(folder.root, 'rev-list', '--count', 'HEAD')).toBe('2')
  await expect(run('commit', { paths: ['a.txt'], message: 'x\nCountersign-Action: act_1' })).rejects.toThrow('must not have a line')
  await expect(run('commit', { paths: ['a.txt'], message: 'x\n\n \tcountersign-action: act_1' })).rejects.toThrow('must not have a line')
  for (const lines of ['\n', '\u2028', ' ']) {
    const startedAt = cpuTimeMs()
    const message = `x${lines.repeat(250_000)}y`
    await expect(run('commit', { paths: ['a.txt'], message })).rejects.toThrow('at most 10000 characters')
    expect(cpuTimeMs() - startedAt).toBeLessThan(2_000)
  }
  await expect(run('commit', { paths: ['nothing.txt'], message: 'x' })).rejects.toMatchObject({ kind: 'refused' })
})

test('a branch that moves in the very moment of the commit stays where it was moved to', async () => {
  using folder = tempRepository({ 'a.txt': 'a\n' })
  const { run } = await open(folder)
  folder.write('a.txt', 'b\n')
  const { signal } = new AbortController()
  // The signal is checked right before the branch is moved.
  signal.throwIfAborted = () => void gitIn(folder.root, 'commit', '-q', '--allow-empty', '-m', 'somebody else')
  await expect(run('commit', { paths: ['a.txt'], message: 'Change a' }, { signal })).rejects.toMatchObject({ kind: 'stale' })
  expect(gitIn(folder.root, 'log', '-1', '--format=%s')).toBe('somebody else')
})

test('of two that create the same branch at the same time one has created it', async () => {
  using folder = tempRepository({ 'a.txt': 'a\n' })
  const both = await Promise.all([open(folder), open(folder)])
  const ends = await Promise.allSettled(both.map(({ run }) => run('createBranch', { name: 'one', checkOut: false })))
  expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

test('a first commit needs no commit before it', async () => {
  using folder = tempFolder({ 'a.txt': 'a\n' })
  gitIn(folder.root, 'init', '-q', '-b', 'main')
  const { run, preview } = await open(folder)
  const { version } = await preview('commit', { paths: ['a.txt'], message: 'Begin' })
  await run('commit', { paths: ['a.txt'], message: 'Begin' }, { version })
  expect(gitIn(folder.root, 'show', '--format=%s', '--name-only', 'HEAD')).toBe('Begin\n\na.txt')
})

test('what git ignores is neither listed nor searched nor committed, and what the workspace leaves out is in no diff', async () => {
  using folder = tempRepository({ '.gitignore': 'build/\n*.log\n', 'a.txt': 'needle\n', '.env': 'TOKEN=1\n' })
  folder.write('build/out.txt', 'needle\n')
  folder.write('x.log', 'needle\n')
  folder.write('.env', 'TOKEN=2\n')
  folder.write('a.txt', 'needle 2\n')
  const { run } = await open(folder)
  expect(await run('listFiles', {})).toEqual({ entries: ['.gitignore', 'a.txt'] })
  expect(await run('search', { text: 'needle' })).toMatchObject({ hits: [{ path: 'a.txt' }] })
  await expect(run('commit', { paths: ['x.log'], message: 'x' })).rejects.toMatchObject({ message: 'x.log is ignored by git.' })
  const { diff, leftOut } = (await run('gitDiff', {})) as { diff: string; leftOut: number }
  expect(diff).toContain('+needle 2')
  expect(diff).not.toContain('TOKEN')
  expect(leftOut).toBe(1)
  expect(await run('gitStatus', {})).toMatchObject({ branch: 'main', changes: [{ path: 'a.txt', status: 'changed' }] })
  expect(await run('gitLog', {})).toMatchObject({ commits: [{ author: 'Ana', message: 'begin' }] })
  expect(await run('gitBranches', {})).toMatchObject({ branches: [{ name: 'main', current: true, subject: 'begin' }] })
})

test('another branch is checked out, never over changes that are not committed', async () => {
  using folder = tempRepository({ 'a.txt': 'one\n' })
  gitIn(folder.root, 'switch', '-q', '-c', 'other')
  folder.write('a.txt', 'two\n')
  gitIn(folder.root, 'commit', '-qam', 'two')
  gitIn(folder.root, 'switch', '-q', 'main')
  const { run, preview } = await open(folder)
  const { fields, version } = await preview('switchBranch', { name: 'other' })
  expect(fields).toEqual([
    { field: 'checked out', oldValue: 'main', newValue: 'other' },
    { field: 'files that change', newValue: 'a.txt' },
  ])
  folder.write('a.txt', 'mine\n')
  await expect(run('switchBranch', { name: 'other' }, { version })).rejects.toMatchObject({ kind: 'refused' })
  expect(readFileSync(join(folder.root, 'a.txt'), 'utf8')).toBe('mine\n')
  folder.write('a.txt', 'one\n')
  await run('switchBranch', { name: 'other' }, { version })
  expect(readFileSync(join(folder.root, 'a.txt'), 'utf8')).toBe('two\n')
})

test('a switch never overwrites a file that git ignores and nobody committed, nor writes what the workspace leaves out', async () => {
  using folder = tempRepository({ '.gitignore': 'local.json\nbuild/\n', 'a.txt': 'one\n' })
  const branch = (name: string, path: string) => {
    gitIn(folder.root, 'switch', '-q', '-c', name)
    folder.write(path, 'theirs\n')
    gitIn(folder.root, 'add', '-f', path)
    gitIn(folder.root, 'commit', '-q', '-m', name)
    gitIn(folder.root, 'switch', '-q', 'main')
  }
  branch('file', 'local.json')
  branch('folder', 'build')
  branch('secrets', 'sub/.env')
  folder.write('local.json', 'mine\n')
  folder.write('build/out.txt', 'mine\n')
  const { run, preview } = await open(folder)
  for (const name of ['file', 'folder']) {
    const { version } = await preview('switchBranch', { name })
    await expect(run('switchBranch', { name }, { version }), name).rejects.toMatchObject({ kind: 'refused' })
  }
  expect(readFileSync(join(folder.root, 'local.json'), 'utf8')).toBe('mine\n')
  expect(readFileSync(join(folder.root, 'build/out.txt'), 'utf8')).toBe('mine\n')
  await expect(preview('switchBranch', { name: 'secrets' })).rejects.toMatchObject({
    kind: 'refused',
    message: 'The branch secrets changes sub/.env, which is left out of this workspace.',
  })
  await expect(run('switchBranch', { name: 'secrets' })).rejects.toMatchObject({ kind: 'refused' })
  expect(gitIn(folder.root, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main')
  expect(existsSync(join(folder.root, 'sub'))).toBe(false)
})

test('a git that is killed after it made the change never says that nothing was changed', async () => {
  using folder = tempRepository({ 'a.txt': 'a\n' })
  const base = gitIn(folder.root, 'rev-parse', 'HEAD')
  await withGit('update-ref', '"$git" "$@"; kill -9 $$', async () => {
    const { run, preview, tool } = await open(folder)
    const found = { idempotencyKey: 'k', signal: new AbortController().signal }
    const branch = { name: 'one', from: 'HEAD', checkOut: false }
    const ends = await run('createBranch', branch, { version: base }).catch((error: Error) => error)
    expect(ends).not.toMatchObject({ name: 'ToolError' })
    expect(await tool('createBranch').verify?.(branch, { ...found, actionId: 'act_1', version: base })).toMatchObject({ done: true })
    folder.write('a.txt', 'b\n')
    const args = { paths: ['a.txt'], message: 'Change a' }
    const { version } = await preview('commit', args)
    const end = await run('commit', args, { version, actionId: 'act_2' }).catch((error: Error) => error)
    expect(end).not.toMatchObject({ name: 'ToolError' })
    expect(await tool('commit').verify?.(args, { ...found, actionId: 'act_2' })).toMatchObject({ done: true })
  })
})

test('a branch that was created and could not be checked out is not said to be missing', async () => {
  using folder = tempRepository({ 'a.txt': 'a\n' })
  const base = gitIn(folder.root, 'rev-parse', 'HEAD')
  folder.write('.git/HEAD.lock', '')
  const { run } = await open(folder)
  await expect(run('createBranch', { name: 'one' }, { version: base })).rejects.toMatchObject({
    kind: 'ambiguous',
    message: expect.stringMatching(/^The branch one was created, but it is not checked out: git said no: /),
  })
  expect(gitIn(folder.root, 'rev-parse', 'one')).toBe(base)
})

test('a switch that fails after it wrote a file is not said to have changed nothing', async () => {
  using folder = tempRepository({ 'a.txt': 'a\n' })
  gitIn(folder.root, 'switch', '-q', '-c', 'other')
  folder.write('a.txt', 'b\n')
  gitIn(folder.root, 'commit', '-q', '-a', '-m', 'Change a')
  gitIn(folder.root, 'switch', '-q', 'main')
  const fails = (before: string) =>
    withGit('switch', `${before} echo "fatal: unable to write new index file" >&2; exit 128`, async () => {
      const { run, preview } = await open(folder)
      const { version } = await preview('switchBranch', { name: 'other' })
      return run('switchBranch', { name: 'other' }, { version }).catch((error: Error) => error)
    })
  expect(await fails('')).toMatchObject({ kind: 'refused' })
  expect(await fails('printf "b\\n" > a.txt;')).toMatchObject({ kind: 'ambiguous' })
})

test('without git or a repository its tools are not offered, and the doctor is told', async () => {
  using folder = tempFolder({ 'a.txt': 'a' })
  const { source } = await openWorkspace({ root: folder.root })
  const names = source.drafts(NO_WAY, () => {}).map(({ name }) => name)
  expect(names).toEqual(['listFiles', 'readFile', 'search', 'editFile', 'writeFile', 'deleteFile', 'applyPatch', 'moveFile'])
  expect(await source.check(NO_WAY, new AbortController().signal)).toEqual([
    { level: 'ok', message: `8 tools in ${folder.root}` },
    { level: 'note', message: 'No tools for git: the folder is not a git repository.' },
  ])
  await expect(openWorkspace({ root: folder.root, git: true })).rejects.toThrow('cannot be used: the folder is not a git repository')
})

test('a nested repository is listed and searched like any folder, without what it ignores itself', async () => {
  using folder = tempRepository({ 'a.txt': 'needle\n', '.gitignore': '*.tmp\n', 'kept.tmp': 'tracked before it was ignored\n' })
  folder.write('libs/inner/b.txt', 'needle\n')
  folder.write('libs/inner/.gitignore', '*.log\n')
  const inner = join(folder.root, 'libs/inner')
  gitIn(inner, 'init', '-q', '-b', 'main')
  gitIn(inner, 'add', '-A')
  gitIn(inner, 'commit', '-q', '-m', 'begin')
  gitIn(folder.root, 'add', '-f', 'kept.tmp')
  gitIn(folder.root, '-c', 'advice.addEmbeddedRepo=false', 'add', 'libs/inner')
  expect(gitIn(folder.root, 'ls-files', '--stage', 'libs/inner')).toMatch(/^160000 /)
  folder.write('libs/inner/c.log', 'needle\n')
  folder.write('libs/inner/d.tmp', 'needle\n')
  folder.write('e.tmp', 'needle\n')
  const { run } = await open(folder)
  expect(await run('listFiles', {})).toEqual({
    entries: ['.gitignore', 'a.txt', 'kept.tmp', 'libs/', 'libs/inner/', 'libs/inner/.gitignore', 'libs/inner/b.txt'],
  })
  expect(await run('listFiles', { path: 'libs/inner' })).toEqual({ entries: ['libs/inner/.gitignore', 'libs/inner/b.txt'] })
  expect(await run('search', { text: 'needle' })).toEqual({
    hits: [
      { path: 'a.txt', line: 1, text: 'needle' },
      { path: 'libs/inner/b.txt', line: 1, text: 'needle' },
    ],
  })
})

test('a commit of a file that is no text shows that its bytes or its mode change, also where its size stays', async () => {
  using folder = tempRepository({ 'one.bin': Buffer.from([0, 1, 255]), 'two.bin': Buffer.from([0, 2, 255]) })
  const { preview } = await open(folder)
  writeFileSync(join(folder.root, 'one.bin'), Buffer.from([0, 9, 255]))
  chmodSync(join(folder.root, 'two.bin'), 0o755)
  const { fields } = await preview('commit', { paths: ['one.bin', 'two.bin'], message: 'Change both' })
  const [one, two] = fields.slice(2)
  expect(one?.oldValue).toMatch(/^3 bytes that are no text, mode 100644, SHA-256 [0-9a-f]{12}…$/)
  expect(one?.newValue).toMatch(/^3 bytes that are no text, mode 100644, SHA-256 [0-9a-f]{12}…$/)
  expect(one?.newValue).not.toBe(one?.oldValue)
  expect(two?.newValue).toBe(String(two?.oldValue).replace('mode 100644', 'mode 100755'))
  expect(two?.newValue).not.toBe(two?.oldValue)
})
