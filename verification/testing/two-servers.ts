import { openServerDatabase } from './test-database.ts'
import { startTestServer, type TestServer, temporaryFolder } from './test-server.ts'

/** Two server processes on one Postgres and one data folder, with an agent that says *Done.* On SQLite there is one process at a time. */
export async function startTwoServers(): Promise<{ here: TestServer; there: TestServer } & AsyncDisposable> {
  const stack = new AsyncDisposableStack()
  const database = stack.use(await openServerDatabase())
  const folder = stack.use(temporaryFolder())
  const options = {
    config: { agents: { desk: { model: 'scripted/desk.json' } } },
    scripts: { desk: [{ text: 'Done.' }] },
    place: { dataDir: folder.path, environment: database.environment },
  }
  const here = stack.use(await startTestServer(options))
  const there = stack.use(await startTestServer(options))
  return { here, there, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
