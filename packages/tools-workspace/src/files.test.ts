import { execFileSync, spawnSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import { NO_GROUND, openWorkspace, tempFolder, tempRepository } from '../../../verification/testing/workspace.ts'

const CHANNEL = 'countersign.checkpoint'

/** Runs `act` when the new content is ready and nothing is replaced yet. */
async function atReplace<T>(act: () => void, work: () => Promise<T>): Promise<T> {
  let isDone = false
  const listener = (point: unknown) => {
    if (point !== 'workspace.before_replace' || isDone) return
    isDone = true
    act()
  }
  subscribe(CHANNEL, listener)
  try {
    return await work()
  } finally {
    unsubscribe(CHANNEL, listener)
    expect(isDone).toBe(true)
  }
}

const edit = (path: string, oldText: string, newText: string) => ({ path, edits: [{ oldText, newText }] })

test('an edit shows its diff and lands as shown, with everything around it kept', async () => {
  const old = '\uFEFFone\r\ntwo\r\n\tthree'
  using folder = tempFolder({ 'notes.md': old })
  chmodSync(join(folder.root, 'notes.md'), 0o750)
  const { run, preview } = await openWorkspace({ root: folder.root })
  const { fields, version } = await preview('editFile', edit('notes.md', 'two', '2'))
  expect(fields).toEqual([
    {
      field: 'notes.md',
      diff: '--- a/notes.md\n+++ b/notes.md\n@@ -1,3 +1,3 @@\n \uFEFFone\r\n-two\r\n+2\r\n \tthree\n\\ No newline at end of file\n',
    },
  ])
  expect(await run('editFile', edit('notes.md', 'two', '2'), { version })).toMatchObject({ path: 'notes.md', did: 'changed' })
  expect(readFileSync(join(folder.root, 'notes.md'), 'utf8')).toBe(old.replace('two', '2'))
  expect(statSync(join(folder.root, 'notes.md')).mode & 0o777).toBe(0o750)
  expect(readdirSync(folder.root)).toEqual(['notes.md'])
})

test('the same attempt a second time finds that it is done, and one whose file is another one by now is stale', async () => {
  using folder = tempFolder({ 'a.txt': 'foo\n' })
  const { run, preview, tool } = await openWorkspace({ root: folder.root })
  const args = edit('a.txt', 'foo', 'foo bar')
  const { version } = await preview('editFile', args)
  const context = { actionId: 'act_1', idempotencyKey: 'k', signal: new AbortController().signal, version }
  expect(await tool('editFile').verify?.(args, context)).toEqual({ done: false })
  const first = await run('editFile', args, { version })
  expect(await run('editFile', args, { version })).toEqual(first)
  expect(readFileSync(join(folder.root, 'a.txt'), 'utf8')).toBe('foo bar\n')
  expect(await tool('editFile').verify?.(args, context)).toEqual({ done: true, output: first })
  folder.write('a.txt', 'foo\nmine\n')
  await expect(run('editFile', args, { version })).rejects.toMatchObject({ kind: 'stale' })
  expect(await tool('editFile').verify?.(args, context)).toEqual({ done: 'unknown' })
  expect(await tool('editFile').verify?.(args, { ...context, version: undefined })).toEqual({ done: 'unknown' })
  expect(readFileSync(join(folder.root, 'a.txt'), 'utf8')).toBe('foo\nmine\n')
  // The target counts as changed even if the edit no longer applies to it.
  folder.write('a.txt', 'mine\n')
  await expect(run('editFile', args, { version })).rejects.toMatchObject({ kind: 'stale' })
})

test('a file that changes in the very moment of writing is not overwritten, and nothing is left behind', async () => {
  using folder = tempFolder({ 'a.txt': 'one\n' })
  const { run, preview } = await openWorkspace({ root: folder.root })
  const { version } = await preview('editFile', edit('a.txt', 'one', 'two'))
  const write = atReplace(
    () => folder.write('a.txt', 'somebody else\n'),
    () => run('editFile', edit('a.txt', 'one', 'two'), { version }),
  )
  await expect(write).rejects.toMatchObject({ kind: 'stale' })
  const create = atReplace(
    () => folder.write('new.txt', 'somebody else\n'),
    () => run('writeFile', { path: 'new.txt', content: 'mine' }),
  )
  await expect(create).rejects.toMatchObject({ kind: 'stale' })
  for (const name of ['a.txt', 'new.txt']) expect(readFileSync(join(folder.root, name), 'utf8')).toBe('somebody else\n')
  expect(readdirSync(folder.root)).toEqual(['a.txt', 'new.txt'])
})

test('a link that is swapped in while a file is written leads nowhere', async () => {
  using folder = tempFolder({ 'docs/a.txt': 'one\n' })
  using outside = tempFolder({ 'a.txt': 'one\n' })
  const { run } = await openWorkspace({ root: folder.root })
  const docs = join(folder.root, 'docs')
  const write = atReplace(
    () => {
      renameSync(docs, `${docs}.moved`)
      symlinkSync(outside.root, docs)
    },
    () => run('editFile', edit('docs/a.txt', 'one', 'two')),
  )
  await expect(write).rejects.toMatchObject({ kind: 'refused', message: 'docs was moved or replaced meanwhile.' })
  const file = atReplace(
    () => {
      rmSync(join(folder.root, 'docs.moved/a.txt'))
      symlinkSync(join(outside.root, 'a.txt'), join(folder.root, 'docs.moved/a.txt'))
    },
    () => run('editFile', edit('docs.moved/a.txt', 'one', 'two')),
  )
  await expect(file).rejects.toMatchObject({ kind: 'refused', message: 'docs.moved/a.txt is a symbolic link. Links are not followed.' })
  expect(readFileSync(join(outside.root, 'a.txt'), 'utf8')).toBe('one\n')
  expect(readdirSync(outside.root)).toEqual(['a.txt'])
  expect(readdirSync(join(folder.root, 'docs.moved'))).toEqual(['a.txt'])
})

test('links, pipes, folders and what is left out are neither read nor written, and are not searched', async () => {
  using outside = tempFolder({ 'secret.txt': 'needle\n' })
  using folder = tempFolder({ 'a.txt': 'needle\n', '.env': 'needle\n', 'node_modules/x/a.js': 'needle\n', '.git/config': 'needle\n' })
  symlinkSync(join(outside.root, 'secret.txt'), join(folder.root, 'link.txt'))
  symlinkSync(outside.root, join(folder.root, 'linked'))
  execFileSync('mkfifo', [join(folder.root, 'pipe')])
  mkdirSync(join(folder.root, 'sub'))
  const { run, preview } = await openWorkspace({ root: folder.root, git: false })
  const refused: Record<string, RegExp> = {
    'link.txt': /link\.txt is a symbolic link/,
    'linked/secret.txt': /linked is a symbolic link/,
    pipe: /pipe is not a file/,
    sub: /sub is a folder/,
    '.env': /\.env is left out/,
    'node_modules/x/a.js': /is left out/,
    '.git/config': /belongs to git/,
    '../x': /leads outside/,
    'SUB/x.txt': /sub is, which differs only in how it is spelled/,
    'A.txt': /a\.txt is, which differs only in how it is spelled/,
  }
  for (const [path, why] of Object.entries(refused)) {
    if (path !== 'A.txt')
      await expect(run('readFile', { path }), path).rejects.toMatchObject({ kind: 'refused', message: expect.stringMatching(why) })
    await expect(run('writeFile', { path, content: 'x' }), path).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(why),
    })
    await expect(run('deleteFile', { path }), path).rejects.toMatchObject({ kind: 'refused' })
    await expect(run('moveFile', { from: path, to: 'b.txt' }), path).rejects.toMatchObject({ kind: 'refused' })
    await expect(run('moveFile', { from: 'a.txt', to: path }), path).rejects.toMatchObject({ kind: 'refused' })
    await expect(preview('writeFile', { path, content: 'x' }), path).rejects.toMatchObject({
      impossible: true,
      message: expect.stringMatching(why),
    })
  }
  expect(await run('search', { text: 'needle' })).toEqual({ hits: [{ path: 'a.txt', line: 1, text: 'needle' }] })
  expect(await run('listFiles', {})).toEqual({
    entries: ['a.txt', 'link.txt (a link, not followed)', 'linked (a link, not followed)', 'pipe', 'sub/'],
  })
  expect(readFileSync(join(folder.root, '.git/config'), 'utf8')).toBe('needle\n')
})

