import type { Part, PartReport } from '../part.ts'
import { FAILURES } from './failures.ts'
import type { NamedTest, PlantedBug } from './planted-failure.ts'
import { type Ended, runTests } from './run-tests.ts'
import { copyTree, type Tree } from './tree.ts'

/** Says that the program broke or stood still, not that a promise was. */
const NO_REASON = /^(?:SyntaxError|ReferenceError|TypeError(?!: (?:fetch failed|\.to)))/
/** So long a test may wait for what never comes: many times what it takes otherwise. */
const WAITS_MS = 20_000
const TOO_LONG = /^(?:TestTimeout)?Error: (?:Test|Hook) timed out/

/**
 * Every failure of others that could be ours, planted one at a time in a copy of the sources: the test that is named for it has to pass
 * without it and to fail with it.
 */
export const failuresPart: Part = async ({ minutes = Number.POSITIVE_INFINITY, bug: wanted = '', say }) => {
  const report: PartReport = { violations: [], missing: [], figures: {} }
  const since = performance.now()
  const bugs = FAILURES.flatMap(({ bugs }) => bugs).filter(({ bug }) => RegExp(wanted, 'u').test(bug))
  await using tree = await copyTree()
  const tests = [...new Map(bugs.map(({ test }) => [keyOf(test), test])).values()]
  const sound = await runTests(tree.root, tests)
  for (const test of tests) {
    const ended = find(sound, test)
    if (!ended?.passed)
      report.violations.push(`without any bug, ${keyOf(test)} ${ended ? `fails: ${firstLine(ended.message)}` : 'is not there'}`)
  }
  say(`failures: ${tests.length} tests without a bug, ${report.violations.length} that do not pass`)

  const noticed: Record<string, string> = {}
  let planted = 0
  for (const bug of bugs) {
    if (performance.now() - since > minutes * 60_000) break
    planted++
    const words = await notice(tree, bug)
    if ('problem' in words) report.violations.push(`${bug.bug}: ${words.problem}`)
    else noticed[bug.bug] = words.said
    say(`failures: ${planted} of ${bugs.length}, ${bug.bug}: ${'problem' in words ? `NOT NOTICED, ${words.problem}` : words.said}`)
  }
  if (planted < bugs.length) report.missing.push(`${planted} bugs planted, there are ${bugs.length}`)
  report.figures = {
    failures: FAILURES.length,
    bugs: bugs.length,
    planted,
    noticed: Object.keys(noticed).length,
    tests: tests.length,
    said: noticed,
  }
  return report
}

async function notice(tree: Tree, { patches, test, waits }: PlantedBug): Promise<{ said: string } | { problem: string }> {
  const takeBack = await tree.plant(patches)
  try {
    const ended = find(await runTests(tree.root, [test], waits && WAITS_MS), test)
    if (!ended) return { problem: `${keyOf(test)} did not run` }
    if (ended.passed) return { problem: `${keyOf(test)} passes with it` }
    const said = firstLine(ended.message)
    return NO_REASON.test(said) || TOO_LONG.test(said) !== (waits === true)
      ? { problem: `${keyOf(test)} fails for no reason of its own: ${said}` }
      : { said }
  } finally {
    await takeBack()
  }
}

const keyOf = ({ file, name }: NamedTest): string => `"${name}" (${file})`

const find = (ended: readonly Ended[], { file, name }: NamedTest): Ended | undefined =>
  ended.find((one) => one.file === file && one.name === name)

const firstLine = (message: string): string => message.split('\n', 1)[0] ?? ''
