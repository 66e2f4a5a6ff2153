// The sum of the counts of test runs. Built-in modules only: `.ci/run` calls it with whatever Node the machine has.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** `Tests: 5 passed, 0 failed, 1 skipped`. */
export const countsLine = ({ passed, failed, skipped }) =>
  `Tests: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

/** Adds the counts of one run to a file, one line of JSON per run, with what failed: `failures: [{ name, message }]`. */
export const noteCounts = (path, run, counts) => appendFileSync(path, `${JSON.stringify({ run, ...counts })}\n`)

/** The message and the first lines of its stack, without those of the test runner. */
function shorten(message) {
  const lines = message.split('\n').filter((line) => !/^\s+at .*node_modules/.test(line))
  const stack = lines.findIndex((line) => /^\s+at /.test(line))
  return lines
    .slice(0, stack < 0 ? undefined : stack + 3)
    .join('\n')
    .slice(0, 2_000)
}

/**
 * What failed in any run, each with the beginning of its message, and the names of all of them once more after that: where only the last
 * lines of a long log are kept, they name every test.
 */
export function failuresIn(path) {
  if (!existsSync(path)) return []
  const notes = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  const failures = notes.flatMap((line) => JSON.parse(line).failures ?? [])
  if (failures.length === 0) return []
  const messages = failures.map(({ name, message }) => `FAILED ${name}\n${shorten(message)}\n`)
  return failures.length === 1 ? messages : [...messages, `Failed:\n${failures.map(({ name }) => `  ${name}`).join('\n')}\n`]
}

/** The sum over the named runs. A run that left no counts, or ran no test, is one failure. */
export function addUp(path, runs) {
  const noted = existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []
  const sum = { passed: 0, failed: 0, skipped: 0 }
  for (const run of runs) {
    const counts = noted.filter((one) => one.run === run)
    for (const { passed, failed, skipped } of counts) {
      sum.passed += passed
      sum.failed += failed
      sum.skipped += skipped
    }
    if (!counts.some(({ passed, failed }) => passed + failed > 0)) {
      console.error(`${run} ran no test.`)
      sum.failed++
    }
  }
  return sum
}

if (process.argv[1]?.endsWith('counts.mjs')) {
  const [path, ...runs] = process.argv.slice(2)
  for (const failure of failuresIn(path)) console.log(failure)
  const sum = addUp(path, runs)
  console.log(countsLine(sum))
  process.exitCode = sum.failed > 0 || sum.passed === 0 ? 1 : 0
}