test('a file is created with the folders it needs, replaced, moved and deleted, each as it was shown', async () => {
  using folder = tempFolder()
  const { run, preview } = await openWorkspace({ root: folder.root })
  const step = async (name: string, args: Parameters<typeof run>[1]) => {
    const { fields, version } = await preview(name, args)
    return { fields, result: await run(name, args, { version }) }
  }
  expect(await step('writeFile', { path: 'a/b/c.txt', content: 'x\n' })).toMatchObject({
    fields: [
      {
        field: 'a/b/c.txt',
        diff: 'diff --git a/a/b/c.txt b/a/b/c.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1 @@\n+x\n',
      },
    ],
    result: { did: 'created' },
  })
  expect(await step('writeFile', { path: 'a/b/c.txt', content: 'y\n' })).toMatchObject({ result: { did: 'changed' } })
  const moved = await step('moveFile', { from: 'a/b/c.txt', to: 'd/e.txt' })
  expect(moved).toEqual({
    fields: [{ field: 'path', oldValue: 'a/b/c.txt', newValue: 'd/e.txt' }],
    result: { from: 'a/b/c.txt', to: 'd/e.txt', did: 'moved' },
  })
  expect(readFileSync(join(folder.root, 'd/e.txt'), 'utf8')).toBe('y\n')
  expect(existsSync(join(folder.root, 'a/b/c.txt'))).toBe(false)
  folder.write('f.txt', 'other')
  await expect(run('moveFile', { from: 'd/e.txt', to: 'f.txt' })).rejects.toMatchObject({
    kind: 'refused',
    message: 'f.txt is there already.',
  })
  expect(await step('deleteFile', { path: 'd/e.txt' })).toMatchObject({
    fields: [{ diff: expect.stringContaining('deleted file mode 100644') }],
    result: { path: 'd/e.txt', did: 'deleted' },
  })
  expect(existsSync(join(folder.root, 'd/e.txt'))).toBe(false)
})

