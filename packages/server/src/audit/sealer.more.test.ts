import { text } from 'node:stream/consumers'
import { CountersignError } from '@countersign/core'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { fillRecord } from '../../../../verification/testing/fill-record.ts'
import { withEnd } from '../../../../verification/testing/tampers.ts'
import { STORES } from '../../../../verification/testing/temp-store.ts'
import { systemClock } from '../clock.ts'
import { audit, principals, type Store } from '../store/index.ts'
import { exportLines } from './export.ts'
import { gapOf, refOf } from './head.ts'
import { openAuditKey } from './key.ts'
import { recordAudit } from './record.ts'
import { SYSTEM } from './row.ts'
import { createSealer, type Sealer } from './sealer.ts'
import { verifyExport } from './verify.ts'

/** Waits until a head states what was accepted: on Postgres, a transaction of another test's database may hold its row back. */
const untilStated = (sealer: Sealer) => expect.poll(() => sealer.status.problem).toBe(undefined)

/** Waits until every row is sealed. On Postgres, a transaction of another test's database holds rows back, too: the last look may come too early. */
async function untilSealed(store: Store, sealer: Sealer): Promise<void> {
  const left = () =>
    store.read(function* () {
      const last = yield* audit.lastHead.first({})
      return yield* audit.rowsToSeal.all({ after: last?.last_id ?? 0, limit: 1 })
    })
  await expect
    .poll(() => {
      sealer.wake()
      return left()
    })
    .toEqual([])
}

test.each(STORES)('under load the sealer signs at most one head a second ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  const key = await openAuditKey(store, undefined)
  const sealer = createSealer(systemClock)
  await store.transact(() => principals.savePrincipal({ id: 'prn_a', kind: 'person', name: 'Ana', roles: [] }, 1))
  sealer.start({ store, key, log: pino({ level: 'silent' }) })
  const startedMs = performance.now()
  const write = async (n: number) => {
    await store.transact((outbox) => recordAudit(outbox, { kind: 'signed_in', actor: 'prn_a', data: { n } }, Date.now()))
    sealer.wake()
  }
  const writers = Array.from({ length: 16 }, async (_, first) => {
    for (let n = first; n < 3_000; n += 16) {
      await write(n)
      // At different times, like requests: a row is always being committed while a head is signed.
      for (let turns = 0; turns < first % 5; turns++) await new Promise(setImmediate)
    }
  })
  await Promise.all(writers)
  await untilSealed(store, sealer)
  const seconds = (performance.now() - startedMs) / 1_000
  await sealer.finish()
  const heads = await store.read(() => audit.headsUpTo.all({ after: 0, last: Number.MAX_SAFE_INTEGER, limit: 10_000 }))
  expect(heads.reduce((sum, { row_count }) => sum + row_count, 0)).toBe(3_000)
  // One more for the start, and one for the rest when it stops.
  expect(heads.length).toBeLessThanOrEqual(Math.ceil(seconds) + 2)
})

test.each(STORES)(
  'changed rows that are reported while a head is about to be signed keep it from that until a person accepts them ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { store } = temp
    const key = await openAuditKey(store, undefined)
    await store.transact(function* (outbox) {
      yield* principals.savePrincipal({ id: 'prn_a', kind: 'person', name: 'Ana', roles: [] }, 1)
      yield* recordAudit(outbox, { kind: 'signed_in', actor: 'prn_a', data: {} }, Date.now())
    })
    const [begun, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let writes = 0
    const slow: Store = {
      ...store,
      async transact(work) {
        if (++writes === 1) {
          begun.resolve()
          await letGo.promise
        }
        return store.transact(work)
      },
    }
    const sealer = createSealer(systemClock)
    sealer.start({ store: slow, key, log: pino({ level: 'silent' }) })
    await begun.promise
    const nowhere = refOf(undefined)
    await sealer.report({ kind: 'changed', why: 'Row 1 was changed.', found: nowhere, remembered: nowhere })
    letGo.resolve()
    // The row that tells of it would be under that head.
    expect(await sealer.sealNow()).toBe(false)
    expect(sealer.status).toMatchObject({ signed: 0, problem: { why: 'Row 1 was changed.' } })
    expect(await sealer.accept({ id: 'prn_a' }, 'Ana looked into it')).toBe(true)
    await untilStated(sealer)
    await sealer.finish()
  },
)

