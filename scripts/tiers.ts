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
  'packages/server/src/acceptance/archive',
  'packages/server/src/acceptance/authority',
  'packages/server/src/acceptance/backup',
  'packages/server/src/acceptance/broken-model',
  'packages/server/src/acceptance/checkpoint',
  'packages/server/src/acceptance/checkpoint-crash',
  'packages/server/src/acceptance/contested',
  'packages/server/src/acceptance/copies-postgres',
  'packages/server/src/acceptance/crash',
  'packages/server/src/acceptance/d4',
  'packages/server/src/acceptance/damage',
  'packages/server/src/acceptance/database-away',
  'packages/server/src/acceptance/forged-record',
  'packages/server/src/acceptance/full-disk',
  'packages/server/src/acceptance/generated-requests',
  'packages/server/src/acceptance/held',
  'packages/server/src/acceptance/histories',
  'packages/server/src/acceptance/inbox-command',
  'packages/server/src/acceptance/install',
  'packages/server/src/acceptance/lost-fetch',
  'packages/server/src/acceptance/mcp-closed',
  'packages/server/src/acceptance/mcp-conformance',
  'packages/server/src/acceptance/mcp-example',
  'packages/server/src/acceptance/mcp-media',
  'packages/server/src/acceptance/mcp-once',
  'packages/server/src/acceptance/mcp-stdio',
  'packages/server/src/acceptance/outcome-crash',
  'packages/server/src/acceptance/outcome-late',
  'packages/server/src/acceptance/outcome-late-sources',
  'packages/server/src/acceptance/overdue',
  'packages/server/src/acceptance/own-files',
  'packages/server/src/acceptance/parallel',
  'packages/server/src/acceptance/policy-processes',
  'packages/server/src/acceptance/processes',
  'packages/server/src/acceptance/sign-in-command',
  'packages/server/src/acceptance/streams',
  'packages/server/src/acceptance/unbounded-work',
  'packages/server/src/acceptance/upgrade',
  'packages/server/src/acceptance/webhook-delivery',
  'packages/server/src/acceptance/webhook-processes',
  'packages/server/src/agent/races',
  'packages/server/src/audit/sealer',
  'packages/server/src/campaign/bound/bound',
  'packages/server/src/campaign/disk/disk',
  'packages/server/src/campaign/doors/doors',
  'packages/server/src/campaign/features/features',
  'packages/server/src/campaign/fetches/fetches',
  'packages/server/src/campaign/kill/kill',
  'packages/server/src/campaign/pooler/pooler',
  'packages/server/src/campaign/power/power',
  'packages/server/src/campaign/simulation/planted',
  'packages/server/src/campaign/simulation/simulation',
  'packages/server/src/campaign/soak/soak',
  'packages/server/src/campaign/votes/votes',
  'packages/server/src/cli/held',
  'packages/server/src/cli/policy',
  'packages/server/src/dispatch/vanished',
  'packages/server/src/recordings/recordings',
  'packages/server/src/tools/github/generated-activity',
  'packages/server/src/tools/linear/generated',
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

/** What the vitest project of the browser's tests, or that of all other tests, includes and excludes in a tier. */
export function filesOf(tier: Tier, where: 'browser' | 'node', include: readonly string[]): { include: string[]; exclude: string[] } {
  const more = filesIn(MORE.filter((path) => isOfBrowser(path) === (where === 'browser')))
  return { include: tier === 'more' ? more : [...include], exclude: tier === 'first' ? more : [] }
}
