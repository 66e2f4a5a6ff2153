import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject, Preview } from '@countersign/core'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { tempFolder, tempRepository } from '../../../verification/testing/workspace.ts'
import { WorkEnded, WorkTimedOut } from '../../toolkit/src/bounded/workers.ts'
import { unifiedDiff, wholeDiff } from '../../toolkit/src/text-work/diff.ts'
import { applyEdits } from '../../toolkit/src/text-work/edits.ts'
import { openTextWork, type TextWork } from '../../toolkit/src/text-work/text-work.ts'
import { commitTool } from './git/commit.ts'
import { openGit } from './git/run.ts'
import { createWorkspace } from './workspace.ts'
import { fileWrites } from './writes.ts'

/** Realistic files: line ends of both kinds and mixed, a missing last one, byte order marks, lines that look like a diff. */
const line = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'a',
    'b',
    ' ',
    '\t',
    '-a',
    '+a',
    '--- a/x',
    '+++ b/x',
    '@@ -1 +1 @@',
    '\\ No newline at end of file',
    'diff --git a/x b/x',
    'a\rb',
    '\u2028',
    'é',
  ),
  fc.string({ maxLength: 8 }).map((text) => text.replace(/[\n\0]/g, '')),
)
const ending = fc.constantFrom('\n', '\n', '\n', '\r\n', '\r')
const content = fc
  .tuple(fc.constantFrom('', '', '', '\uFEFF'), fc.array(fc.tuple(line, ending), { maxLength: 30 }), fc.constantFrom('', '', 'end'))
  .map(([mark, lines, last]) => mark + lines.map(([text, end]) => text + end).join('') + last)
/** A change somewhere in the text, or another text altogether. */
const changed = fc.tuple(content, content, fc.nat(), fc.nat(), fc.boolean()).map(([before, other, from, length, isWhole]) => {
  const at = before.length === 0 ? 0 : from % before.length
  return { before, after: isWhole ? other : before.slice(0, at) + other.slice(0, 12) + before.slice(at + (length % 9)) }
})

const NAMES = ['plain.txt', 'with space.txt', 'quo"te.txt', 'tab-less/deep/ü.md', "it's.txt", '-dash.txt']

