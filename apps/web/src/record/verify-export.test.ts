import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportLines, openAuditKey, verifyExport as verifyOnServer } from '../../../../packages/server/src/audit/index.ts'
import { fillRecord } from '../../../../verification/testing/fill-record.ts'
import { startTarget, type Target, toolsOf } from '../../../../verification/testing/target.ts'
import { openTempSqlite } from '../../../../verification/testing/temp-store.ts'
import { startTestServer, type TestServer } from '../../../../verification/testing/test-server.ts'
import { verifyExport } from './verify-export.ts'

let target: Target
let server: TestServer
let text: string
let publicKey: string
beforeAll(async () => {
  target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  server = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = server
  for (const what of ['a “letter”', 'two', 'three']) {
    const { id } = await admin.post('/api/actions', { tool: 'keyed', arguments: { what } })
    await admin.post(`/api/actions/${id}/decision`, { verdict: what === 'two' ? 'approve' : 'decline' })
    if (what === 'three') await admin.post(`/api/actions/${id}/redact`, { reason: 'personal' })
  }
  await server.settle()
  const newest = (await admin.get('/api/audit?limit=1')).items[0].id
  for (;;) {
    const { items } = await admin.get('/api/audit?limit=200')
    if (items.find(({ id }: { id: number }) => id === newest)?.sealed) break
  }
  text = (await admin.send('GET', '/api/audit/export?format=jsonl')).text
  publicKey = (await admin.get('/api/audit/key')).publicKey
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await target?.[Symbol.asyncDispose]()
})

const check = (file: string, key = publicKey) => verifyExport(new TextEncoder().encode(file), key, () => undefined)

test('the browser finds an exported record as it was signed', async () => {
  const verdict = await check(text)
  expect(verdict).toEqual({
    problem: undefined,
    rows: verdict.rows,
    heads: verdict.heads,
    redacted: verdict.redacted,
    gaps: 0,
    otherKeys: [],
  })
  const known = await verifyOnServer(text.trimEnd().split('\n'), [publicKey])
  expect([verdict.rows, verdict.redacted]).toEqual([known.rows, known.redacted])
  expect(verdict.rows).toBeGreaterThan(8)
  expect(verdict.redacted).toBeGreaterThan(0)
})

test('a line that is changed, left out, doubled or moved is found, whichever it is', async () => {
  const lines = text.trimEnd().split('\n')
  const join = (changed: string[]) => `${changed.join('\n')}\n`
  for (const [at, line] of lines.entries()) {
    const middle = Math.floor(line.length / 2)
    const other = line[middle] === 'x' ? 'y' : 'x'
    const changes: Record<string, string[]> = {
      changed: lines.with(at, line.slice(0, middle) + other + line.slice(middle + 1)),
      'left out': lines.toSpliced(at, 1),
      doubled: lines.toSpliced(at, 0, line),
      moved: [...lines.toSpliced(at, 1), line],
    }
    for (const [how, changed] of Object.entries(changes)) {
      if (join(changed) === text) continue
      expect((await check(join(changed))).problem, `line ${at} ${how}`).toBeTypeOf('string')
    }
  }
})

test('a file that was cut, or signed by another key, is found', async () => {
  expect((await check(text.slice(0, -1))).problem).toContain('cut')
  expect((await check('')).problem).toBeTypeOf('string')
  expect((await check('{}\n')).problem).toBeTypeOf('string')
  expect((await check(text, `${publicKey.startsWith('A') ? 'B' : 'A'}${publicKey.slice(1)}`)).problem).toContain('another key')
})

test('a record whose key was changed is not called forged, and what the earlier key signed is not called proven', async () => {
  await using temp = await openTempSqlite()
  const dir = mkdtempSync(join(tmpdir(), 'two-keys-'))
  const before = await openAuditKey(temp.store, undefined)
  const now = await openAuditKey(temp.store, join(dir, 'key.pem'))
  for (const key of [before, now]) await fillRecord(temp.store, key, { sessions: 2, rows: 1, heads: 1 })
  const file = await textOf(exportLines({ store: temp.store, key: now, nowMs: Date.now() }))
  rmSync(dir, { recursive: true })
  expect(await check(file, now.publicKey)).toMatchObject({ problem: undefined, heads: 2, otherKeys: [before.publicKey] })
  const lines = file.trimEnd().split('\n')
  const both = [now.publicKey, before.publicKey]
  expect(await verifyOnServer(lines, both)).toMatchObject({ problem: undefined, keys: [before.publicKey, now.publicKey] })
  expect(await verifyOnServer(lines)).toMatchObject({ problem: undefined, keys: [before.publicKey, now.publicKey] })
  expect(await verifyOnServer(lines, [now.publicKey])).toMatchObject({
    problems: [
      expect.stringMatching(`^head 1 is signed with another key .*: ${before.publicKey}. That fits the signature, and proves nothing`),
    ],
    keys: [now.publicKey],
  })
  // The name of another key alone is no signature of it.
  const renamed = file.replace(`"key":"${before.publicKey}"`, `"key":"${now.publicKey}"`)
  expect((await check(renamed, now.publicKey)).problem).toBeTypeOf('string')
})
