import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openTempSqlite, raw, STORES } from '../../../../verification/testing/temp-store.ts'
import { type Clock, systemClock } from '../clock.ts'
import { audit, principals, type Store } from '../store/index.ts'
import { startRecordCheck } from './check.ts'
import { createTally, type Head, makeHead } from './head.ts'
import { openAuditKey } from './key.ts'
import { recordAudit } from './record.ts'
import { createSealer } from './sealer.ts'

const isChecked = 'record.checked'
/** A log in which one can wait for the end of a check. */
function watchedLog() {
  const checked = Promise.withResolvers<void>()
  const log = pino({ level: 'debug' }, { write: (line: string) => line.includes(isChecked) && checked.resolve() })
  return { log, checked: checked.promise }
}

const log = pino({ level: 'silent' })
/** Timeouts pass a thousand times as fast: the next of the regular checks would come after 22 s. */
const hurried: Clock = { ...systemClock, after: (ms, then) => systemClock.after(ms / 1_000, then) }

test.each(STORES)(
  'a check of the record that the database cut short is made again, and finds what was changed ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { store } = temp
    await store.transact(function* (outbox) {
      yield* principals.savePrincipal({ id: 'prn_a', kind: 'person', name: 'Ana', roles: [] }, 1)
      yield* recordAudit(outbox, { kind: 'signed_in', actor: 'prn_a', data: {} }, Date.now())
    })
    const sealer = createSealer(systemClock)
    sealer.start({ store, key: await openAuditKey(store, undefined), log })
    await expect.poll(() => sealer.status.signed).toBe(1)
    await store.transact(() => raw(sql`update audit set data = '{"from":"elsewhere"}' where kind = 'signed_in'`))
    let reads = 0
    const shaky: Store = {
      ...store,
      async read(work) {
        if (++reads === 2) throw new Error('the database does not answer')
        return store.read(work)
      },
    }
    await using _ = startRecordCheck({ store: shaky, sealer, clock: hurried, log })
    await expect.poll(() => sealer.status.problem).toMatchObject({ kind: 'changed' })
    expect(reads).toBeGreaterThan(2)
    await sealer.finish()
  },
)

/** A sealed record with two rows about an action and one about none. */
async function openSealed(store: Store) {
  await store.transact(function* (outbox) {
    yield* principals.savePrincipal({ id: 'prn_a', kind: 'person', name: 'Ana', roles: [] }, 1)
    yield* recordAudit(outbox, { kind: 'signed_in', actor: 'prn_a', data: {} }, Date.now())
    for (const kind of ['proposed', 'declined'] as const)
      yield* recordAudit(outbox, { kind, actor: 'prn_a', actionId: 'act_1', data: { of: kind } }, Date.now())
  })
  const sealer = createSealer(systemClock)
  sealer.start({ store, key: await openAuditKey(store, undefined), log })
  await expect.poll(() => sealer.status.signed).toBe(1)
  return sealer
}

const ERASED = sql`update audit set data = null, salt = null where action_id = 'act_1'`

test.each(
  STORES.flatMap(({ open, database }) => [
    { database, open, what: 'data of an action that was erased without a redaction', change: ERASED, why: 'no redaction is recorded' },
    {
      ...{ database, open, what: 'erased data that is about no action', why: 'is not what was sealed' },
      change: sql`update audit set data = null, salt = null where action_id is null`,
    },
    {
      database,
      open,
      what: 'a signature that was changed',
      change: sql`update audit_head set signature = 'AAAA'`,
      why: 'is not what was signed',
    },
  ]),
)('a check of the record finds $what ($database)', async ({ open, change, why }) => {
  await using temp = await open()
  const sealer = await openSealed(temp.store)
  await temp.store.transact(() => raw(change))
  await using _ = startRecordCheck({ store: temp.store, sealer, clock: hurried, log })
  await expect.poll(() => sealer.status.problem).toMatchObject({ kind: 'changed', why: expect.stringContaining(why) })
  await sealer.finish()
})

test.each(STORES)(
  'a check of the record accepts what a redaction removed, also before the row about it is sealed ($database)',
  async ({ open }) => {
    await using temp = await open()
    const sealer = await openSealed(temp.store)
    await sealer.finish()
    await temp.store.transact(function* (outbox) {
      yield* raw(ERASED)
      yield* recordAudit(outbox, { kind: 'redacted', actor: 'prn_a', actionId: 'act_1', data: { reason: 'asked for' } }, Date.now())
    })
    const watched = watchedLog()
    await using _ = startRecordCheck({ store: temp.store, sealer, clock: hurried, log: watched.log })
    await watched.checked
    expect(sealer.status.problem).toBeUndefined()
  },
)

test('a check of many heads with a row each pauses after some hundred rows, not after each head', async () => {
  await using temp = await openTempSqlite()
  const { store } = temp
  const key = await openAuditKey(store, undefined)
  await store.transact(() => principals.savePrincipal({ id: 'prn_a', kind: 'person', name: 'Ana', roles: [] }, 1))
  await store.transact(function* (outbox) {
    for (let n = 0; n < 400; n++) yield* recordAudit(outbox, { kind: 'signed_in', actor: 'prn_a', data: { n } }, 1)
  })
  await store.transact(function* () {
    let before: Head | undefined
    for (const row of yield* audit.rowsUpTo.all({ after: 0, last: Number.MAX_SAFE_INTEGER, limit: 1_000 })) {
      const tally = createTally()
      tally.add(row)
      before = makeHead(tally, { before }, key, 1)
      yield* audit.insertHead.run({ ...before })
    }
  })
  const sealer = createSealer(systemClock)
  sealer.start({ store, key, log })
  let pauses = 0
  const counting: Clock = {
    ...hurried,
    after(ms, then) {
      if (ms === 30) pauses++
      return hurried.after(ms, then)
    },
  }
  const watched = watchedLog()
  await using _ = startRecordCheck({ store, sealer, clock: counting, log: watched.log })
  await watched.checked
  expect(await store.read(() => audit.lastHead.first({}))).toMatchObject({ number: 400 })
  expect(sealer.status.problem).toBeUndefined()
  expect(pauses).toBeGreaterThan(5)
  expect(pauses).toBeLessThan(20)
  await sealer.finish()
})
