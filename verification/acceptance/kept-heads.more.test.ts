import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AuditSealView } from '@countersign/core'
import { expect, test } from 'vitest'
import { verifyExport } from '../../packages/server/src/audit/index.ts'
import { deleteHeadsFrom, type Forger, openForger, readRows, rewriteRow } from '../testing/forge-record.ts'
import { EVERYTHING, kindsOf, openPlace, propose, rowOf, untilDegraded, untilSealed, verdictOf } from '../testing/record-place.ts'
import { runCommandLine } from '../testing/run-command.ts'
import { type TestServer, temporaryFolder } from '../testing/test-server.ts'

// Heads of the record that are kept outside of its database: in the file beside the key, or by somebody else. On both databases.

test('a database that was rolled back is held; accepting the copy lets the record go on, and the next head says what is missing', async () => {
  await using place = await openPlace()
  const first = await place.start()
  await propose(first, 'first')
  await untilSealed(first)
  const { publicKey } = await first.admin.get('/api/audit/key')
  const { heads: kept } = await verdictOf(first, publicKey)
  const third = await propose(first, 'lost')
  await untilSealed(first)
  const { heads: all } = await verdictOf(first, publicKey)
  const { head: newest }: AuditSealView = await first.admin.get('/api/audit/seal')
  await first.stop()
  {
    await using forger = await openForger(first.database)
    const row = await rowOf(forger, third)
    await deleteHeadsFrom(forger, row)
    await forger.run('delete from audit where id >= ?', row)
  }
  const held = await place.start({ hold: true })
  await expect.poll(() => held.admin.get('/readyz')).toMatchObject({ status: 'held' })
  await expect.poll(async () => (await held.admin.get('/api/audit/seal')).problem).toMatchObject({ kind: 'behind' })
  expect((await held.admin.send('POST', '/api/audit/accept', { body: { reason: 'x' } })).status).toBe(503)
  expect((await verdictOf(held, publicKey)).problem).toMatch(/the end of the record was deleted/)
  await held.admin.post('/api/hold/accept', {})
  await expect.poll(() => held.admin.get('/readyz')).toEqual({ status: 'ok' })
  await expect
    .poll(() => kindsOf(held, 'record_accepted'))
    .toMatchObject([
      { actor: { kind: 'person' }, sealed: true, data: { kind: 'behind', reason: expect.stringContaining('The copy was accepted') } },
    ])
  await propose(held, 'later')
  await untilSealed(held)
  const gap = { kind: 'behind', found: { number: kept?.last }, head: Number(all?.last) + 1 }
  expect(await verdictOf(held, publicKey)).toMatchObject({ problem: undefined, gaps: [gap] })

  // An anchor still tells that heads are missing: the acceptance has only the word of whoever has the key. It says which ones to leave out.
  const anchors = newest ? [{ number: newest.number, hash: newest.hash }] : []
  const lines = (await held.admin.send('GET', '/api/audit/export')).text.trimEnd().split('\n')
  const lostFrom = Number(kept?.last) + 1
  expect((await verifyExport(lines, [publicKey], { anchors })).problem).toMatch(
    new RegExp(`is missing: head ${gap.head} says that prn_.* accepted the loss of heads ${lostFrom} to ${all?.last}`),
  )
})

test('accepting a copy does not accept that a sealed row was changed', async () => {
  await using place = await openPlace()
  const first = await place.start()
  const action = await propose(first, 'first')
  await untilSealed(first)
  await propose(first, 'second')
  await untilSealed(first)
  await first.stop()
  {
    await using forger = await openForger(first.database)
    await forger.run("update audit set data = '{}' where id = ?", await rowOf(forger, action))
  }
  const held = await place.start({ hold: true })
  await held.admin.post('/api/hold/accept', {})
  expect((await untilDegraded(held)).why).toMatch(/is not what was sealed/)
  await held.stop()
  // The file remembers the problem: the server seals nothing before it has checked the rows again.
  expect((await untilDegraded(await place.start())).why).toMatch(/is not what was sealed/)
})

test('an anchor finds that the record was rewritten, cut off or deleted, and without one the command says what it cannot know', async () => {
  await using place = await openPlace()
  using folder = temporaryFolder()
  const first = await place.start()
  for (const what of ['first', 'second']) {
    await propose(first, what)
    await untilSealed(first)
  }
  const { publicKey } = await first.admin.get('/api/audit/key')
  const { head } = (await first.admin.get('/api/audit/seal')) as AuditSealView
  const file = join(folder.path, 'record.jsonl')
  const verify = async (server: TestServer, ...anchors: string[]) => {
    writeFileSync(file, (await server.admin.send('GET', '/api/audit/export')).text)
    return runCommandLine(['audit', 'verify', file, '--public-key', publicKey, ...anchors.flatMap((anchor) => ['--anchor', anchor])])
  }
  const byValue = `${head?.number}:${head?.hash}`
  const kept = join(folder.path, 'kept.head')
  copyFileSync(`${place.keyFile}.head`, kept)
  expect(await verify(first)).toMatchObject({ code: 0, stdout: expect.stringContaining('Without an anchor this does not show whether') })
  const stdout = expect.stringContaining(`Head ${head?.number} is the one that was kept`)
  expect(await verify(first, byValue, kept)).toMatchObject({ code: 0, stdout })
  expect(await verify(first, 'nonsense')).toMatchObject({ code: 1, stderr: expect.stringContaining('neither a file nor NUMBER:HASH') })
  await first.stop()

  // The file outside the database is gone too, so the server has to believe the database.
  await using forger = await openForger(first.database)
  const rewritten = (await readRows(forger)).find(({ kind }) => kind === 'proposed')?.id ?? 0
  await rewriteRow(forger, rewritten, (data) => ({ ...data, arguments: { what: 'forged' } }))
  await deleteHeadsFrom(forger, rewritten)
  rmSync(`${place.keyFile}.head`)
  const second = await place.start()
  await propose(second, 'later')
  await untilSealed(second)
  expect(await verdictOf(second, publicKey)).toMatchObject({ problem: undefined })
  const found = expect.stringMatching(/the record was rewritten|was deleted|is missing/)
  for (const anchor of [byValue, kept]) expect(await verify(second, anchor)).toMatchObject({ code: 1, stdout: found })
  await second.stop()
  for (const text of EVERYTHING) await forger.run(text)
  rmSync(`${place.keyFile}.head`)
  const third = await place.start()
  expect(await verify(third, byValue)).toMatchObject({ code: 1, stdout: found })
})