test('a file that changed is not moved, and one that has both names is not said to be', async () => {
  using folder = tempFolder({ 'a.txt': 'a\n' })
  const { run, preview, tool } = await openWorkspace({ root: folder.root })
  const args = { from: 'a.txt', to: 'b.txt' }
  const { version } = await preview('moveFile', args)
  const isDone = () =>
    tool('moveFile').verify?.(args, { actionId: 'act_1', idempotencyKey: 'k', signal: new AbortController().signal, version })
  expect(await isDone()).toEqual({ done: false })
  linkSync(join(folder.root, 'a.txt'), join(folder.root, 'b.txt'))
  expect(await isDone()).toEqual({ done: 'unknown' })
  rmSync(join(folder.root, 'b.txt'))
  folder.write('a.txt', 'somebody else\n')
  await expect(run('moveFile', args, { version })).rejects.toMatchObject({ kind: 'stale' })
  expect(readdirSync(folder.root)).toEqual(['a.txt'])
})

test('a file whose folder is gone is not said to be deleted: a disk may not be mounted', async () => {
  using elsewhere = tempFolder()
  using folder = tempFolder({ 'top.md': '1', 'data/notes.md': '2' })
  const { preview, tool } = await openWorkspace({ root: folder.root })
  const context = { actionId: 'act_1', idempotencyKey: 'act_1.1', signal: new AbortController().signal }
  const top = { path: 'top.md' }
  const notes = { path: 'data/notes.md' }
  const patch = { files: [{ ...notes, delete: true }] }
  const { version: topVersion } = await preview('deleteFile', top)
  const { version } = await preview('deleteFile', notes)
  const isDone = async (name: string, args: JsonObject, shown: string | undefined) =>
    (
      await tool(name)
        .verify?.(args, { ...context, version: shown })
        .catch(() => ({ done: 'unknown' }))
    )?.done
  renameSync(join(folder.root, 'data'), join(elsewhere.root, 'data'))
  expect(await isDone('deleteFile', notes, version)).toBe('unknown')
  expect(await isDone('applyPatch', patch, version)).toBe('unknown')
  mkdirSync(join(folder.root, 'data'))
  expect(await isDone('deleteFile', notes, version)).toBe(true)
  expect(await isDone('applyPatch', patch, version)).toBe(true)
  renameSync(folder.root, join(elsewhere.root, 'root'))
  expect(await isDone('deleteFile', top, topVersion)).toBe('unknown')
})

