import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { NamedTest } from './planted-failure.ts'

/** How one test ended. */
export interface Ended {
  file: string
  name: string
  passed: boolean
  /** What it said when it failed. */
  message: string
}

interface Report {
  testResults: { name: string; assertionResults: { title: string; status: string; failureMessages: string[] | null }[] }[]
}

/**
 * Runs these tests and no others in a copy of the repository.
 * @param timeoutMs How long a test may take; default as everywhere.
 * @throws Error with what the runner said when it could not run them.
 */
export async function runTests(root: string, tests: readonly NamedTest[], timeoutMs?: number): Promise<Ended[]> {
  const ended: Ended[] = []
  // The tests in a browser are a project of their own.
  for (const project of ['node', 'browser']) {
    const chosen = tests.filter(({ file }) => file.includes('.browser.') === (project === 'browser'))
    if (chosen.length > 0) ended.push(...(await runProject(root, project, chosen, timeoutMs)))
  }
  return ended
}

async function runProject(root: string, project: string, tests: readonly NamedTest[], timeoutMs?: number): Promise<Ended[]> {
  const files = [...new Set(tests.map(({ file }) => file))]
  const names = [...new Set(tests.map(({ name }) => `${RegExp.escape(name)}$`))].join('|')
  const output = join(root, 'failures.json')
  await rm(output, { force: true })
  const program = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const args = ['run', '--project', project, '-t', names, '--reporter=json', `--outputFile=${output}`]
  if (timeoutMs !== undefined) args.push(`--testTimeout=${timeoutMs}`)
  const runner = spawn(process.execPath, [program, ...args, ...files], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] })
  const [said] = await Promise.all([text(runner.stderr), once(runner, 'close')])
  const report = await readFile(output, 'utf8').catch(() => {
    throw new Error(`the tests of ${files.join(', ')} did not run: ${said}`)
  })
  return read(JSON.parse(report), root)
}

const read = ({ testResults }: Report, root: string): Ended[] =>
  testResults.flatMap(({ name: path, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed' || status === 'failed')
      .map(({ title, status, failureMessages }) => ({
        file: path.slice(join(root, '/').length),
        name: title,
        passed: status === 'passed',
        message: failureMessages?.[0] ?? '',
      })),
  )