test('a remembered head that is deleted, or replaced by an older one, is said in the record, and the server goes on', async () => {
  await using place = await openPlace()
  const memory = `${place.keyFile}.head`
  const old = `${memory}.old`
  const first = await place.start()
  for (const what of ['first', 'second', 'third']) {
    await propose(first, what)
    await untilSealed(first)
    if (what === 'first') copyFileSync(memory, old)
  }
  const { head } = (await first.admin.get('/api/audit/seal')) as AuditSealView
  expect(statSync(memory).mode & 0o777).toBe(0o600)
  await first.stop()
  rmSync(memory)
  const second = await place.start()
  await propose(second, 'fourth')
  await untilSealed(second)
  expect(await kindsOf(second, 'record_memory_lost')).toMatchObject([
    { data: { why: expect.stringContaining('is missing'), remembered: 0 } },
  ])
  const seal: AuditSealView = await second.admin.get('/api/audit/seal')
  expect(seal.memory.from).toBeGreaterThanOrEqual(Number(head?.number))
  await expect.poll(() => second.admin.get('/readyz')).toEqual({ status: 'ok' })
  await second.stop()
  writeFileSync(memory, 'no memory at all')
  const third = await place.start()
  await propose(third, 'fifth')
  await untilSealed(third)
  expect((await kindsOf(third, 'record_memory_lost'))[0]).toMatchObject({ data: { why: expect.stringContaining('cannot be read') } })
  await third.stop()
  copyFileSync(old, memory)
  const fourth = await place.start()
  await propose(fourth, 'sixth')
  await untilSealed(fourth)
  // On Postgres other processes may sign heads, so an older memory proves nothing, and the server checks all heads after it.
  const lost = await kindsOf(fourth, 'record_memory_lost')
  expect(lost).toHaveLength(fourth.database.kind === 'sqlite' ? 3 : 2)
  if (fourth.database.kind === 'sqlite')
    expect(lost[0]).toMatchObject({ data: { why: expect.stringContaining('is older than the record') } })
})

/** Inserts a head over all rows, signed as in versions before 27. */
async function insertOldHead(forger: Forger, rows: Awaited<ReturnType<typeof readRows>>, privateKey: KeyObject): Promise<void> {
  const key = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).subarray(12).toString('base64url')
  const hashed = (text: string) => createHash('sha256').update(text).digest('base64url')
  const ats = rows.map(({ at }) => at)
  const [firstAt, lastAt, firstId, lastId] = [Math.min(...ats), Math.max(...ats), rows[0]?.id ?? 0, rows.at(-1)?.id ?? 0]
  const rowsHash = hashed(rows.map(({ id, hash }) => `${id} ${hash}\n`).join(''))
  const text = JSON.stringify({ at: lastAt, firstAt, firstId, key, lastAt, lastId, number: 1, prev: '', rowCount: rows.length, rowsHash })
  const signature = sign(null, Buffer.from(text), privateKey).toString('base64url')
  await forger.run(
    'insert into audit_head (number, prev, at, first_id, last_id, row_count, first_at, last_at, rows_hash, key, hash, signature, format) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)',
    ...[1, '', lastAt, firstId, lastId, rows.length, firstAt, lastAt, rowsHash, key, hashed(text), signature],
  )
}

test('a database of the version before, whose heads were not remembered, is taken over, and its next head covers them', async () => {
  await using place = await openPlace()
  const first = await place.start()
  await propose(first, 'first')
  await untilSealed(first)
  await first.stop()
  await using forger = await openForger(first.database)
  const key = createPrivateKey(readFileSync(place.keyFile, 'utf8'))
  const rows = await readRows(forger)
  // A head of the first format, from before the server stored its newest head.
  await forger.run('delete from audit_head')
  await insertOldHead(forger, rows, key)
  rmSync(`${place.keyFile}.head`)
  const second = await place.start()
  await propose(second, 'second')
  await untilSealed(second)
  const { publicKey } = await second.admin.get('/api/audit/key')
  const { problem, heads } = await verdictOf(second, publicKey)
  expect([problem, heads?.first]).toEqual([undefined, 1])
  expect(heads?.last).toBeGreaterThanOrEqual(2)
  expect(await kindsOf(second, 'record_memory_lost')).toEqual([])
  expect((await second.admin.get('/api/audit/seal')).memory).toMatchObject({ place: 'file' })
})