test.each(STORES)('a problem that cannot be recorded at first is recorded once there is room, one time ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  const key = await openAuditKey(store, undefined)
  await store.transact(() => principals.savePrincipal({ id: 'prn_a', kind: 'person', name: 'Ana', roles: [] }, 1))
  let isFull = false
  const small: Store = {
    ...store,
    transact: (work) => (isFull ? Promise.reject(new CountersignError('storage_full', 'the disk is full')) : store.transact(work)),
  }
  const sealer = createSealer(systemClock)
  sealer.start({ store: small, key, log: pino({ level: 'silent' }) })
  const nowhere = refOf(undefined)
  isFull = true
  const reported = sealer.report({ kind: 'changed', why: 'Row 1 was changed.', found: nowhere, remembered: nowhere })
  await expect(reported).rejects.toMatchObject({ code: 'storage_full' })
  expect(sealer.status.problem).toMatchObject({ why: 'Row 1 was changed.' })
  isFull = false
  const recorded = async () =>
    (await store.read(() => audit.newestOfScope.all({ scope: SYSTEM, limit: 10 }))).filter(({ kind }) => kind === 'record_problem').length
  sealer.wake()
  await expect.poll(recorded).toBe(1)
  sealer.wake()
  await sealer.finish()
  expect(await recorded()).toBe(1)
})

test.each(STORES)('an acceptance is stated although another process signs a head right behind it ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  const key = await openAuditKey(store, undefined)
  const write = (n: number) =>
    store.transact((outbox) => recordAudit(outbox, { kind: 'signed_in', actor: 'prn_a', data: { n } }, Date.now()))
  await store.transact(() => principals.savePrincipal({ id: 'prn_a', kind: 'person', name: 'Ana', roles: [] }, 1))
  await write(1)
  // It was started before the rows were changed, so it signs on.
  const unaware = createSealer(systemClock)
  unaware.start({ store, key, log: pino({ level: 'silent' }) })
  await expect.poll(() => unaware.status.signed).toBe(1)
  let isAccepting = false
  const slow: Store = {
    ...store,
    async transact(work) {
      const answer = await store.transact(work)
      if (isAccepting) {
        isAccepting = false
        // A transaction of another test's database may hold its row back.
        while (unaware.status.signed < 2) await unaware.sealNow()
        await unaware.finish()
      }
      return answer
    },
  }
  const sealer = createSealer(systemClock)
  sealer.start({ store: slow, key, log: pino({ level: 'silent' }) })
  await expect.poll(() => sealer.status.head?.number).toBe(1)
  const first = refOf(await store.read(() => audit.lastHead.first({})))
  await sealer.report({ kind: 'changed', why: 'Row 1 was changed.', found: first, remembered: first })
  isAccepting = true
  expect(await sealer.accept({ id: 'prn_a' }, 'Ana looked into it')).toBe(true)
  await untilStated(sealer)
  await write(2)
  await untilSealed(store, sealer)
  await sealer.finish()
  const stated = await store.read(() => audit.lastGapHead.first({}))
  const found = { number: unaware.status.head?.number }
  expect(gapOf(stated ?? { gap: null })).toMatchObject({ kind: 'changed', by: 'prn_a', found, remembered: first })
  const lines = (await text(exportLines({ store, key, nowMs: Date.now() }))).trimEnd().split('\n')
  expect(await verifyExport(lines, [key.publicKey])).toMatchObject({ problem: undefined, gaps: [{ kind: 'changed' }] })
})

const PROBLEMS = STORES.flatMap((store) => (['changed', 'behind'] as const).map((kind) => ({ ...store, kind })))

