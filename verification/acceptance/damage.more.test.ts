import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { assert } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { createDatabase, runOn, startPostgres } from '../testing/postgres.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

const isPostgres = inject('database') === 'postgres'

/** Proposes many actions and returns the id of the last, which waits for a decision. */
async function fill(server: TestServer): Promise<string> {
  for (let n = 0; n < 30; n++) {
    await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: `filler ${n} ${'x'.repeat(2_000)}` } })
  }
  const { id } = await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'the one' } })
  await server.settle()
  return id
}

/** Expects a server on a damaged database to refuse decisions and proposals and to say why. */
async function expectRefusals(server: TestServer, actionId: string, words: RegExp) {
  const decide = () => server.admin.send('POST', `/api/actions/${actionId}/decision`, { body: { verdict: 'approve' } })
  await expect
    .poll(async () => (await decide()).body)
    .toMatchObject({ code: 'not_ready', status: 503, detail: expect.stringMatching(words) })
  const ready = await server.admin.send('GET', '/readyz')
  expect([ready.status, ready.body.detail]).toEqual([503, expect.stringMatching(words)])
  const again = await server.admin.send('POST', '/api/actions', { body: { tool: 'keyed', arguments: { what: 'another' } } })
  expect(again.body).toMatchObject({ code: 'not_ready', detail: expect.stringMatching(words) })
  expect((await server.admin.send('GET', '/healthz')).status).toBe(200)
  expect(server.errors.filter((line) => line.includes('database.damaged'))).toHaveLength(1)
}

test.skipIf(isPostgres)(
  'pages that are damaged while a server runs: no decision is taken, nothing starts, and the file is named',
  async () => {
    await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
    await using server = await startTestServer({ config: { tools: toolsOf(target) } })
    const id = await fill(server)
    await server.restart()
    damagePages(join(server.dataDir, 'countersign.db'))
    await expectRefusals(server, id, /countersign\.db is damaged .*countersign restore/)
    expect(target.writes).toEqual([])
  },
)

test.skipIf(!isPostgres)(
  'damaged pages of a Postgres table: no decision is taken, nothing starts, until somebody has looked after it',
  async () => {
    await using postgres = await startPostgres({ settings: { shared_buffers: "'1MB'" } })
    const url = await createDatabase(postgres.url('postgres'))
    await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
    using folder = temporaryFolder()
    await using server = await startTestServer({
      config: { tools: toolsOf(target) },
      place: { dataDir: folder.path, environment: { DATABASE_URL: url } },
    })
    const id = await fill(server)
    const [row] = await runOn(url, `select current_setting('data_directory') || '/' || pg_relation_filepath('action') as file`)
    assert(typeof row?.file === 'string', 'a table is in a file')
    await postgres.stop()
    const bytes = new Uint8Array(statSync(row.file).size).fill(0x5a)
    overwrite(row.file, 0, bytes)
    await postgres.start()
    await expectRefusals(server, id, /the database is damaged .*backup/)
    expect(target.writes).toEqual([])
  },
)

/** Overwrites the root pages of two tables and makes the server read them again: a commit by another connection empties its cache. */
function damagePages(file: string): void {
  const pages = statSync(file).size / 4096
  const reader = new DatabaseSync(file, { readOnly: true })
  const roots = reader.prepare("select rootpage from sqlite_schema where name in ('action', 'event')").all()
  reader.close()
  for (const { rootpage } of roots) {
    expect(Number(rootpage)).toBeLessThanOrEqual(pages)
    overwrite(file, (Number(rootpage) - 1) * 4096, new Uint8Array(4096).fill(0x5a))
  }
  const other = new DatabaseSync(file, { timeout: 240_000 })
  other.exec("insert into setting (name, value) values ('of another connection', '')")
  other.close()
}

function overwrite(file: string, at: number, bytes: Uint8Array): void {
  const handle = openSync(file, 'r+')
  writeSync(handle, bytes, 0, bytes.length, at)
  closeSync(handle)
}
