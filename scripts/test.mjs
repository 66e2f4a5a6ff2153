// `npm test` and `npm run test:more`, which is `--tier=more`: the tests of one tier (scripts/tiers.ts); the last line counts them.
// With filters, both reach the files of either tier, and leave the browser journeys out unless --e2e asks for them. `npm test -- --changed`
// runs those tests of its tier that import a file changed since the last commit; `--changed=main` since that branch.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { countsLine, noteCounts } from './counts.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const args = process.argv.slice(2)
const isMore = args.includes('--tier=more')
const filters = args.filter((arg) => arg !== '--e2e' && arg !== '--tier=more')
const isChangedOnly = filters.some((arg) => arg.startsWith('--changed'))
const isWhole = filters.length === 0 && !args.includes('--e2e')
const reports = mkdtempSync(join(tmpdir(), 'countersign-test-'))

const run = (modulePath, moduleArgs, env) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, 'node_modules', modulePath), ...moduleArgs], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...env },
    })
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })

const read = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined)

const plain = (text) => stripVTControlCharacters(String(text ?? ''))

function failuresOfFile({ name, status, message, assertionResults }) {
  const file = relative(root, name)
  const failed = assertionResults.filter((one) => one.status === 'failed')
  if (failed.length === 0) return status === 'failed' ? [{ name: file, message: plain(message) }] : []
  return failed.map((one) => ({ name: `${file} > ${one.fullName}`, message: plain(one.failureMessages?.join('\n')) }))
}

const failuresOfSuite = ({ suites = [], specs = [] }) => [
  ...suites.flatMap(failuresOfSuite),
  ...specs
    .filter(({ ok }) => !ok)
    .map(({ file, title, tests }) => {
      const errors = tests.flatMap(({ results }) => results).flatMap(({ errors }) => errors)
      return { name: `e2e/${file} > ${title}`, message: plain(errors.map((error) => error.message).join('\n')) }
    }),
]

async function runVitest() {
  const path = join(reports, 'vitest.json')
  const code = await run('vitest/vitest.mjs', ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${path}`, ...filters], {
    COUNTERSIGN_TEST_TIER: isWhole || isChangedOnly ? (isMore ? 'more' : 'first') : 'all',
  })
  const report = read(path)
  // A file that fails before its first test has no test to count, and is a failure all the same.
  const broken = report?.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((one) => one.status !== 'failed'),
  )
  return {
    code,
    passed: report?.numPassedTests ?? 0,
    failed: (report?.numFailedTests ?? 0) + (broken?.length ?? 0),
    skipped: (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0),
    failures: report?.testResults.flatMap(failuresOfFile) ?? [],
  }
}

async function runPlaywright() {
  const path = join(reports, 'playwright.json')
  const code = await run('@playwright/test/cli.js', ['test', '--reporter=list,json'], {
    PLAYWRIGHT_JSON_OUTPUT_FILE: path,
    NODE_OPTIONS: '--conditions=countersign-source --disable-warning=ExperimentalWarning',
  })
  const report = read(path)
  const { stats, errors } = report ?? {}
  return {
    code,
    passed: stats?.expected ?? 0,
    failed: (stats?.unexpected ?? 0) + (stats?.flaky ?? 0) + (errors?.length ?? 0),
    skipped: stats?.skipped ?? 0,
    failures: failuresOfSuite(report ?? {}),
  }
}

const hasJourneys = existsSync(join(root, 'e2e')) && readdirSync(join(root, 'e2e')).some((name) => name.endsWith('.spec.ts'))
const results = [await runVitest()]
if (hasJourneys && (isWhole ? isMore : args.includes('--e2e'))) results.push(await runPlaywright())
rmSync(reports, { recursive: true })

const sum = (key) => results.reduce((total, result) => total + result[key], 0)
// A runner that ends badly with nothing to show for it (an unhandled error, a crash) still counts as one failure.
const unexplained = results.filter((result) => result.code !== 0 && result.failed === 0).length
const [passed, failed, skipped] = [sum('passed'), sum('failed') + unexplained, sum('skipped')]
if (passed + failed === 0) console.log(isChangedOnly ? '\nNo test depends on what changed.' : '\nNo test ran.')
if (process.env.COUNTERSIGN_TEST_COUNTS)
  noteCounts(process.env.COUNTERSIGN_TEST_COUNTS, isMore ? 'test:more' : 'test', {
    ...{ passed, failed, skipped },
    failures: results.flatMap(({ failures }) => failures),
  })
console.log(`\n${countsLine({ passed, failed, skipped })}`)
process.exitCode = failed > 0 || (passed === 0 && !isChangedOnly) ? 1 : 0
