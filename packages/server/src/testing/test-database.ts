import { inject } from 'vitest'
import { createDatabase, dropDatabase } from './postgres.ts'

/** An empty Postgres database that goes with the test. */
export interface TestDatabase extends AsyncDisposable {
  url: string
}

/** Makes a database on the test run's server, which starts when the first test asks. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const answer = await fetch(inject('postgresDesk'))
  const said = await answer.text()
  if (!answer.ok) throw new Error(said)
  const url = await createDatabase(said)
  return { url, [Symbol.asyncDispose]: () => dropDatabase(url) }
}
