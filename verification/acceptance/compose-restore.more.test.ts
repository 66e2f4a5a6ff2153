import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { expect, inject, test } from 'vitest'
import { runOn, startPostgres } from '../testing/postgres.ts'
import { findPostgresBinaries } from '../testing/postgres-binaries.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

/** Returns the commands that a page gives to the container of Postgres, without what hands them to it. */
function postgresCommands(page: string): string[] {
  const text = readFileSync(new URL(`../../docs/guides/${page}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^ *docker compose exec -T postgres (.+)$/gm)].map(([, command = '']) => command)
}

test.runIf(inject('database') === 'postgres')('a backup of Compose is restored as the guide says, and held', async () => {
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const cluster = stack.use(await startPostgres({ fsync: false }))
  const target = stack.use(await startTarget(() => ({ status: 200 })))
  const start = async () =>
    stack.use(
      await startTestServer({
        config: { tools: toolsOf(target) },
        place: { dataDir: folder, environment: { DATABASE_URL: cluster.url('countersign') } },
      }),
    )
  const { hostname, port, password } = new URL(cluster.url('postgres'))
  const PATH = `${findPostgresBinaries()}${delimiter}${process.env.PATH}`
  const run = (command: string) =>
    execFileSync('sh', ['-c', command], { cwd: folder, env: { PATH, PGHOST: hostname, PGPORT: port, PGPASSWORD: password } })
  await runOn(cluster.url('postgres'), 'create database countersign')

  const first = await start()
  const { id } = await first.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'once' } })
  await first.settle()
  const backUp = postgresCommands('upgrade.md')
  expect(backUp).toHaveLength(1)
  backUp.forEach(run)
  await first.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  expect(await first.admin.get(`/api/actions/${id}?wait=60&until=settled`)).toMatchObject({ state: 'succeeded' })
  await first.stop()

  const restore = postgresCommands('backup.md')
  expect(restore).toHaveLength(2)
  restore.forEach(run)
  const restored = await start()
  expect(await restored.admin.get('/api/hold')).toMatchObject({ held: true, open: { waiting: 1 } })
  expect(await runOn(cluster.url('before_restore'), `select state from action where id = '${id}'`)).toEqual([{ state: 'succeeded' }])
})
