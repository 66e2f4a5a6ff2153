import { once } from 'node:events'
import { createServer } from 'node:http'
import type { TestProject } from 'vitest/node'
import { type PostgresCluster, startPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * Whoever asks here is told the URL of the run's database server, which starts with the first who asks; at `circles/NAME`, what is known
     * of circles in a database: see `takeCircles`.
     */
    postgresDesk: string
  }
}

/** Nobody cuts the power here, and no database lives long enough to be cleaned up: each is made and gone in half the time. */
const SHORT_LIVED = { autovacuum: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: 0, max_wal_size: '2GB' } as const

/** The test run's one database server. It belongs to the runner, so that a killed worker leaves nothing behind. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let cluster: Promise<PostgresCluster> | undefined
  const desk = createServer(({ url: path = '/' }, response) => {
    // On a slow machine a connection may be closed just as it is used again.
    response.setHeader('connection', 'close')
    const database = /^\/circles\/(\w+)$/.exec(path)?.[1]
    cluster ??= startPostgres({ fsync: false, settings: SHORT_LIVED })
    cluster.then(
      ({ url, takeCircles }) => response.end(database === undefined ? url('postgres') : JSON.stringify(takeCircles(database))),
      (error) => response.writeHead(500).end(String(error)),
    )
  })
  desk.listen(0, '127.0.0.1')
  await once(desk, 'listening')
  const address = desk.address()
  if (address === null || typeof address === 'string') throw new Error('the loopback gave no port')
  provide('postgresDesk', `http://127.0.0.1:${address.port}/`)
  return async () => {
    desk.close()
    await (await cluster)?.[Symbol.asyncDispose]()
  }
}
