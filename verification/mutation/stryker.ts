import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMPILE_CACHE } from '../testing/compile-cache.ts'
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

/** The databases of tests: no mutant waits for a disk. */
const IN_MEMORY = existsSync('/dev/shm') ? { TMPDIR: '/dev/shm' } : {}

/** Runs all mutants of a batch against its tests, one after the other, in the copy. */
export async function runStryker({ path, root, batch, untilMs }: Run): Promise<BatchResult> {
  const modules = join(root, 'scripts', 'mutation')
  const resultsFile = join(path, 'mutation-results.jsonl')
  writeFileSync(resultsFile, '')
  writeFileSync(join(path, 'vitest.mutation.config.ts'), vitestConfig(batch))
  writeFileSync(join(path, 'stryker.config.json'), JSON.stringify(strykerConfig(modules, batch.files)))
  const child = spawn(
    process.execPath,
    [join(modules, 'node_modules/@stryker-mutator/core/bin/stryker.js'), 'run', 'stryker.config.json'],
    {
      cwd: path,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...COMPILE_CACHE, ...IN_MEMORY, COUNTERSIGN_MUTATION_RESULTS: resultsFile },
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
  // The dry run finds which tests reach a mutant; looking up the importers of its file for each mutant adds nothing to that.
  vitest: { configFile: 'vitest.mutation.config.ts', related: false },
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

/**
 * The first test that fails ends the run of a mutant, so the files come in the order of the batch. They share one worker, which is new for
 * each mutant: the server's modules are evaluated once per mutant and not once per file.
 */
const vitestConfig = ({ tests }: Batch): string => `
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
const tests = ${JSON.stringify(tests)}
const rank = ({ moduleId }) => tests.findIndex((file) => moduleId.endsWith('/' + file))
class LikeliestFirst extends BaseSequencer {
  async sort(files) {
    return [...files].sort((a, b) => rank(a) - rank(b))
  }
}
export default defineConfig({
  ssr: { resolve: { conditions: ['countersign-source', ...defaultServerConditions] } },
  test: {
    environment: 'node',
    include: tests,
    isolate: false,
    sequence: { sequencer: LikeliestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    setupFiles: ['scripts/fixed-seed.ts', 'verification/testing/idle-connections.ts'],
    globalSetup: ['verification/testing/postgres-server.ts'],
    provide: { propertySeed: 20_261_121, database: 'sqlite' },
  },
})
`