test('the diff, applied by git and by patch, gives byte for byte what the edit gives', () => {
  const cases = fc
    .sample(changed, { numRuns: 300, seed: inject('propertySeed') })
    .filter(({ before, after }) => before !== after && before.isWellFormed() && after.isWellFormed())
  expect(cases.length).toBeGreaterThan(200)
  const named = cases.map((one, at) => ({ ...one, name: `${at}/${NAMES[at % NAMES.length]}`, isNew: at % 7 === 0 && one.before === '' }))
  // A minimal machine has git, which cloned the source, but possibly no patch.
  const hasPatch = spawnSync('patch', ['--version']).status === 0
  for (const { tool, args } of [
    { tool: 'git', args: ['apply', '--whitespace=nowarn', '-'] },
    ...(hasPatch ? [{ tool: 'patch', args: ['-p1', '--binary', '--no-backup-if-mismatch', '--silent'] }] : []),
  ]) {
    using folder = tempFolder()
    // The cases that patch cannot read (quotes, its own treatment of empty files) are covered by git.
    const chosen = tool === 'git' ? named : named.filter(({ name, before, after }) => !/["ü]/.test(name) && before !== '' && after !== '')
    for (const { name, before } of chosen) folder.write(name, before)
    const diffs = chosen.map(({ name, before, after }) => unifiedDiff(name, { text: before }, { text: after }))
    execFileSync(tool, args, { cwd: folder.root, input: diffs.join('') })
    for (const { name, before, after } of chosen) {
      expect(readFileSync(join(folder.root, name)).equals(Buffer.from(after)), JSON.stringify({ tool, before, after })).toBe(true)
    }
  }
})

test('a creation and a deletion are diffs too, of an empty file as well, with what may be run said', () => {
  using folder = tempFolder({ 'gone.sh': 'echo\n', 'empty-gone': '' })
  const diffs = [
    unifiedDiff('new.sh', undefined, { text: 'echo new', mode: 0o755 }),
    unifiedDiff('sub/empty', undefined, { text: '' }),
    unifiedDiff('gone.sh', { text: 'echo\n' }, undefined),
    unifiedDiff('empty-gone', { text: '' }, undefined),
  ]
  expect(diffs[0]).toBe(
    'diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 @@\n+echo new\n\\ No newline at end of file\n',
  )
  execFileSync('git', ['apply', '-'], { cwd: folder.root, input: diffs.join('') })
  expect(readFileSync(join(folder.root, 'new.sh'), 'utf8')).toBe('echo new')
  expect(readFileSync(join(folder.root, 'sub/empty'), 'utf8')).toBe('')
  expect(() => readFileSync(join(folder.root, 'gone.sh'))).toThrow('ENOENT')
  expect(() => readFileSync(join(folder.root, 'empty-gone'))).toThrow('ENOENT')
})

test('two texts that share nothing are one taken out and the other put in, and that applies as well', () => {
  const lines = (word: string) => Array.from({ length: 3_000 }, (_, at) => `${word} ${at * 7}\n`).join('')
  using folder = tempFolder({ 'x.txt': lines('old') })
  const after = `${lines('new')}last`
  execFileSync('git', ['apply', '-'], { cwd: folder.root, input: unifiedDiff('x.txt', { text: lines('old') }, { text: after }) })
  expect(readFileSync(join(folder.root, 'x.txt'), 'utf8')).toBe(after)
})

test('an edit touches only what it names, which has to be there exactly once', () => {
  expect(applyEdits('\uFEFFa\r\nb\r\nc', [{ oldText: 'b', newText: '$&$1' }], 'x')).toBe('\uFEFFa\r\n$&$1\r\nc')
  expect(
    applyEdits(
      'one two',
      [
        { oldText: 'one', newText: 'two' },
        { oldText: 'two two', newText: 'x' },
      ],
      'x',
    ),
  ).toBe('x')
  const refused = (text: string, oldText: string) => () => applyEdits(text, [{ oldText, newText: 'x' }], 'notes.md')
  expect(refused('abc', 'd')).toThrow('oldText is not in notes.md.')
  expect(refused('aXa', 'a')).toThrow('oldText is in notes.md more than once')
  expect(refused('aaa', 'aa')).toThrow('more than once')
  expect(refused('a\r\nb\nc', 'a\nb')).toThrow('some of whose lines end with \\r\\n')
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 1 }), fc.string(), fc.string(), (head, oldText, newText, tail) => {
      const text = head + oldText + tail
      fc.pre(text.indexOf(oldText) === head.length && text.indexOf(oldText, head.length + 1) < 0)
      expect(applyEdits(text, [{ oldText, newText }], 'x')).toBe(head + newText + tail)
    }),
  )
})

test('an edit written with LF in a file whose lines all end with CRLF keeps them, whatever the edit is', () => {
  expect(applyEdits('a\r\nb\r\n', [{ oldText: 'a\nb', newText: 'x\ny\nz' }], 'x')).toBe('x\r\ny\r\nz\r\n')
  expect(applyEdits('a\r\nb', [{ oldText: 'b', newText: 'c\nd' }], 'x')).toBe('a\r\nc\r\nd')
  // A new text that contains \r decides its own line endings.
  expect(applyEdits('a\r\nb', [{ oldText: 'a\r\nb', newText: 'a\nb' }], 'x')).toBe('a\nb')
  expect(applyEdits('a\r\nb\nc', [{ oldText: 'c', newText: 'c\nd' }], 'x')).toBe('a\r\nb\nc\nd')
  const lines = fc.array(fc.stringMatching(/^[a-c ]{0,4}$/), { maxLength: 6 })
  fc.assert(
    fc.property(lines, fc.array(fc.constantFrom('m', 'n'), { minLength: 1, maxLength: 4 }), lines, lines, (head, old, tail, now) => {
      const text = (middle: readonly string[], end: string) => ['', ...head, ...middle, ...tail, ''].join(end)
      const edit = { oldText: old.join('\n'), newText: now.join('\n') }
      fc.pre(text(old, '\n').split(edit.oldText).length === 2)
      const edited = applyEdits(text(old, '\n'), [edit], 'x')
      expect(applyEdits(text(old, '\r\n'), [edit], 'x')).toBe(edited.replaceAll('\n', '\r\n'))
    }),
    { seed: inject('propertySeed') },
  )
})

type Options = Parameters<TextWork['run']>[2]