test('what is no text is not edited, says so when it is read, and can be deleted', async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x61, 0x0a])
  using folder = tempFolder({ 'latin.txt': bytes, 'zero.bin': Buffer.from('a\0b'), 'two.txt': 'x' })
  linkSync(join(folder.root, 'two.txt'), join(folder.root, 'also.txt'))
  const { run, preview } = await openWorkspace({ root: folder.root, maxFileBytes: 1_000 })
  for (const path of ['latin.txt', 'zero.bin']) {
    await expect(run('editFile', edit(path, 'a', 'b'))).rejects.toMatchObject({
      kind: 'refused',
      message: `${path} is not text in UTF-8, so it cannot be edited.`,
    })
    expect(await run('readFile', { path })).toMatchObject({ note: 'This file is not text in UTF-8, so it is not shown.' })
  }
  expect(readFileSync(join(folder.root, 'latin.txt')).equals(bytes)).toBe(true)
  expect((await preview('deleteFile', { path: 'zero.bin' })).fields).toEqual([{ field: 'zero.bin', oldValue: '3 bytes that are no text' }])
  expect((await preview('editFile', edit('two.txt', 'x', 'y'))).fields.at(-1)).toEqual({
    field: 'other names of this file, which keep the old content',
    oldValue: 1,
  })
  await run('editFile', edit('two.txt', 'x', 'y'))
  expect(['two.txt', 'also.txt'].map((name) => readFileSync(join(folder.root, name), 'utf8'))).toEqual(['y', 'x'])
  await expect(run('writeFile', { path: 'big.txt', content: 'x'.repeat(1_001) })).rejects.toMatchObject({ kind: 'refused' })
  folder.write('big.txt', 'x'.repeat(1_001))
  await expect(run('readFile', { path: 'big.txt' })).rejects.toMatchObject({
    message: 'big.txt has 1,001 bytes; at most 1,000 are read here.',
  })
})

test('a long file is read piece by piece, and every line is in one of them', async () => {
  const text = `${Array.from({ length: 4_500 }, (_, at) => `line ${at + 1}`).join('\n')}\n`
  using folder = tempFolder({ 'long.txt': text, 'wide.txt': 'x'.repeat(150_000) })
  const { run } = await openWorkspace({ root: folder.root })
  let read = ''
  let fromLine = 1
  for (let pieces = 0; pieces < 3; pieces++) {
    const answer = (await run('readFile', { path: 'long.txt', fromLine })) as { text: string; nextLine?: number }
    read += answer.text
    fromLine = answer.nextLine ?? 0
  }
  expect(fromLine).toBe(0)
  expect(read).toBe(text)
  expect(await run('readFile', { path: 'long.txt', fromLine: 7, toLine: 8 })).toEqual({
    path: 'long.txt',
    lines: 4_500,
    text: 'line 7\nline 8\n',
  })
  await expect(run('readFile', { path: 'long.txt', fromLine: 9_999 })).rejects.toMatchObject({ message: 'long.txt has 4500 lines.' })
  expect(await run('readFile', { path: 'wide.txt' })).toMatchObject({ note: expect.stringContaining('only its beginning is shown') })
})

