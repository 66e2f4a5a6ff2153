import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

/** Returns the command's output for these lines, and its exit code. */
function addUp(...lines: object[]) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-counts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'counts')
  if (lines.length > 0) writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const { stdout, status } = spawnSync(process.execPath, [join(import.meta.dirname, 'counts.mjs'), path, 'test', 'test:more'])
  return [`${stdout}`, status]
}

const first = { run: 'test', passed: 5, failed: 0, skipped: 1 }
const more = { run: 'test:more', passed: 2, failed: 0, skipped: 0 }

test('the last line of both parts adds them up', () => {
  expect(addUp(first, more)).toEqual(['Tests: 7 passed, 0 failed, 1 skipped\n', 0])
  expect(addUp(first, { ...more, failed: 3 })).toEqual(['Tests: 7 passed, 3 failed, 1 skipped\n', 1])
})

test('a part that left no counts, or ran no test, is a failure', () => {
  expect(addUp(first)).toEqual(['Tests: 5 passed, 1 failed, 1 skipped\n', 1])
  expect(addUp(first, { ...more, passed: 0 })).toEqual(['Tests: 5 passed, 1 failed, 1 skipped\n', 1])
  expect(addUp()).toEqual(['Tests: 0 passed, 2 failed\n', 1])
})

test('what failed in either part stands before the last line, with its message', () => {
  const failures = [{ name: 'a.test.ts > it holds', message: 'expected 1 to be 2' }]
  expect(addUp({ ...first, failed: 1, failures }, more)).toEqual([
    'FAILED a.test.ts > it holds\nexpected 1 to be 2\n\nTests: 7 passed, 1 failed, 1 skipped\n',
    1,
  ])
})

test('where more than one failed, all names stand together at the end, and the lines of the test runner are left out', () => {
  const stack = '    at task (/src/app/node_modules/vitest/dist/run.js:1:1)\n    at read (/src/app/packages/core/src/a.ts:2:1)'
  const failures = ['a.test.ts > it holds', 'b.test.ts > it ends'].map((name) => ({ name, message: `timed out\n${stack}` }))
  const [output] = addUp({ ...first, failed: 2, failures }, more)
  expect(output).toContain('\nFailed:\n  a.test.ts > it holds\n  b.test.ts > it ends\n\nTests: 7 passed, 2 failed, 1 skipped\n')
  expect(output).toContain('timed out\n    at read (')
  expect(output).not.toContain('node_modules')
})
