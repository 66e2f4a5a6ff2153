/**
 * The tests that `npm test` leaves to `npm run test:more`, by path without its ending: servers killed and started again, races, whole
 * programs of others, campaigns, sweeps over many pages. `npm run test:more` also runs the acceptance tests on Postgres and the browser journeys. A test file that
 * is not named here belongs to `npm test`.
 */
export const MORE: readonly string[] = [
  'apps/web/src/held/held.browser',
  'apps/web/src/held/held-pages.browser',
  'apps/web/src/rendered.browser',
  'packages/react/src/changes.browser',
  'packages/react/src/looks.browser',
  'verification/acceptance/archive',
  'verification/acceptance/authority',
  'verification/acceptance/backup',
  'verification/acceptance/broken-model',
  'verification/acceptance/checkpoint',
  'verification/acceptance/checkpoint-crash',
  'verification/acceptance/contested',
  'verification/acceptance/copies-postgres',
  'verification/acceptance/crash',
  'verification/acceptance/d4',
  'verification/acceptance/damage',
  'verification/acceptance/database-away',
  'verification/acceptance/docker',
  'verification/acceptance/forged-record',
  'verification/acceptance/full-disk',
  'verification/acceptance/generated-requests',
  'verification/acceptance/held',
  'verification/acceptance/histories',
  'verification/acceptance/inbox-command',
  'verification/acceptance/install',
  'verification/acceptance/lost-fetch',
  'verification/acceptance/mcp-closed',
  'verification/acceptance/mcp-conformance',
  'verification/acceptance/mcp-example',
  'verification/acceptance/mcp-media',
  'verification/acceptance/mcp-once',
  'verification/acceptance/mcp-stdio',
  'verification/acceptance/outcome-crash',
  'verification/acceptance/outcome-late',
  'verification/acceptance/outcome-late-sources',
  'verification/acceptance/overdue',
  'verification/acceptance/own-files',
  'verification/acceptance/parallel',
  'verification/acceptance/policy-processes',
  'verification/acceptance/processes',
  'verification/acceptance/sign-in-command',
  'verification/acceptance/streams',
  'verification/acceptance/tutorial',
  'verification/acceptance/unbounded-work',
  'verification/acceptance/upgrade',
  'verification/acceptance/webhook-delivery',
  'verification/acceptance/webhook-processes',
  'packages/server/src/agent/races',
  'packages/server/src/audit/sealer',
  'verification/campaign/bound/bound',
  'verification/campaign/disk/disk',
  'verification/campaign/doors/doors',
  'verification/campaign/features/features',
  'verification/campaign/fetches/fetches',
  'verification/crash/kill',
  'verification/campaign/pooler/pooler',
  'verification/campaign/power/power',
  'verification/simulation/planted',
  'verification/simulation/simulation',
  'verification/campaign/soak/soak',
  'verification/campaign/votes/votes',
  'packages/server/src/cli/held',
  'packages/server/src/cli/init',
  'packages/server/src/cli/policy',
  'packages/server/src/dispatch/cluster/vanished',
  'verification/recordings/recordings',
  'scripts/docs/site',
  'scripts/release/release',
  'packages/tools-github/src/generated-activity',
  'packages/tools-linear/src/generated',
]

/** Which test files run: those of `npm test`, those of `npm run test:more`, or all. */
export type Tier = 'first' | 'more' | 'all'

/** @throws Error for anything but a tier. */
export function readTier(value: string | undefined): Tier {
  if (value === undefined || value === 'all') return 'all'
  if (value === 'first' || value === 'more') return value
  throw new Error(`COUNTERSIGN_TEST_TIER is ${value}, but can only be first, more or all`)
}

const isOfBrowser = (path: string) => path.endsWith('.browser')
const filesIn = (paths: readonly string[]) => paths.map((path) => `${path}.test.ts`)

/** Returns the files that a vitest project (browser tests or all others) includes and excludes in a tier. */
export function filesOf(tier: Tier, where: 'browser' | 'node', include: readonly string[]): { include: string[]; exclude: string[] } {
  const more = filesIn(MORE.filter((path) => isOfBrowser(path) === (where === 'browser')))
  return { include: tier === 'more' ? more : [...include], exclude: tier === 'first' ? more : [] }
}
