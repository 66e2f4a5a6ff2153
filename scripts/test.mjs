// `npm test [-- filter … --e2e]`: the unit tests, then the browser journeys; the last line adds both up.
// A filter is handed to vitest and leaves the journeys out, unless --e2e asks for them.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const args = process.argv.slice(2)
const filters = args.filter((arg) => arg !== '--e2e')
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

async function runVitest() {
  const path = join(reports, 'vitest.json')
  const code = await run('vitest/vitest.mjs', ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${path}`, ...filters])
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
  }
}

async function runPlaywright() {
  const path = join(reports, 'playwright.json')
  const code = await run('@playwright/test/cli.js', ['test', '--reporter=list,json'], {
    PLAYWRIGHT_JSON_OUTPUT_FILE: path,
    NODE_OPTIONS: '--conditions=countersign-source --disable-warning=ExperimentalWarning',
  })
  const { stats, errors } = read(path) ?? {}
  return {
    code,
    passed: stats?.expected ?? 0,
    failed: (stats?.unexpected ?? 0) + (stats?.flaky ?? 0) + (errors?.length ?? 0),
    skipped: stats?.skipped ?? 0,
  }
}

const hasJourneys = existsSync(join(root, 'e2e')) && readdirSync(join(root, 'e2e')).some((name) => name.endsWith('.spec.ts'))
const results = [await runVitest()]
if (hasJourneys && (filters.length === 0 || args.includes('--e2e'))) results.push(await runPlaywright())
rmSync(reports, { recursive: true })

const sum = (key) => results.reduce((total, result) => total + result[key], 0)
// A runner that ends badly with nothing to show for it (an unhandled error, a crash) still counts as one failure.
const unexplained = results.filter((result) => result.code !== 0 && result.failed === 0).length
const [passed, failed, skipped] = [sum('passed'), sum('failed') + unexplained, sum('skipped')]
if (passed + failed === 0) console.log('\nNo test ran.')
console.log(`\nTests: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
