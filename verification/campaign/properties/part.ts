import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CampaignDatabase } from '../../crash/database.ts'
import { runModule } from '../../testing/run-command.ts'
import type { Part } from '../part.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')

/** How often a whole run draws everything afresh. */
const ROUNDS = 20

/** The parts of the test runner's report that are used here. */
interface TestReport {
  numPassedTests: number
  testResults: { name: string; message?: string; assertionResults: { status: string; fullName: string; failureMessages?: string[] }[] }[]
}

/** The property tests and the races of the default suite, which draws the same each time: here each round has another seed. */
export const propertiesPart: Part = async ({ seed, minutes, database, say }) => {
  const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
  const files = propertyTests()
  const violations: string[] = []
  let rounds = 0
  let passed = 0
  while (rounds < ROUNDS && Date.now() < endsAt) {
    const drawn = seed + rounds++
    const report = await runTests(files, drawn, database)
    passed += report.numPassedTests
    const failed = failuresOf(report).map((failure) => `seed ${drawn}: ${failure}`)
    violations.push(...failed)
    for (const failure of failed) say(failure)
    say(`properties: round ${rounds}, ${passed} passed, ${violations.length} failed`)
  }
  const missing = passed >= rounds ? [] : [`${passed} tests passed in ${rounds} rounds`]
  return { violations, missing, figures: { rounds, files: files.length, passed, failed: violations.length } }
}

const propertyTests = (): string[] =>
  ['packages', 'apps', 'examples'].flatMap((place) =>
    readdirSync(join(ROOT, place), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.test\.tsx?$/.test(path) && !path.includes('node_modules'))
      .map((path) => join(place, path))
      .filter((path) => /from 'fast-check'|inject\('propertySeed'\)/.test(readFileSync(join(ROOT, path), 'utf8'))),
  )

async function runTests(files: readonly string[], seed: number, database: CampaignDatabase['kind'] | undefined): Promise<TestReport> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-properties-'))
  try {
    const outputFile = join(folder, 'report.json')
    const projects = database === undefined ? ['node', 'postgres'] : [database === 'sqlite' ? 'node' : 'postgres']
    const flags = ['--root', ROOT, ...projects.flatMap((name) => ['--project', name]), '--reporter=json', `--outputFile=${outputFile}`]
    await runModule([VITEST, 'run', ...flags, ...files], { PATH: process.env.PATH ?? '', COUNTERSIGN_TEST_SEED: String(seed) })
    return JSON.parse(readFileSync(outputFile, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const failuresOf = ({ testResults }: TestReport): string[] =>
  testResults.flatMap(({ name, message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed')
    if (assertionResults.length === 0) return [`${name}: ${message}`]
    return failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages?.[0] ?? ''}`)
  })