/** The tools of a workspace and of its repository over text work, and the options of every diff. */
async function openOver(root: string, run: TextWork['run']) {
  const diffs: Options[] = []
  const work: TextWork = {
    run(job, input, options) {
      if (job === 'diff') diffs.push(options)
      return run(job, input, options)
    },
    [Symbol.asyncDispose]: async () => {},
  }
  const workspace = createWorkspace({ root, ignore: [], maxFileBytes: 1_000_000, work })
  const git = await openGit(root, (process.env.PATH ?? '').split(':'))
  if ('problem' in git) throw new Error(git.problem)
  const tools = [...fileWrites(workspace), commitTool(workspace, git, { name: 'Ada', email: 'ada@example.com' })]
  const preview = async (name: string, args: JsonObject, signal = new AbortController().signal): Promise<Preview> => {
    const shown = await tools.find((tool) => tool.name === name)?.preview?.(args, signal)
    if (!shown) throw new Error(`${name} has no preview`)
    return shown
  }
  return { preview, diffs }
}

/** Does all work that is asked for, however long the machine keeps its thread waiting. */
const patient =
  (work: TextWork): TextWork['run'] =>
  (job, input, options) =>
    work.run(job, input, { ...options, timeoutMs: 240_000, budget: undefined })

const noTime: TextWork['run'] = async (_job, _input, { budget }) => {
  if (budget) budget.leftMs = 0
  throw new WorkTimedOut('waited too long for its turn')
}

test('when there is no time to find the diffs, files are shown whole, and the change is held against the same state', async () => {
  const before = { 'a.txt': 'one\ntwo\n', 'b.txt': 'one\nend', 'gone.txt': 'gone\n' }
  using folder = tempRepository(before)
  const after: Record<string, string | undefined> = {
    'a.txt': 'one\n2\n',
    'b.txt': 'one\nend\n',
    'gone.txt': undefined,
    'new.txt': 'new\n',
  }
  await using work = openTextWork()
  const [found, whole] = [await openOver(folder.root, patient(work)), await openOver(folder.root, noTime)]
  const files = Object.entries(after).map(
    ([path, content]): JsonObject => (content === undefined ? { path, delete: true } : { path, content }),
  )
  const held = async (name: string, args: JsonObject) => {
    const [shown, cheap] = [await found.preview(name, args), await whole.preview(name, args)]
    expect([cheap.precondition, cheap.version]).toEqual([shown.precondition, shown.version])
    expect(cheap.version).toBeDefined()
    return cheap.fields.flatMap(({ diff }) => diff ?? [])
  }
  const diffs = await held('applyPatch', { files })
  expect(diffs[0]).toBe('--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n-two\n+one\n+2\n')
  // As git applies them, they are the change.
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: folder.root, input: diffs.join('') })
  for (const [path, content] of Object.entries(after)) {
    expect(existsSync(join(folder.root, path)) ? readFileSync(join(folder.root, path), 'utf8') : undefined).toBe(content)
  }
  expect(await held('commit', { paths: Object.keys(after), message: 'Change' })).toEqual(diffs)
})

