import { text } from 'node:stream/consumers'
import { exportLines, openAuditKey, verifyExport } from '../../../packages/server/src/audit/index.ts'
import { seededRandom } from '../../simulation/random.ts'
import { fillRecord } from '../../testing/fill-record.ts'
import { TAMPERS } from '../../testing/tampers.ts'
import { openTempSqlite } from '../../testing/temp-store.ts'
import type { Part, PartReport } from '../part.ts'

const SESSIONS = 25_000
const ROWS_PER_SESSION = 4
const HEADS = 500
const TAMPERED = 1_000
const MAX_VERIFY_MS = 5_000

/** A record of 100,000 rows, verified, and tampered with in every way there is. */
export const auditPart: Part = async ({ seed, minutes = Number.POSITIVE_INFINITY, say }) => {
  const report: PartReport = { violations: [], missing: [], figures: {} }
  const since = performance.now()
  const { key, lines } = await makeRecord()
  await using other = await openTempSqlite()
  const ownKey = await openAuditKey(other.store, undefined)
  const beginMs = performance.now()
  const { problem, rows } = await verifyExport(lines, [key.publicKey])
  const verifyMs = Math.round(performance.now() - beginMs)
  say(`audit: ${rows} rows verified in ${verifyMs} ms`)
  if (problem !== undefined) report.violations.push(`the record itself: ${problem}`)
  if (verifyMs > MAX_VERIFY_MS) report.violations.push(`verifying took ${verifyMs} ms`)

  const { int: pick } = seededRandom(seed)
  const kinds = Object.entries(TAMPERS)
  let tampered = 0
  for (; tampered < TAMPERED && performance.now() - since < minutes * 60_000; tampered++) {
    const [name, tamper] = kinds[tampered % kinds.length] ?? []
    if (!name || !tamper) break
    const changed = tamper({ lines, ownKey, pick })
    const verdict = await verifyExport(changed, [key.publicKey])
    // A line that takes the place of an equal one is no change.
    const isSame = changed.length === lines.length && changed.every((line, i) => line === lines[i])
    if (verdict.problem === undefined && !isSame) report.violations.push(`${name} (${tampered}) was not found`)
    if (tampered % 100 === 99) say(`audit: ${tampered + 1} tampers`)
  }
  if (tampered < TAMPERED) report.missing.push(`${tampered} tampers, ${TAMPERED} are needed`)
  report.figures = { rows, verifyMs, tampered }
  return report
}

async function makeRecord() {
  await using temp = await openTempSqlite()
  const key = await openAuditKey(temp.store, undefined)
  await fillRecord(temp.store, key, { sessions: SESSIONS, rows: ROWS_PER_SESSION, heads: HEADS })
  const said = await text(exportLines({ store: temp.store, key, nowMs: 1 }))
  return { key, lines: said.split('\n').slice(0, -1) }
}