test('a search takes a text or a pattern, whose time is bounded whatever it is', async () => {
  using folder = tempFolder({ 'src/a.ts': 'const a = 1\nlet b = 2\n', 'b.md': 'CONST\n', 'evil.txt': `${'a'.repeat(5_000)}!\n` })
  const { run } = await openWorkspace({ root: folder.root })
  expect(await run('search', { pattern: '^(const|let) \\w+' })).toMatchObject({
    hits: [
      { path: 'src/a.ts', line: 1 },
      { path: 'src/a.ts', line: 2 },
    ],
  })
  expect(await run('search', { text: 'const', ignoreCase: true, files: '**/*.md' })).toMatchObject({ hits: [{ path: 'b.md', line: 1 }] })
  expect(await run('search', { pattern: '(a+)+$' })).toEqual({ hits: [] })
  expect(await run('search', { text: 'a', limit: 1 })).toMatchObject({ more: true })
  await expect(run('search', { pattern: '(?=a)' })).rejects.toMatchObject({ kind: 'refused' })
  await expect(run('search', {})).rejects.toMatchObject({ message: 'Give a text or a pattern, one of them.' })
})

test('a path that is written in another way is the same argument, so what a rule says of it holds', async () => {
  using folder = tempRepository({ 'secrets/a.txt': 'one\n' })
  const { tool } = await openWorkspace({ root: folder.root, git: true })
  const read = (name: string, args: JsonObject) => {
    const check = tool(name).check(args)
    return check.ok ? check.value : check.issues
  }
  const path = 'secrets/a.txt'
  const edits = [{ oldText: 'one', newText: 'two' }]
  for (const text of ['./secrets/a.txt', 'secrets//a.txt', 'secrets/./a.txt', 'secrets/a.txt/', './/secrets/./a.txt/.']) {
    for (const name of ['readFile', 'search', 'listFiles', 'gitDiff', 'gitLog', 'deleteFile'])
      expect([name, text, read(name, { path: text, ...(name === 'search' && { text: 'x' }) })]).toMatchObject([name, text, { path }])
    expect(read('editFile', { path: text, edits })).toEqual({ path, edits })
    expect(read('writeFile', { path: text, content: 'x' })).toEqual({ path, content: 'x' })
    expect(read('moveFile', { from: text, to: `x/${text}` })).toEqual({ from: path, to: `x/${path}` })
    expect(read('applyPatch', { files: [{ path: text, delete: true }] })).toEqual({ files: [{ path, delete: true }] })
    expect(read('commit', { paths: [text], message: 'm' })).toEqual({ paths: [path], message: 'm' })
  }
  for (const root of ['.', './', '']) expect(read('listFiles', { path: root })).toMatchObject({ path: '' })
  // What is no path stays as it was written, and is refused with its reason.
  for (const text of ['../a', '.', '/etc/passwd', 'a\\b']) expect(read('deleteFile', { path: text })).toEqual({ path: text })
})

