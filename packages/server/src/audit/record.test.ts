import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { defineTool } from '@countersign/toolkit'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openBareGate, rowOf, savePersons } from '../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../verification/testing/open-gate.ts'
import { refuseRows } from '../../../../verification/testing/refuse-rows.ts'
import { sealToTheEnd } from '../../../../verification/testing/seal-to-the-end.ts'
import { openTempPostgres, openTempSqlite, raw, STORES, type TempStore } from '../../../../verification/testing/temp-store.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'
import { type ActionRow, type AuditRow, actions, audit, lock, type Store, type Tx } from '../store/index.ts'
import { exportLines } from './export.ts'
import { openAuditKey } from './key.ts'
import { appendToScope, recordAudit } from './record.ts'
import { sealAll } from './seal.ts'
import { verifyExport } from './verify.ts'

const asAna = { principal: ana }
const asBen = { principal: ben }

const rowsIn = (store: Store): Promise<AuditRow[]> =>
  store.read(() => audit.rowsUpTo.all({ after: 0, last: Number.MAX_SAFE_INTEGER, limit: 10_000 }))

/** A gate whose one tool counts its calls, and loses its answer, fails or succeeds as the test sets it. */
async function openCounted(temp: TempStore) {
  await savePersons(temp.store)
  const tool = { calls: 0, does: 'succeed' as 'succeed' | 'fail' }
  const counted = defineTool({
    name: 'counted',
    description: 'Counted',
    input: z.object({}),
    effect: 'write',
    execute: async () => {
      tool.calls++
      if (tool.does === 'fail') throw new Error('it broke')
      return { ok: true }
    },
  })
  return { tool, gate: openBareGate(temp.store, [counted], 'prc_1') }
}

test.each(STORES)(
  'no audit, no effect: what cannot be recorded does not happen, and nothing is sent ($database)',
  async ({ open, database }) => {
    await using temp = await open()
    const { store } = temp
    const { gate, tool } = await openCounted(temp)
    const place = { store, isPostgres: database === 'postgres' }
    const propose = () => gate.propose({ tool: 'own.counted', arguments: {} }, asAna)
    const asIt = (row: ActionRow) => [row.state, row.attempt, row.epoch, row.revision]

    const until = async (isSo: () => boolean) => {
      while (!isSo()) await new Promise(setImmediate)
    }
    /** Makes a move that cannot be recorded, and the same move once it can be. */
    async function withoutRecord<T>(kind: string, id: string | undefined, move: () => Promise<T>): Promise<T> {
      const before = id === undefined ? undefined : asIt(await rowOf(store, id))
      const [said, logged] = [temp.committed.length, gate.logged.length]
      await refuseRows(place, kind)
      let error: unknown
      const moving = move()
      moving.catch((reason) => {
        error = reason
      })
      // A person sees the error; a move without a caller is retried until it succeeds.
      await until(() => error !== undefined || gate.logged.length > logged + 2)
      if (id !== undefined) expect(asIt(await rowOf(store, id)), kind).toEqual(before)
      expect(temp.committed.slice(said).flatMap(({ events }) => events)).toEqual([])
      await refuseRows(place, undefined)
      return error === undefined ? moving : move()
    }
    const decide = (verdict: 'approve' | 'decline', to: string) => () => gate.decide(to, { verdict }, asBen)

    const { id: declined } = await withoutRecord('proposed', undefined, propose)
    expect(await store.read(() => actions.listActions({ limit: 9 }))).toHaveLength(1)
    await withoutRecord('declined', declined, decide('decline', declined))

    const { id } = await propose()
    await withoutRecord('approved', id, decide('approve', id))
    await withoutRecord('executing', id, () => gate.execute(id))
    expect(tool.calls).toBe(1)

    tool.does = 'fail'
    const { id: failing } = await propose()
    await decide('approve', failing)()
    const { state } = await rowOf(store, failing)
    expect(state).toBe('approved')
    await gate.execute(failing)
    expect(await rowOf(store, failing)).toMatchObject({ state: 'outcome_unknown' })
    const found = () => gate.resolve(failing, { outcome: 'failed', note: 'I looked' }, asAna)
    await withoutRecord('resolved', failing, found)
    tool.does = 'succeed'
    await withoutRecord('retried', failing, () => gate.retry(failing, asAna))
    await gate.idle()
    expect(await rowOf(store, failing)).toMatchObject({ state: 'succeeded', attempt: 2 })
    expect(tool.calls).toBe(3)

    const kinds = (await rowsIn(store)).map(({ kind, action_id }) => [action_id, kind])
    expect(kinds.filter(([of]) => of === declined).map(([, kind]) => kind)).toEqual(['proposed', 'declined'])
    expect(kinds.filter(([of]) => of === id).map(([, kind]) => kind)).toEqual(['proposed', 'approved', 'executing', 'succeeded'])
    expect(kinds.filter(([of]) => of === failing).map(([, kind]) => kind)).toEqual([
      ...['proposed', 'approved', 'executing', 'outcome_unknown', 'resolved', 'retried', 'succeeded'],
    ])
  },
)

