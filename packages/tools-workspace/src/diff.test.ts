import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { tempFolder } from '../../../verification/testing/workspace.ts'
import { unifiedDiff } from '../../toolkit/src/text-work/diff.ts'
import { applyEdits } from '../../toolkit/src/text-work/edits.ts'

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
