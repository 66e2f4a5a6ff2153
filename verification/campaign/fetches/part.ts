import { createDatabase, dropDatabase, startPostgres } from '../../testing/postgres.ts'
import type { Part } from '../part.ts'
import { runFetches } from './run-fetches.ts'

const ACTIONS = 1_000
const PROCESSES = 3
/** The number of fetches that must lose their answer. */
const CUTS = 100

/** Cuts off the answers to job fetches on Postgres: no approved action may stay where it is. */
export const fetchesPart: Part = async ({ seed, minutes, database, say }) => {
  if (database === 'sqlite') return { violations: [], missing: [], figures: 'only on Postgres' }
  await using cluster = await startPostgres({ fsync: false })
  const databaseUrl = await createDatabase(cluster.url('postgres'))
  try {
    const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
    const { violations, ...figures } = await runFetches({ databaseUrl, seed, actions: ACTIONS, processes: PROCESSES, endsAt })
    say(`fetches: ${figures.approved} actions, ${figures.cut} of ${figures.fetches} fetches without an answer`)
    const missing = figures.cut < CUTS ? [`${figures.cut} fetches lost their answer, ${CUTS} are needed`] : []
    return { violations, missing, figures }
  } finally {
    await dropDatabase(databaseUrl)
  }
}