test.each(STORES)('many transactions at once leave whole chains, and several sealers one chain of heads ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  const { gate } = await openCounted(temp)
  const key = await openAuditKey(store, undefined)
  const seal = () => sealAll(store, key, Date.now)
  const walk = async (n: number) => {
    const { id } = await gate.propose({ tool: 'own.counted', arguments: {} }, asAna)
    await store.transact((outbox) => recordAudit(outbox, { kind: 'signed_in', actor: ana.id, data: { n } }, n))
    await Promise.all([seal(), gate.decide(id, { verdict: 'approve' }, asAna), seal()])
    await Promise.all([gate.execute(id), gate.execute(id)])
  }
  // However the timing spreads the following rows, there are at least two heads.
  await walk(0)
  await sealToTheEnd(store, key, Date.now)
  const walks = Array.from({ length: 24 }, (_, n) => walk(n + 1))
  await Promise.all([...walks, seal(), seal()])
  await sealToTheEnd(store, key, Date.now)
  const exported = await text(exportLines({ store, key, nowMs: 1 }))
  const verdict = await verifyExport(exported.split('\n').slice(0, -1), [key.publicKey])
  expect(verdict).toMatchObject({ problem: undefined, rows: 25 * 5, scopes: 26 })
  expect(verdict.heads?.last).toBeGreaterThan(1)
  const rows = await rowsIn(store)
  expect(rows.filter(({ scope }) => scope === 'system').map(({ seq }) => seq)).toEqual(Array.from({ length: 25 }, (_, i) => i + 1))
})

test('nothing is sealed past a row that may still be committed', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  await savePersons(store)
  const key = await openAuditKey(store, undefined)
  const entered = Promise.withResolvers<void>()
  let mayCommit = false
  const write = (scope: string, more: () => Tx<void>) =>
    store.transact(function* (outbox) {
      yield* lock(scope)
      yield* appendToScope(outbox, scope, { kind: 'proposed', actor: ana.id, actionId: scope, data: {} }, 1)
      yield* more()
    })
  const early = write('act_early', function* () {
    entered.resolve()
    while (!mayCommit) yield* raw(sql`select pg_sleep(0.005)`)
  })
  await entered.promise
  await write('act_late', function* () {})
  expect(await sealAll(store, key, () => 2)).toBe(false)
  expect(await store.read(() => audit.lastHead.first({}))).toBeUndefined()
  mayCommit = true
  await early
  await sealToTheEnd(store, key, () => 3)
  expect((await rowsIn(store)).map(({ scope }) => scope)).toEqual(['act_early', 'act_late'])
  const exported = await text(exportLines({ store, key, nowMs: 4 }))
  expect(await verifyExport(exported.split('\n').slice(0, -1))).toMatchObject({ problem: undefined, rows: 2, heads: { first: 1, last: 1 } })
})

test.each(STORES)('an export seals for a redaction that is recorded, and not for one whose row was lost ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  await savePersons(store)
  const key = await openAuditKey(store, undefined)
  const write = (actionId: string, kind: 'proposed' | 'redacted') =>
    store.transact(function* (outbox) {
      yield* lock(actionId)
      if (kind === 'redacted') yield* audit.blankRows({ scope: actionId, actionId })
      yield* appendToScope(outbox, actionId, { kind, actor: ana.id, actionId, data: {} }, 1)
    })
  const actionIds = ['act_said', 'act_lost'] as const
  for (const actionId of actionIds) await write(actionId, 'proposed')
  const seal = () => sealToTheEnd(store, key, () => 2)
  await seal()
  let seals = 0
  const exported = async () => {
    seals = 0
    const lines = exportLines({
      ...{ store, key, nowMs: 3 },
      async sealMore() {
        await seal()
        return ++seals < 50
      },
    })
    return verifyExport((await text(lines)).split('\n').slice(0, -1), [key.publicKey])
  }
  await write('act_said', 'redacted')
  expect(await exported()).toMatchObject({ problem: undefined, rows: 3, redacted: 1 })
  expect(seals).toBe(1)
  await store.transact(() => audit.blankRows({ scope: 'act_lost', actionId: 'act_lost' }))
  // Rows that come meanwhile are no reason to look for it among them.
  await write('act_other', 'proposed')
  expect(await exported()).toMatchObject({ problem: 'the data of act_lost was removed, and no redaction is recorded', rows: 3 })
  expect(seals).toBe(0)
})

test('a key file that cannot be used is named', async () => {
  await using temp = await openTempSqlite()
  using folder = temporaryFolder()
  const file = (name: string) => join(folder.path, name)
  writeFileSync(file('text.pem'), 'a key')
  writeFileSync(file('rsa.pem'), generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const open = (name: string) => openAuditKey(temp.store, file(name))
  await expect(open('text.pem')).rejects.toThrow(`the key of the record in ${file('text.pem')} is not a private key in PEM form`)
  await expect(open('rsa.pem')).rejects.toThrow(`the key of the record in ${file('rsa.pem')} must be an Ed25519 key`)
  await expect(open('away/key.pem')).rejects.toThrow(`the key of the record in ${file('away/key.pem')} cannot be written: ENOENT`)
})
