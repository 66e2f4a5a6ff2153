import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { assert } from '@countersign/core'
import { exactLinesOf } from '@countersign/toolkit/internal'
import { expect, test } from 'vitest'
import { seededRandom } from '../../../../verification/simulation/random.ts'
import { fillRecord } from '../../../../verification/testing/fill-record.ts'
import { resealed, rowIn, sealAnew, TAMPERS, withEnd } from '../../../../verification/testing/tampers.ts'
import { openTempSqlite } from '../../../../verification/testing/temp-store.ts'
import { exportLines } from './export.ts'
import { openAuditKey } from './key.ts'
import { rowLine } from './line.ts'
import { verifyExport } from './verify.ts'

async function linesOfRecord() {
  await using temp = await openTempSqlite()
  const key = await openAuditKey(temp.store, undefined)
  await fillRecord(temp.store, key, { sessions: 20, rows: 4, heads: 5 })
  const said = await text(exportLines({ store: temp.store, key, nowMs: 5 }))
  return { key, lines: said.split('\n').slice(0, -1) }
}

test('whoever changes an exported record is found out, whatever they change and with all of our code', async () => {
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

test('a byte at the end of a file that is cut off or added is found, and one that is no text', async () => {
  const { key, lines } = await linesOfRecord()
  const whole = Buffer.from(lines.map((line) => `${line}\n`).join(''))
  const problemOf = async (bytes: Uint8Array) =>
    (await verifyExport(exactLinesOf(Readable.from([bytes.subarray(0, 100), bytes.subarray(100)])), [key.publicKey])).problem
  expect(await problemOf(whole)).toBeUndefined()
  expect(await problemOf(whole.subarray(0, -1))).toMatch(/the last line has no end/)
  for (const added of [[0xe2, 0x82], [0xff], [0x20], [0x0a]]) {
    expect(await problemOf(Buffer.concat([whole, Buffer.from(added)])), String(added)).toMatch(/no UTF-8|no end|after the end/)
  }
  const broken = Buffer.from(whole)
  broken[40] = 0xff
  expect(await problemOf(broken)).toMatch(/no UTF-8/)
})

/** A database without its newest rows and heads looks intact by itself: a head that was stored elsewhere reveals the loss. */
const ONLY_IN_FILES = [
  'cut the end off',
  'cut inside a line',
  'leave the last head out and sign a new end',
  'leave a head and its rows out',
]

test('whoever changes the database is found out by the next export, which has our signature', async () => {
  const { key, lines } = await linesOfRecord()
  await using other = await openTempSqlite()
  const ownKey = await openAuditKey(other.store, undefined)
  const { int: pick } = seededRandom(13)
  let seen = 0
  for (const [name, tamper] of Object.entries(TAMPERS)) {
    if (ONLY_IN_FILES.includes(name)) continue
    for (let n = 0; n < 25; n++) {
      const tampered = tamper({ lines: lines.slice(0, -1), ownKey, pick })
      if (tampered[0] !== lines[0] || tampered.join('\n') === lines.slice(0, -1).join('\n')) continue
      const { problem } = await verifyExport(withEnd(tampered, key), [key.publicKey])
      if (isCutOff(tampered, lines)) continue
      assert(problem !== undefined, `${name} (${n}) is found`)
      seen++
    }
  }
  expect(seen).toBeGreaterThan(200)
})

/** Returns true for the same record without its last heads. */
const isCutOff = (tampered: readonly string[], lines: readonly string[]): boolean =>
  tampered.every((line, i) => line === lines[i]) && (tampered.at(-1) ?? '').startsWith('{"head"')

test('what is changed in the database before it is sealed is found by the row behind it', async () => {
  const { key, lines } = await linesOfRecord()
  expect(await verifyExport(sealAnew(lines, key))).toMatchObject({ problem: undefined, rows: 81 })
  for (const [at, line] of lines.entries()) {
    const row = rowIn(line)
    if (!row || row.scope === 'system' || row.seq === 4) continue
    const changed = rowLine(resealed({ ...row, actor: 'prn_other' }))
    expect((await verifyExport(sealAnew(lines.with(at, changed), key))).problem).toMatch(/does not follow the row before it/)
    expect((await verifyExport(sealAnew(lines.toSpliced(at, 1), key))).problem).toMatch(/is missing|does not follow/)
  }
})

test('a row that names another one as the row before it is found, although its head was signed over it', async () => {
  const { key, lines } = await linesOfRecord()
  for (const [at, line] of lines.entries()) {
    const row = rowIn(line)
    if (!row) continue
    // The first row follows none, and every other one exactly one.
    for (const follows of row.seq === 1 ? [row.id] : [null, (row.follows ?? 0) - 1]) {
      const changed = rowLine({ ...row, follows })
      expect((await verifyExport(sealAnew(lines.with(at, changed), key))).problem, line).toMatch(/names another row as the one before it/)
    }
  }
})

test('which row a row follows is covered by its head: it cannot be changed where the row before it is not in the file', async () => {
  const { key, lines } = await linesOfRecord()
  const head = lines.find((line) => line.startsWith('{"head"')) ?? ''
  // A head after each row, so that an excerpt of the record may begin at any row.
  const sealed = sealAnew([lines[0] ?? '', ...lines.flatMap((line) => (rowIn(line) ? [line, head] : []))], key)
  const [start = '', ...rest] = sealed.slice(0, -1)
  for (const [at, line] of rest.entries()) {
    const row = rowIn(line)
    if (!row || row.seq === 1) continue
    const part = [start.replace('"since":null', '"since":1'), ...rest.slice(at)]
    expect(await verifyExport(withEnd(part, key)), line).toMatchObject({ problem: undefined })
    const changed = part.with(1, rowLine({ ...row, follows: (row.follows ?? 0) - 1 }))
    expect((await verifyExport(withEnd(changed, key))).problem, line).toMatch(/was signed over other rows/)
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

test('a row that is said to follow another one is found, also in a part of the record', async () => {
  const { key, lines } = await linesOfRecord()
  const [start = '', ...rest] = lines.slice(0, -1)
  const firstHead = rest.findIndex((line) => line.startsWith('{"head"'))
  const part = [start.replace('"since":null', '"since":1'), ...rest.slice(firstHead + 1)]
  expect(await verifyExport(withEnd(part, key))).toMatchObject({ problem: undefined })
  for (const whole of [lines.slice(0, -1), part]) {
    for (const [at, line] of whole.entries()) {
      const row = rowIn(line)
      if (!row) continue
      const changed = whole.with(at, rowLine({ ...row, follows: row.seq === 1 ? row.id : (row.follows ?? 0) - 1 }))
      expect((await verifyExport(withEnd(changed, key))).problem, line).toBeDefined()
    }
  }
})

test('a change of a row hides no other difference: each is listed, and heads that were kept elsewhere are compared', async () => {
  const { key, lines } = await linesOfRecord()
  const rows = lines.flatMap((line, at) => (rowIn(line)?.data ? [at] : []))
  const lied = (list: readonly string[], at: number) => list.with(at, list[at]?.replace('"data":{', '"data":{"lied":true,') ?? '')
  const [first = 0, second = 0] = [rows[0], rows.at(-1)]
  const changed = withEnd(lied(lied(lines.slice(0, -1), first), second), key)
  const verdict = await verifyExport(changed, [key.publicKey], { anchors: [{ number: 3, hash: 'another' }] })
  expect(verdict.problems).toEqual([
    expect.stringMatching(`^line ${first + 1}: the data of row .* was changed$`),
    expect.stringMatching(`^line ${second + 1}: the data of row .* was changed$`),
    'head 3 is another one than the anchor has: the record was rewritten',
  ])
  expect(verdict).toMatchObject({ problem: verdict.problems[0], unlisted: 0 })
  // A row that is gone is found behind one that was changed.
  const [gone = ''] = lines.splice(second, 1)
  const without = withEnd(lied(lines.slice(0, -1), first), key)
  const { problems } = await verifyExport(without, [key.publicKey])
  expect(problems.slice(0, 2)).toEqual([
    expect.stringMatching(/the data of row .* was changed$/),
    expect.stringMatching(/was signed over other rows/),
  ])
  expect(rowIn(gone)).toBeDefined()
})

test('of more differences than a hundred, the others are counted', async () => {
  const { key, lines } = await linesOfRecord()
  const many = withEnd([...lines.slice(0, -1), ...Array.from({ length: 150 }, () => 'nothing')], key)
  const { problems, unlisted } = await verifyExport(many, [key.publicKey])
  expect(problems).toHaveLength(100)
  // The end, too, says how many rows there should be.
  expect(unlisted).toBe(51)
})