test('what the workspace leaves out is neither listed nor found nor read nor written, below a folder with a dot as well', async () => {
  using folder = tempFolder({
    '.devcontainer/.env': 'TOKEN=1\n',
    '.devcontainer/setup.sh': 'echo TOKEN\n',
    '.ci/node_modules/x.js': 'TOKEN\n',
  })
  const { run } = await openWorkspace({ root: folder.root })
  expect(await run('listFiles', {})).toEqual({ entries: ['.ci/', '.devcontainer/', '.devcontainer/setup.sh'] })
  expect(await run('search', { text: 'TOKEN' })).toMatchObject({ hits: [{ path: '.devcontainer/setup.sh' }] })
  expect(await run('search', { text: 'TOKEN', files: '**/*.sh' })).toMatchObject({ hits: [{ path: '.devcontainer/setup.sh' }] })
  const refused = { kind: 'refused', message: '.devcontainer/.env is left out of this workspace.' }
  await expect(run('readFile', { path: '.devcontainer/.env' })).rejects.toMatchObject(refused)
  await expect(run('editFile', edit('.devcontainer/.env', '1', '2'))).rejects.toMatchObject(refused)
})

test('kill -9 while a file is written leaves the old bytes, and what was begun is gone after the next start', async () => {
  using folder = tempFolder({ 'docs/a.txt': 'one\n' })
  const script = `
    import { subscribe } from 'node:diagnostics_channel'
    import { openWorkspace } from ${JSON.stringify(fileURLToPath(new URL('../../../verification/testing/workspace.ts', import.meta.url)))}
    subscribe('${CHANNEL}', (point) => point === 'workspace.before_replace' && process.kill(process.pid, 'SIGKILL'))
    const { run } = await openWorkspace({ root: ${JSON.stringify(folder.root)} })
    await run('editFile', { path: 'docs/a.txt', edits: [{ oldText: 'one', newText: 'two' }] })`
  const killed = spawnSync(process.execPath, ['--conditions=countersign-source', '--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(killed.signal, killed.stderr).toBe('SIGKILL')
  expect(readFileSync(join(folder.root, 'docs/a.txt'), 'utf8')).toBe('one\n')
  expect(readdirSync(join(folder.root, 'docs'))).toHaveLength(2)
  const { source, run } = await openWorkspace({ root: folder.root })
  expect(await run('listFiles', { path: 'docs' })).toEqual({ entries: ['docs/a.txt'] })
  await source.attach?.(NO_GROUND)
  expect(readdirSync(join(folder.root, 'docs'))).toEqual(['a.txt'])
})

test('a pattern to leave out that can fit no path of the workspace is refused at the start', async () => {
  using folder = tempFolder({ 'private/a.txt': 'x' })
  for (const glob of ['/private', '/', '.', './', '../private', 'a/../private', 'C:/private', join(folder.root, 'private')])
    await expect(openWorkspace({ root: folder.root, ignore: [glob] }), glob).rejects.toThrow('from the root of the workspace')
  const { run } = await openWorkspace({ root: folder.root, ignore: ['./private/'] })
  await expect(run('readFile', { path: 'private/a.txt' })).rejects.toThrow('left out')
})

test('two edits of one file at the same time are both in it', async () => {
  using folder = tempFolder({ 'a.txt': 'one two three\n' })
  const { run } = await openWorkspace({ root: folder.root })
  await Promise.all(['one', 'two', 'three'].map((word) => run('editFile', edit('a.txt', word, word.toUpperCase()))))
  expect(readFileSync(join(folder.root, 'a.txt'), 'utf8')).toBe('ONE TWO THREE\n')
})

test('a root that is a link is the folder behind it; one that is none is told at the start', async () => {
  using folder = tempFolder({ 'real/a.txt': 'x' })
  symlinkSync(join(folder.root, 'real'), join(folder.root, 'link'))
  const { run } = await openWorkspace({ root: join(folder.root, 'link') })
  expect(await run('listFiles', {})).toEqual({ entries: ['a.txt'] })
  writeFileSync(join(folder.root, 'file'), '')
  for (const name of ['file', 'gone']) await expect(openWorkspace({ root: join(folder.root, name) })).rejects.toThrow('is not a folder')
})