test.each(PROBLEMS)('two people accept the same problem in two processes, and both sign on ($database, $kind)', async ({ open, kind }) => {
  await using temp = await open()
  const { store } = temp
  const key = await openAuditKey(store, undefined)
  const write = () => store.transact((outbox) => recordAudit(outbox, { kind: 'signed_in', actor: 'prn_a', data: {} }, Date.now()))
  await store.transact(() => principals.savePrincipal({ id: 'prn_a', kind: 'person', name: 'Ana', roles: [] }, 1))
  await write()
  const [accepted, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isAccepting = false
  let writing = 0
  const slow: Store = {
    ...store,
    async transact(work) {
      writing++
      const answer = await store.transact(work)
      writing--
      if (isAccepting) {
        isAccepting = false
        accepted.resolve()
        await letGo.promise
      }
      return answer
    },
  }
  const sealers = [createSealer(systemClock), createSealer(systemClock)] as const
  const [late, other] = sealers
  late.start({ store: slow, key, log: pino({ level: 'silent' }) })
  other.start({ store, key, log: pino({ level: 'silent' }) })
  await expect.poll(() => sealers.map(({ status }) => status.head?.number)).toEqual([1, 1])
  const first = refOf(await store.read(() => audit.lastHead.first({})))
  if (kind === 'behind') await store.transact(() => audit.deleteHeadsAfter.change({ number: 0 }))
  for (const sealer of sealers) {
    if (kind === 'behind') sealer.wake()
    else await sealer.report({ kind, why: 'Row 1 was changed.', found: first, remembered: first })
  }
  // The problem is known before it is in the record.
  await expect.poll(() => [writing, ...sealers.map(({ status }) => status.problem?.kind)]).toEqual([0, kind, kind])
  isAccepting = true
  const accepting = late.accept({ id: 'prn_a' }, 'Ana looked into it')
  await accepted.promise
  await other.accept({ id: 'prn_a' }, 'So did Ben')
  letGo.resolve()
  await accepting
  for (const sealer of sealers) await untilStated(sealer)
  await write()
  await untilSealed(store, other)
  await late.finish()
  await other.finish()
  const lines = (await text(exportLines({ store, key, nowMs: Date.now() }))).trimEnd().split('\n')
  expect(await verifyExport(lines, [key.publicKey])).toMatchObject({ problem: undefined, gaps: [{ kind }] })
})

test.each(STORES)('each head follows the one before it, and the newest proves all before it ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  const key = await openAuditKey(store, undefined)
  await fillRecord(store, key, { sessions: 6, rows: 2, heads: 3 })
  const lines = (await text(exportLines({ store, key, nowMs: Date.now() }))).trimEnd().split('\n')
  const heads = await store.read(() => audit.headsUpTo.all({ after: 0, last: Number.MAX_SAFE_INTEGER, limit: 10 }))
  expect(heads.map(({ number }) => number)).toEqual([1, 2, 3])
  expect(heads.map(({ prev }) => prev)).toEqual(['', heads[0]?.hash, heads[1]?.hash])
  const anchors = heads.slice(-1)
  expect(await verifyExport(lines, [key.publicKey], { anchors })).toMatchObject({ problem: undefined, anchored: 3 })
  // The same rows under heads that were signed again, and a truncated record, are different records.
  const cutOff = withEnd(lines.slice(0, lines.findLastIndex((line, at) => line.startsWith('{"head"') && at < lines.length - 2) + 1), key)
  expect((await verifyExport(cutOff, [key.publicKey])).problem).toBeUndefined()
  expect((await verifyExport(cutOff, [key.publicKey], { anchors })).problem).toMatch(/the end of the record was deleted/)
  const empty = withEnd(lines.slice(0, 1), key)
  expect((await verifyExport(empty, [key.publicKey])).problem).toBeUndefined()
  expect((await verifyExport(empty, [key.publicKey], { anchors })).problem).toMatch(/the end of the record was deleted/)
})