test('all diffs of one plan share one time, which ends with the preview', async () => {
  using folder = tempRepository({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' })
  for (const path of ['a.txt', 'b.txt', 'c.txt']) folder.write(path, `new ${path}`)
  await using work = openTextWork()
  const calls: [name: string, args: JsonObject][] = [
    ['commit', { paths: ['a.txt', 'b.txt', 'c.txt'], message: 'm' }],
    ['applyPatch', { files: ['a.txt', 'b.txt', 'c.txt'].map((path) => ({ path, content: 'newer' })) }],
  ]
  for (const [name, args] of calls) {
    const { preview, diffs } = await openOver(folder.root, work.run)
    const { signal } = new AbortController()
    await preview(name, args, signal)
    await preview(name, args, signal)
    expect(diffs.map((options) => options.signal)).toEqual(Array.from({ length: 6 }, () => signal))
    const budgets = diffs.map(({ budget }) => budget)
    expect(budgets.every((budget, at) => budget !== undefined && budget === budgets[at < 3 ? 0 : 3])).toBe(true)
    expect(budgets[3], 'the next plan has a time of its own').not.toBe(budgets[0])
  }
})

test('what there is no time to show is refused for now, before anybody is asked', async () => {
  using folder = tempRepository({ 'long.txt': 'line\n'.repeat(30_000), 'short.txt': 'a' })
  folder.write('long.txt', 'new\n'.repeat(30_000))
  const { preview } = await openOver(folder.root, noTime)
  const refused = (words: string) => ({ kind: 'refused', impossible: true, retryable: true, message: expect.stringContaining(words) })
  const tooLong = refused('was not found in time, and all of it is too long to be shown')
  await expect(preview('commit', { paths: ['long.txt'], message: 'm' })).rejects.toMatchObject(tooLong)
  await expect(preview('writeFile', { path: 'long.txt', content: 'x' })).resolves.toMatchObject({ fields: [{ field: 'long.txt' }] })
  const edit = { path: 'short.txt', edits: [{ oldText: 'a', newText: 'b' }] }
  await expect(preview('editFile', edit)).rejects.toMatchObject(refused('was stopped: it waited too long for its turn'))
  // Whatever it is that takes so long: the caller gives up, and its card would show nothing.
  const stop = new AbortController()
  const slow = await openOver(folder.root, () => {
    stop.abort(new DOMException('late', 'TimeoutError'))
    return new Promise(() => {})
  })
  await expect(slow.preview('writeFile', { path: 'short.txt', content: 'x' }, stop.signal)).rejects.toMatchObject(
    refused('could not be read in time'),
  )
})

test('what takes too much memory or dies is refused for good: another attempt would end in the same way', async () => {
  using folder = tempRepository({ 'long.txt': 'line\n'.repeat(30_000), 'short.txt': 'a' })
  folder.write('long.txt', 'new\n'.repeat(30_000))
  folder.write('short.txt', 'b')
  for (const words of ['took too much memory', 'ended without an answer']) {
    const { preview, diffs } = await openOver(folder.root, async () => {
      throw new WorkEnded(words)
    })
    const refused = {
      kind: 'refused',
      impossible: true,
      retryable: false,
      message: expect.stringContaining(`was stopped: it ${words}`),
    }
    await expect(preview('editFile', { path: 'short.txt', edits: [{ oldText: 'b', newText: 'c' }] })).rejects.toMatchObject(refused)
    await expect(preview('commit', { paths: ['long.txt'], message: 'm' })).rejects.toMatchObject(refused)
    await expect(preview('writeFile', { path: 'short.txt', content: 'x' })).resolves.toMatchObject({ fields: [{ field: 'short.txt' }] })
    expect(diffs.at(-1)?.budget?.leftMs, 'the rest of the time is for the other diffs').toBeGreaterThan(0)
  }
})

test('a change whose shortest diff is too long is refused for good, also when that is found after the time of the plan', async () => {
  // One line, so that its diff is found at once on any machine.
  using folder = tempRepository({ 'long.txt': `${'line '.repeat(30_000)}\n` })
  await using work = openTextWork()
  const { preview } = await openOver(folder.root, (job, input, options) => (options.budget ? noTime : patient(work))(job, input, options))
  await expect(preview('writeFile', { path: 'long.txt', content: `${'new '.repeat(30_000)}\n` })).rejects.toMatchObject({
    kind: 'refused',
    impossible: true,
    retryable: false,
    message: expect.stringContaining('is too long to be shown to anybody'),
  })
})

test('an edit waits for its turn, however long others keep the thread busy: an approved one does not fail for that', async () => {
  using folder = tempFolder({ 'a.txt': 'one\n' })
  await using work = openTextWork()
  const edit = fileWrites(createWorkspace({ root: folder.root, ignore: [], maxFileBytes: 1_000_000, work })).find(
    ({ name }) => name === 'editFile',
  )
  // More edits of a long text than can be made in that time, which is more than one edit itself may take.
  const text = `${'a'.repeat(1_000_000)}b`
  const one = { oldText: `${'a'.repeat(100)}b`, newText: `${'a'.repeat(100)}b` }
  const busy = work.run('edit', { text, edits: Array(100_000).fill(one), path: 'other.txt' }, { timeoutMs: 2_500 })
  const ended = expect(busy).rejects.toThrow('took longer than 2.5 seconds')
  const { signal } = new AbortController()
  const args = { path: 'a.txt', edits: [{ oldText: 'one', newText: 'two' }] }
  const done = edit?.execute(args, { actionId: 'act_1', idempotencyKey: 'key', principalId: undefined, signal })
  await expect(done).resolves.toMatchObject({ did: 'changed' })
  await ended
  expect(readFileSync(join(folder.root, 'a.txt'), 'utf8')).toBe('two\n')
})

test('a file out and in applies like the shortest diff', () => {
  for (const [before, after] of [
    ['a\nb', 'a\nc'],
    ['', 'a\n'],
    ['a', ''],
  ] as const) {
    using folder = tempFolder({ 'x.txt': before })
    execFileSync('git', ['apply', '--whitespace=nowarn', '-'], {
      cwd: folder.root,
      input: wholeDiff('x.txt', { text: before }, { text: after }),
    })
    expect(readFileSync(join(folder.root, 'x.txt'), 'utf8')).toBe(after)
  }
  expect(wholeDiff('x.txt', { text: 'a' }, { text: 'a' })).toBe('')
})
