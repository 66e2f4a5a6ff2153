/** Which test files run: those of `npm test`, those of `npm run test:more`, or all. */
export type Tier = 'first' | 'more' | 'all'

/** @throws Error for anything but a tier. */
export function readTier(value: string | undefined): Tier {
  if (value === undefined || value === 'all') return 'all'
  if (value === 'first' || value === 'more') return value
  throw new Error(`COUNTERSIGN_TEST_TIER is ${value}, but can only be first, more or all`)
}

/**
 * True for a test file that `npm test` leaves to `npm run test:more`: servers killed and started again, races, whole programs of others,
 * campaigns, sweeps over many pages. Its name ends with `.more.test.ts`. Acceptance tests on Postgres and browser journeys always belong there.
 */
export const isMore = (path: string): boolean => /\.more\.test\.tsx?$/.test(path)

/** Returns the patterns that a vitest project includes and excludes in a tier. @param include Patterns that end with `.test.{ts,tsx}`. */
export function filesOf(tier: Tier, include: readonly string[]): { include: string[]; exclude: string[] } {
  const more = include.map((pattern) => pattern.replace('.test.{ts,tsx}', '.more.test.{ts,tsx}'))
  return { include: tier === 'more' ? more : [...include, ...more], exclude: tier === 'first' ? more : [] }
}
