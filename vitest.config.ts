import { existsSync } from 'node:fs'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import './scripts/chromium.ts'
import { SlowestFirst } from './scripts/slowest-first.ts'
import { filesOf, readTier } from './scripts/tiers.ts'
import { COMPILE_CACHE } from './verification/testing/compile-cache.ts'

// The recorded model streams of other projects are beside the repository, not in it. Without them, the other tests run and a warning names
// the missing ones. CI requires them.
const RECORDED = [
  'packages/server/src/models/replay',
  'packages/server/src/models/broken',
  'packages/server/src/models/chunking',
  'packages/server/src/models/errors',
  'packages/server/src/models/reasoning-details',
  'packages/server/src/models/refusals',
  'packages/tools-linear/src/schema',
  'packages/tools-mcp/src/recorded',
  'verification/campaign/openapi/openapi',
  'verification/recordings/clients',
  'verification/recordings/event-source',
  'verification/recordings/recordings',
  'verification/recordings/requests',
].map((name) => `${name}{,.more}.test.ts`)
const isWithoutRecordings = process.env.CI === undefined && !existsSync(new URL('../shared/fixtures/llm/INDEX.json', import.meta.url))
if (isWithoutRecordings) console.warn(`Left out, because ../shared/fixtures is not there: ${RECORDED.join(', ')}\n`)

// These tests of models, tools and HTTP do not depend on the database, so they run on SQLite only.
const ON_ANY_DATABASE = [
  'acp',
  'acp-hostile',
  'acp-schema',
  'api-documents',
  'authority',
  'before-after',
  'before-after-route',
  'brain',
  'broken-model',
  'claude-agent-sdk',
  'client',
  'codex-app-server',
  'completion',
  'costly-bodies',
  'deploy-page',
  'docker',
  'eve',
  'fallback',
  'foreign-pages',
  'gate-adapters',
  'gate-guide',
  'github',
  'headlines',
  'histories',
  'identity',
  'inputs',
  'install',
  'key-scopes',
  'late-bodies',
  'linear',
  'linear-records',
  'many-waiting',
  'mcp',
  'mcp-authority',
  'mcp-conformance',
  'mcp-example',
  'mcp-gateway',
  'mcp-gateway-releases',
  'mcp-media',
  'mcp-stdio',
  'models-example',
  'nginx',
  'oidc',
  'openapi',
  'opencode-bridge',
  'origins',
  'own-files',
  'patches',
  'prompt-cache',
  'python-client',
  'reasoning-details',
  'refused-calls',
  'safe-methods',
  'sign-in-command',
  'terminal',
  'tutorial',
  'typed-client',
  'typed-words',
  'typed-words-shown',
  'unbounded-work',
  'web-and-mcp-hooks',
  'workspace',
].map((name) => `verification/acceptance/${name}{,.more}.test.ts`)

// Workers, and the processes that tests start, take over each other's compiled modules.
process.env.NODE_COMPILE_CACHE = COMPILE_CACHE.NODE_COMPILE_CACHE

const places = ['packages', 'apps', 'bench', 'examples', 'scripts', 'verification']
const tests = (ending: string): string[] => places.map((place) => `${place}/**/*${ending}`)

// Which of the two commands runs: see scripts/tiers.ts. By hand, all tests are there.
const tier = readTier(process.env.COUNTERSIGN_TEST_TIER)
// They count what their whole process does, so what an earlier file left running or remembered would be counted as well.
const ALONE = ['packages/server/src/cycle-cost.test.ts']
const onNode = filesOf(tier, tests('.test.{ts,tsx}'))
const inBrowser = filesOf(tier, tests('.browser.test.{ts,tsx}'))

export default defineConfig({
  ssr: { resolve: { conditions: ['countersign-source', ...defaultServerConditions] } },
  test: {
    environment: 'node',
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // A timeout is there to end what hangs; a slow machine is no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
    // A message names the whole of what was found, up to here: `[ …(2) ]` in the log of a failure that does not come again says nothing.
    chaiConfig: { truncateThreshold: 1_000 },
    // All projects side by side: a worker that would be idle at the end of one is busy with the next. One more than the cores of the smallest
    // machine: with two, a third of both stood idle while tests waited for databases, disks and processes.
    maxWorkers: 3,
    // A worker evaluates a module once and not for every file that imports it: this halved the time of the tests. A test puts back what it
    // changes in a module or in the process.
    isolate: false,
    sequence: { sequencer: SlowestFirst },
    setupFiles: ['scripts/fixed-seed.ts', 'verification/testing/idle-connections.ts'],
    // A failure of a property names this seed; another one: `COUNTERSIGN_TEST_SEED=7 npm test -- races`.
    provide: { propertySeed: Number(process.env.COUNTERSIGN_TEST_SEED ?? 20_261_121) },
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          include: onNode.include,
          exclude: [
            ...['**/node_modules/**', '**/dist/**', ...tests('.browser{,.more}.test.{ts,tsx}')],
            ...(isWithoutRecordings ? RECORDED : []),
            ...ALONE,
            ...onNode.exclude,
          ],
          globalSetup: ['verification/testing/postgres-server.ts', 'verification/testing/compile-once.ts'],
          provide: { database: 'sqlite' },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: tier === 'more' ? [] : ALONE,
          globalSetup: 'verification/testing/postgres-server.ts',
          provide: { database: 'sqlite' },
          isolate: true,
        },
      },
      {
        // The promises over HTTP hold on Postgres too, and so do the races.
        extends: true,
        test: {
          name: 'postgres',
          include: tier === 'first' ? [] : ['verification/acceptance/*.test.ts', 'packages/server/src/agent/races.more.test.ts'],
          exclude: ON_ANY_DATABASE,
          globalSetup: 'verification/testing/postgres-server.ts',
          provide: { database: 'postgres' },
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: inBrowser.include,
          exclude: ['**/node_modules/**', '**/dist/**', ...inBrowser.exclude],
        },
      },
    ],
  },
})
