import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Location } from './identify.ts'
import type { Batch } from './targets.ts'

/** The result of one mutant. */
export interface MutantResult {
  file: string
  mutator: string
  replacement: string
  status: string
  location: Location
}

export interface BatchResult {
  results: MutantResult[]
  /** How many mutants there are in its files; undefined where it did not get as far. */
  planned: number | undefined
  /** Why it ended before all were tried. Undefined: all were. */
  stopped: 'time is up' | 'Stryker failed' | undefined
  /** The end of Stryker's own output, where it failed. */
  output: string
}

interface Run {
  /** The copy of the repository. */
  path: string
  /** The repository, for what is installed in it. */
  root: string
  batch: Batch
  untilMs: number
}

/** Runs all mutants of a batch against its tests, one after the other, in the copy. */
export async function runStryker({ path, root, batch, untilMs }: Run): Promise<BatchResult> {
  const modules = join(root, 'scripts', 'mutation')
  const resultsFile = join(path, 'mutation-results.jsonl')
  writeFileSync(resultsFile, '')
  writeFileSync(join(path, 'vitest.mutation.config.ts'), vitestConfig(batch.tests))
  writeFileSync(join(path, 'stryker.config.json'), JSON.stringify(strykerConfig(modules, batch.files)))
  const child = spawn(
    process.execPath,
    [join(modules, 'node_modules/@stryker-mutator/core/bin/stryker.js'), 'run', 'stryker.config.json'],
    {
      cwd: path,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, COUNTERSIGN_MUTATION_RESULTS: resultsFile },
    },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output = `${output}${text}`.slice(-4_000)))
  let isLate = false
  const timer = setTimeout(
    () => {
      isLate = true
      // Its own process group: the runner that hangs in a mutant ends with it.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    },
    Math.max(0, Math.min(untilMs - Date.now(), 2 ** 31 - 1)),
  )
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  clearTimeout(timer)
  const lines = readLines(resultsFile)
  const results = lines.filter((line): line is MutantResult => 'status' in line)
  const planned = lines.find((line): line is { planned: number } => 'planned' in line)?.planned
  return { results, planned, stopped: isLate ? 'time is up' : code === 0 ? undefined : 'Stryker failed', output }
}

const readLines = (file: string): (MutantResult | { planned: number })[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line))
    : []

const strykerConfig = (modules: string, files: readonly string[]) => ({
  testRunner: 'vitest',
  plugins: [join(modules, 'node_modules/@stryker-mutator/vitest-runner/dist/src/index.js'), join(modules, 'plugins.mjs')],
  reporters: ['lines'],
  vitest: { configFile: 'vitest.mutation.config.ts', related: true },
  mutate: files,
  ignorers: ['sentences'],
  inPlace: true,
  concurrency: 1,
  coverageAnalysis: 'perTest',
  timeoutMS: 10_000,
  dryRunTimeoutMinutes: 20,
  allowEmpty: true,
  disableTypeChecks: false,
  checkers: [],
  allowConsoleColors: false,
})

const vitestConfig = (tests: readonly string[]): string => `
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
export default defineConfig({
  ssr: { resolve: { conditions: ['countersign-source', ...defaultServerConditions] } },
  test: {
    environment: 'node',
    include: ${JSON.stringify(tests)},
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    setupFiles: 'scripts/fixed-seed.ts',
    globalSetup: ['verification/testing/postgres-server.ts'],
    provide: { propertySeed: 20_261_121, database: 'sqlite' },
  },
})
`
