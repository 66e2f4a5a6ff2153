import { text } from 'node:stream/consumers'
import { assert } from '@countersign/core'
import { expect, test } from 'vitest'
import { seededRandom } from '../campaign/simulation/random.ts'
import { fillRecord } from '../testing/fill-record.ts'
import { TAMPERS } from '../testing/tampers.ts'
import { openTempSqlite } from '../testing/temp-store.ts'
import { exportLines } from './export.ts'
import { openAuditKey } from './key.ts'
import { verifyExport } from './verify.ts'

async function linesOfRecord() {
  await using temp = await openTempSqlite()
  const key = await openAuditKey(temp.store, undefined)
  await fillRecord(temp.store, key, { sessions: 20, rows: 4, heads: 5 })
  const said = await text(exportLines({ store: temp.store, key, nowMs: 5 }))
  return { key, lines: said.split('\n').slice(0, -1) }
}

test('I11 whoever changes an exported record is found out, whatever they change and with all of our code', async () => {
  const { key, lines } = await linesOfRecord()
  await using other = await openTempSqlite()
  const ownKey = await openAuditKey(other.store, undefined)
  expect(await verifyExport(lines, [key.publicKey])).toMatchObject({ problem: undefined, rows: 81, scopes: 21 })
  const pick = seededRandom(11).int
  for (const [name, tamper] of Object.entries(TAMPERS)) {
    for (let n = 0; n < 25; n++) {
      const tampered = tamper({ lines, ownKey, pick })
      if (tampered.join('\n') === lines.join('\n')) continue
      const { problem } = await verifyExport(tampered, [key.publicKey])
      assert(problem !== undefined, `${name} (${n}) is found`)
    }
  }
})

test('without a key to compare with, all but a forgery that names its own key is found', async () => {
  const { key, lines } = await linesOfRecord()
  await using other = await openTempSqlite()
  const ownKey = await openAuditKey(other.store, undefined)
  const pick = seededRandom(12).int
  for (const [name, tamper] of Object.entries(TAMPERS)) {
    const verdict = await verifyExport(tamper({ lines, ownKey, pick }))
    if (name === 'rewrite all of it with another key') expect(verdict).toMatchObject({ problem: undefined, keys: [ownKey.publicKey] })
    else expect(verdict.problem, name).toBeDefined()
  }
  expect(await verifyExport(lines)).toMatchObject({ problem: undefined, keys: [key.publicKey] })
})
